"""The x86 Linux guest on a real QEMU, without KVM: every clocksource that it offers is measured."""

import json

import pytest
import typer
from typer.testing import CliRunner

from guestclock.cli import kvm as command
from guestclock.experiments import kvm_linux, kvm_linux_document
from guestclock.experiments.kvm_linux import LinuxPlan
from guestclock.linux.cache import GuestImage, default_cache_dir
from guestclock.linux.x86 import build_x86_guest

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def image() -> GuestImage:
    return build_x86_guest(default_cache_dir())


def test_every_clocksource_is_measured(image: GuestImage) -> None:
    plan = LinuxPlan(default_cache_dir(), "tcg", batches=5, batch_us=500, warp_ms=30, drift_ms=300)
    document = kvm_linux_document.as_json(kvm_linux.run(plan))
    assert document["accelerator"] == "tcg"
    assert document["kernel"] in image.kernel.name
    assert document["damaged_lines"] == 0
    measured = {part["clocksource"]: part for part in document["clocksources"]}
    assert {"tsc", "hpet", "acpi_pm"} <= set(measured)
    for part in measured.values():
        assert part["taken"]
        assert part["drift"]["looks"] >= 3
        rows = {row["name"]: row for row in part["clocks"]}
        assert len(rows) == 9
        assert rows["CLOCK_MONOTONIC"]["comparisons"] > 0
        # A device is behind a system call whatever the vDSO can do; the TSC is not.
        assert rows["CLOCK_MONOTONIC"]["enters_kernel"] == (part["clocksource"] != "tsc")


def test_the_command_prints_the_table_as_json(image: GuestImage) -> None:
    assert image.initrd.is_file()
    app = typer.Typer()
    app.command()(command.kvm)
    result = CliRunner().invoke(app, ["--linux", "--accel", "tcg", "--cpus", "1", "--json"])
    document = json.loads(result.stdout)
    assert document["schema"] == "guestclock.kvm.linux"
    assert result.exit_code == document["exit_status"]
    assert document["cpus"] == 1
