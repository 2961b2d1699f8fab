"""The whole examination: on this machine in small, and where things are missing."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from guestclock.cli import doctor as command
from guestclock.errors import BadInputError, UnavailableError
from guestclock.experiments import doctor_document
from guestclock.experiments.doctor import (
    BETWEEN,
    DRIFT,
    DRIFT_ROUNDS,
    SYSTEM_CALL,
    WITHIN,
    DoctorPlan,
    examine,
)
from guestclock.experiments.keep import keep_tables
from guestclock.host.native import Native
from guestclock.readings import Tables, load
from guestclock.report.clock_table import show_doctor, show_switched

TINY = DoctorPlan(step_budget_s=0.2, drift_s=0.05, rounds=1, batch_ns=3_000, reads=200, python_reads=50)


def no_machine_code() -> Native:
    raise UnavailableError("no machine code for testing")


def test_everything_is_looked_at() -> None:
    shares: dict[str, float] = {}
    found = examine(TINY, lambda what, share: shares.update({what: share}))
    assert {"cost of a read", "backward steps", "clocks against each other"} <= set(shares)
    assert all(0 <= share <= 1 for share in shares.values())
    assert set(found.tables.phases) >= {"cost", DRIFT, "python"}
    assert {"CLOCK_MONOTONIC", "CLOCK_MONOTONIC" + SYSTEM_CALL} <= set(found.tables.sources)
    assert (BETWEEN if len(found.cpus) > 1 else WITHIN) in found.tables.phases
    document = doctor_document.as_json(found)
    assert json.loads(json.dumps(document, allow_nan=False))["good"] is document["good"]
    row = next(row for row in document["clocks"] if row["name"] == "CLOCK_MONOTONIC")
    assert 0 < row["min_ns"] <= row["median_ns"] <= row["p99_ns"]
    assert row["comparisons"] > 0
    assert row["stability"]["readings"] == DRIFT_ROUNDS
    assert row["look_uncertainty_ns"] >= 0
    assert document["findings"]


def test_without_machine_code_python_measures_and_says_so() -> None:
    found = examine(replace(TINY, load_native=no_machine_code))
    assert not found.machine_code
    assert found.missing[0].endswith("no machine code for testing")
    document = doctor_document.as_json(found)
    row = next(row for row in document["clocks"] if row["name"] == "CLOCK_MONOTONIC")
    assert row["min_ns"] > 0
    assert row["comparisons"] > 0
    assert "rate_against_raw_ppm" in row
    assert any(
        "Not looked at: measurements at C speed" in finding["title"] for finding in document["findings"]
    )


@pytest.mark.parametrize("load", [TINY.load_native, no_machine_code])
def test_a_machine_that_shows_nothing_is_examined_all_the_same(
    tmp_path: Path, load: Callable[[], Native]
) -> None:
    """No /proc, no /sys: every file missing."""
    found = examine(replace(TINY, root=tmp_path, load_native=load))
    document = doctor_document.as_json(found)
    assert document["machine"]["clocksource"] is None
    assert any(what.startswith("/proc/cpuinfo: no such file") for what in found.missing)
    assert any(row["name"] == "CLOCK_MONOTONIC" for row in document["clocks"])


def test_one_cpu_is_told() -> None:
    cpu = min(examine(TINY).cpus)
    found = examine(replace(TINY, cpus=(cpu,)))
    assert found.groups == 1
    assert BETWEEN not in found.tables.phases
    titles = [finding["title"] for finding in doctor_document.as_json(found)["findings"]]
    assert any("Only one CPU may be used" in title for title in titles)


def test_a_sandbox_that_forbids_choosing_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int, _cpus: set[int]) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    document = doctor_document.as_json(examine(TINY))
    titles = [finding["title"] for finding in document["findings"]]
    assert document["cpu_groups_compared"] == 0
    assert any(title.startswith("0 of ") for title in titles)
    assert not any("no clock went back" in title for title in titles)


def test_a_plan_without_time_is_refused() -> None:
    with pytest.raises(BadInputError, match="must be above 0"):
        DoctorPlan(drift_s=0.0)


@pytest.mark.parametrize("width", [80, 160])
def test_a_person_can_read_it(width: int) -> None:
    document = doctor_document.as_json(examine(TINY))
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        show_doctor(console, document)
        part = {"clocksource": "tsc", "clocks": document["clocks"], "findings": []}
        show_switched(console, {"clocksources": [part]})
    lines = console.export_text().splitlines()
    table = [line for line in lines if line.startswith(("CLOCK_", "clock "))]
    assert all(len(line) <= width and "…" not in line for line in table)
    assert any("clocksource" in line for line in lines)


def application() -> typer.Typer:
    app = typer.Typer()
    app.command()(command.doctor)
    return app


def test_the_command_prints_one_json_object() -> None:
    result = CliRunner().invoke(application(), ["--seconds", "0.2", "--json"])
    document = json.loads(result.stdout)
    assert (document["schema"], document["schema_version"]) == ("guestclock.doctor", 1)
    assert result.exit_code == document["exit_status"]


def test_the_command_prints_tables_and_keeps_them(tmp_path: Path) -> None:
    result = CliRunner().invoke(application(), ["--seconds", "0.2", "--save", str(tmp_path)])
    assert "CLOCK_MONOTONIC" in load(tmp_path / "tables.npz").sources
    assert "CLOCK_MONOTONIC" in result.stdout
    assert "NOTE" in result.stdout


def test_it_starts_where_other_libraries_cannot_be_loaded() -> None:
    """numpy, typer and rich are enough: what else the package uses is refused here."""
    program = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"unicorn", "polars", "cython", "Cython", "dask", "z3", "plotly"}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import typer
from guestclock.cli import doctor
app = typer.Typer()
app.command()(doctor.doctor)
app(["--seconds", "0.2", "--json"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in {0, 1}, done.stderr
    assert json.loads(done.stdout)["schema"] == "guestclock.doctor"


def test_another_system_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UnavailableError, match="doctor examines Linux machines; this is darwin"):
        examine(TINY)


def test_a_folder_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInputError, match="cannot be written: Not a directory"):
        keep_tables(Tables(), tmp_path / "file/kept")
