"""Switching the clocksource, on fake trees only: the old one comes back whatever happens."""

import subprocess
import sys
from pathlib import Path

import pytest

from guestclock.errors import UnavailableError
from guestclock.experiments import switched
from guestclock.experiments.doctor import DoctorPlan
from guestclock.host.identity import CLOCKSOURCE
from guestclock.host.switch import ClocksourceSwitch
from guestclock.host.tree import Tree


@pytest.fixture
def current(tmp_path: Path) -> Path:
    folder = tmp_path / CLOCKSOURCE.lstrip("/")
    folder.mkdir(parents=True)
    (folder / "available_clocksource").write_text("tsc hpet acpi_pm\n")
    (folder / "current_clocksource").write_text("tsc\n")
    return folder / "current_clocksource"


def test_the_old_clocksource_comes_back(tmp_path: Path, current: Path) -> None:
    with ClocksourceSwitch(Tree(tmp_path)) as switch:
        assert switch.available == ("tsc", "hpet", "acpi_pm")
        switch.to("hpet")
        assert current.read_text() == "hpet"
    assert current.read_text().strip() == "tsc"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_it_comes_back_after_an_error(tmp_path: Path, current: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with ClocksourceSwitch(Tree(tmp_path)) as switch:
            switch.to("hpet")
            raise error

    with pytest.raises(error):
        fail()
    assert current.read_text().strip() == "tsc"


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGTERM", "SIGHUP"])
def test_it_comes_back_when_the_process_is_killed(tmp_path: Path, current: Path, signal: str) -> None:
    program = f"""
import os, pathlib, signal
from guestclock.host.switch import ClocksourceSwitch
from guestclock.host.tree import Tree
with ClocksourceSwitch(Tree(pathlib.Path({str(tmp_path)!r}))) as switch:
    switch.to("hpet")
    os.kill(os.getpid(), signal.{signal})
"""
    # The guardian holds standard output too: run() ends when the guardian has.
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert ended.returncode < 0, ended.stderr
    assert current.read_text().strip() == "tsc"


def test_a_kernel_that_refuses_is_told(
    tmp_path: Path, current: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ClocksourceSwitch(Tree(tmp_path)) as switch:
        monkeypatch.setattr(switch, "_read", lambda: "tsc")
        with pytest.raises(UnavailableError, match="did not switch to clocksource hpet"):
            switch.to("hpet")
    assert current.read_text().strip() == "tsc"


def test_a_system_without_clocksources_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="no such file or directory"):
        ClocksourceSwitch(Tree(tmp_path))


def test_who_may_not_write_is_told(tmp_path: Path, current: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guestclock.host.switch.os.access", lambda _path, _mode: False)
    with pytest.raises(UnavailableError, match="needs root"):
        ClocksourceSwitch(Tree(tmp_path))
    assert current.read_text().strip() == "tsc"


def test_each_clocksource_is_measured_in_turn(tmp_path: Path, current: Path) -> None:
    stages: list[str] = []
    plan = DoctorPlan(
        step_budget_s=0.1, drift_s=0.06, rounds=1, batch_ns=2_000, reads=50, python_reads=50, root=tmp_path
    )
    found = switched.measure_each(plan, lambda what, _share: stages.append(what))
    assert {name: seen.identity.clocksource for name, seen in found.items()} == {
        "tsc": "tsc", "hpet": "hpet", "acpi_pm": "acpi_pm",
    }  # fmt: skip
    assert current.read_text().strip() == "tsc"
    assert stages[0].startswith("tsc: ")
    document = switched.as_json(found)
    assert [part["clocksource"] for part in document["clocksources"]] == ["tsc", "hpet", "acpi_pm"]
