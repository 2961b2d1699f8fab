"""The bare-metal guest: rebuilt from its source, and run on a real QEMU."""

from pathlib import Path

import pytest
from guest_reports import read_report
from on_qemu import run_on_qemu

from guestclock.guests.clockprobe.build import ELF, build_clockprobe
from guestclock.guests.lines import Echo, Fault, Hello, Refused
from guestclock.guests.orders import CLOCKPROBE, parse_phases, phases_word
from guestclock.guests.stream import ConsoleStream

pytestmark = pytest.mark.real


def test_the_committed_elf_is_what_its_source_builds(tmp_path: Path) -> None:
    build_clockprobe(tmp_path / "clockprobe.elf")
    assert (tmp_path / "clockprobe.elf").read_bytes() == ELF.read_bytes(), (
        "the source has changed: python -m guestclock.guests.clockprobe.build"
        " (or this compiler is not Debian 12's gcc-m68k-linux-gnu)"
    )


@pytest.mark.parametrize("level", [1, 6])
def test_phases_on_qemu(level: int) -> None:
    phases = parse_phases("calls:20000,hunt:1,idle:1,busy:1,masked:50", CLOCKPROBE)
    hello, reports = read_report(run_on_qemu(ELF, f"{phases_word(phases)} level={level}"))
    assert hello == Hello(
        version=1, guest="clockprobe", clock="via1", clock_hz=783360, tick_hz=100, probe=False
    )
    assert [(report.phase.name, report.phase.amount) for report in reports] == [
        (phase.name, phase.amount) for phase in phases
    ]
    calls, hunt, *_, masked = reports
    assert calls.done.calls == 20_000
    for report in reports[1:4]:
        assert report.done.mono_ns >= report.phase.amount * 10**9
        assert report.done.ticks > report.stamps[0].ticks
    compared = {
        clock: sum(row.count for row in hunt.rows if row.clock == clock) for clock in ("mono", "real")
    }
    assert min(compared.values()) >= hunt.done.calls // 2
    # The guest itself keeps 50 ms of ticks from being handled: at most one of them is left pending.
    assert masked.done.ticks - masked.stamps[0].ticks <= 2


def test_a_guest_without_orders_does_its_default() -> None:
    _, reports = read_report(run_on_qemu(ELF, ""))
    assert [report.phase.name for report in reports] == ["calls", "hunt", "idle", "busy"]


def test_serial_input() -> None:
    said = b"hello, guest\nphases calls:10,echo:0\nnonsense\nbye\n"
    console = run_on_qemu(ELF, "phases=serve:0,nothing:1", say=said)
    _, reports = read_report(console)
    assert [report.phase.name for report in reports] == ["serve", "calls", "echo"]
    assert reports[0].others == [Refused("hello,")]
    assert reports[2].others == [Refused("nonsense"), Refused("nothing")]


def test_echo() -> None:
    _, (report,) = read_report(run_on_qemu(ELF, "phases=echo:2", say=b"one two\nthree=3\n"))
    assert report.others == [Echo("one two"), Echo("three=3")]


def test_a_fault_is_reported() -> None:
    nothing_there = "probe=0x60000000"
    heard = ConsoleStream().feed(run_on_qemu(ELF, nothing_there))
    fault = heard[-1]
    assert isinstance(fault, Fault)
    assert fault.vector == 2  # bus error
    assert 0x10000 <= fault.pc < 0x10000 + ELF.stat().st_size
