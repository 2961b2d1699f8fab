"""The Linux guest: built from Debian's packages, and run on a real QEMU."""

import subprocess
from pathlib import Path

import pytest
from guest_reports import read_report
from on_qemu import run_on_qemu

from guestclock.guests.lines import Echo, Hello
from guestclock.guests.orders import LINUX, parse_phases
from guestclock.linux.build import build_guest
from guestclock.linux.cache import DEBUG_TIMEKEEPING, GuestImage, default_cache_dir, find_guest
from guestclock.linux.command_line import command_line

pytestmark = pytest.mark.real


def run_linux(guest: GuestImage, phases: str, say: bytes = b"") -> bytes:
    line = command_line(parse_phases(phases, LINUX))
    return run_on_qemu(guest.kernel, line, more=["-initrd", str(guest.initrd)], say=say)


def test_what_was_built_is_found(linux_guest: GuestImage) -> None:
    assert find_guest(default_cache_dir()) == linux_guest
    described = subprocess.run(
        ["m68k-linux-gnu-readelf", "-h", "-S", linux_guest.kernel], capture_output=True, text=True, check=True
    ).stdout
    assert "MC68000" in described
    assert ".symtab" not in described


def test_phases_on_qemu(linux_guest: GuestImage) -> None:
    hello, reports = read_report(run_linux(linux_guest, "calls:20000,hunt:1,idle:1,busy:1"))
    assert hello == Hello(version=1, guest="linux", clock="via1", clock_hz=783360, tick_hz=100, probe=False)
    assert [report.phase.name for report in reports] == ["calls", "hunt", "idle", "busy"]
    assert reports[0].done.calls == 20_000
    for report in reports[1:]:
        assert report.done.mono_ns >= 10**9


def test_userspace_on_qemu(linux_guest: GuestImage) -> None:
    _, (report,) = read_report(run_linux(linux_guest, "user:0"))
    assert len(report.checks) > 40
    assert [check for check in report.checks if not check.ok] == []


def test_serial_input(linux_guest: GuestImage) -> None:
    said = b"phases calls:10\nphases echo:1\none two\nthree=3\n"
    _, reports = read_report(run_linux(linux_guest, "echo:2", say=said))
    assert [line for line in reports[0].others if isinstance(line, Echo)] == [
        Echo(line) for line in said.decode().splitlines()
    ]


def test_the_debugging_variant_checks_its_clocksource(linux_guest: GuestImage) -> None:
    variant = build_guest(default_cache_dir(), DEBUG_TIMEKEEPING)
    warning = b"larger than the '%s' clock's 50%% safety margin"
    assert warning in variant.kernel.read_bytes()
    assert warning not in linux_guest.kernel.read_bytes()
    assert variant.initrd == linux_guest.initrd
    _, (report,) = read_report(run_linux(variant, "calls:1000"))
    assert report.done.calls == 1000


def test_an_interrupted_build_goes_on(tmp_path: Path) -> None:
    class StopBuildingError(Exception):
        pass

    def stop_while_compiling(_fraction: float, what: str) -> None:
        if what.startswith("CC ") and "init/main.o" in what:
            raise StopBuildingError

    with pytest.raises(StopBuildingError):
        build_guest(tmp_path, progress=stop_while_compiling)
    seen: list[tuple[float, str]] = []

    def stop_soon(fraction: float, what: str) -> None:
        seen.append((fraction, what))
        if what.startswith("CC "):
            raise StopBuildingError

    with pytest.raises(StopBuildingError):
        build_guest(tmp_path, progress=stop_soon)
    assert not [what for _, what in seen if "unpacking" in what or "kconfig" in what]
