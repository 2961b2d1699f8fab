"""The whole of `guestclock kvm`: on a real KVM in small, and what made-up results mean."""

import json
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from guestclock.cli import kvm as command
from guestclock.errors import BadInputError, UnavailableError
from guestclock.experiments import kvm_clock, kvm_document
from guestclock.experiments.kvm_clock import MASTER_OFF, KvmClock, KvmPlan
from guestclock.kvm import microvm
from guestclock.kvm.microvm import MicroVm
from guestclock.kvm.pages import Arithmetic, PageAgainstClock, WallClock
from guestclock.kvm.set_clock import CASES, Jump
from guestclock.readings import EventKind, TablesBuilder, load
from guestclock.report.clock_table import show_kvm

TINY = KvmPlan(rounds=2, reads=4_000, looks=20, step_budget_s=0.2)


def test_everything_is_measured(pair: MicroVm) -> None:
    found = kvm_clock.run(TINY)
    document = kvm_document.as_json(found)
    assert json.loads(json.dumps(document, allow_nan=False))["good"] is document["good"]
    assert document["faults"] == []
    names = [row["name"] for row in document["clocks"]]
    assert {"rdtsc", "pvclock_one", "pvclock_2014", "pvclock_clamp" + MASTER_OFF} <= set(names)
    assert document["page"]["exact"] == document["page"]["looks"] == TINY.looks
    assert [jump["name"] for jump in document["set_clock"]] == [case.name for case in CASES]
    if found.native:
        assert set(document["ratios"]) >= {"pvclock_one_to_lfence_rdtsc", "pvclock_2014_to_pvclock_one"}


def test_one_cpu_leaves_out_what_needs_two(vm: MicroVm, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (microvm, kvm_clock):
        monkeypatch.setattr(module, "permitted_cpus", lambda: [min(microvm.os.sched_getaffinity(0))])
    found = kvm_clock.run(TINY)
    assert found.missing == ["backward steps between CPUs: this process may use one CPU only"]
    assert (found.master_on, found.master_off) == (None, None)
    assert kvm_document.exit_status(found) in {0, 4}


def test_interpreted_code_gets_no_times(vm: MicroVm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(microvm, "NATIVE_CYCLES_PER_TURN", 0)
    found = kvm_clock.run(TINY)
    document = kvm_document.as_json(found)
    assert found.missing[0].startswith("times: the guest's code is interpreted (")
    assert not any("min_ns" in row for row in document["clocks"])
    assert (document["ratios"], document["native"], document["exit_status"]) == ({}, False, 4)
    console = Console(width=100, record=True, quiet=False)
    show_kvm(console, document)
    assert "interpreted: no times" in console.export_text()


def blank() -> KvmClock:
    return KvmClock(2_300_000, 1.0, True, True, 0, {"lsl": [0, 1]})


def stepping(source: str) -> KvmClock:
    builder = TablesBuilder()
    names = {"source": builder.source(source), "phase": builder.phase("warp")}
    builder.add_event(EventKind.BACKWARD, **names, value=-9)
    found = blank()
    found.tables = builder.freeze({})
    return found


@pytest.mark.parametrize("source", ["rdtsc", "pvclock_none", "pvclock_own" + MASTER_OFF])
def test_some_reads_may_go_back(source: str) -> None:
    assert kvm_document.faults(stepping(source)) == []
    assert kvm_document.exit_status(stepping(source)) == 0


@pytest.mark.parametrize(
    "source", ["lfence_rdtsc", "pvclock_one", "pvclock_own", "pvclock_clamp" + MASTER_OFF]
)
def test_others_may_not(source: str) -> None:
    assert kvm_document.faults(stepping(source)) == [f"{source} went back once, worst −9 ns."]
    assert kvm_document.exit_status(stepping(source)) == 1


def test_each_fault_is_named() -> None:
    found = blank()
    found.page = PageAgainstClock((0, -3), (1, -1), (2, -1))
    found.arithmetic = Arithmetic(10, 1, 10, 2, seed=5)
    found.wall_clock = WallClock(0, 5_000_000, 10)
    found.jumps = [Jump(CASES[0], 7, 1, 0, 1, True)]
    told = kvm_document.faults(found)
    assert [text.split()[0:2] for text in told] == [
        ["The", "page"], ["The", "page's"], ["The", "guest"], ["The", "wall"], ["KVM_SET_CLOCK,", "set"],
    ]  # fmt: skip


@pytest.mark.parametrize("values", [{"rounds": 0}, {"reads": 0}, {"step_budget_s": 0.0}])
def test_a_plan_without_reads_is_refused(values: dict[str, int]) -> None:
    with pytest.raises(BadInputError, match="at least 1"):
        KvmPlan(**values)  # type: ignore[arg-type]


def application() -> typer.Typer:
    app = typer.Typer()
    app.command()(command.kvm)
    return app


def test_the_command_prints_one_json_object(vm: MicroVm, tmp_path: Path) -> None:
    arguments = ["--rounds", "1", "--reads", "2000", "--seconds", "0.1", "--json"]
    result = CliRunner().invoke(application(), [*arguments, "--save", str(tmp_path / "kept")])
    document = json.loads(result.stdout)
    assert document["schema"] == "guestclock.kvm"
    assert result.exit_code == document["exit_status"]
    assert "rdtsc" in load(tmp_path / "kept/tables.npz").sources


def test_without_kvm_the_command_says_why(tmp_path: Path) -> None:
    result = CliRunner().invoke(application(), ["--device", str(tmp_path / "kvm")])
    assert isinstance(result.exception, UnavailableError)
    assert result.exception.exit_status == 4
    assert "is not there" in str(result.exception)
