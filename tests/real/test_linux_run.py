"""Real Linux on our Quadra: sound time whatever the host does, and a userland as on a real emulator."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from guest_reports import read_report
from on_qemu import run_on_qemu

from guestclock.experiments.boot import bundled
from guestclock.experiments.run import RunPlan, SnapshotOrder, resume, run
from guestclock.experiments.session import FIXED_START_S
from guestclock.experiments.snapshot_file import load as load_snapshot
from guestclock.guests.lines import Echo
from guestclock.guests.orders import LINUX, parse_phases
from guestclock.linux.build import build_guest
from guestclock.linux.cache import ADB, DEBUG_TIMEKEEPING, GuestImage, default_cache_dir
from guestclock.linux.command_line import command_line
from guestclock.quadra.bootinfo import MIB
from guestclock.readings import EventKind, Tables, load
from guestclock.verdict import Verdict, judge

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("linux_guest")]

RUN = [
    *(sys.executable, "-c", "from guestclock.cli import main; main()"),
    *("run", "--guest", "linux", "--json"),
]
NS_PER_S = 1_000_000_000
# Code and tables beside the guest's memory.
OVERHEAD_MIB = 150


def back_at_the_host_ns(tables: Tables) -> int:
    """Return the least offset to the host of the monotonic clock in the last two seconds.

    A guest instant that lies in a stall is always late, so the very last look may fall into a catching up.
    """
    looks = tables.readings_of(tables.sources.index("mono"))
    offset_ns = looks["said_ns"] - looks["said_ns"][0] + looks["guest_ns"][0] - looks["host_ns"]
    last = looks["host_ns"] >= looks["host_ns"][-1] - 2 * NS_PER_S
    return int(np.abs(offset_ns[last]).min())


def sound(tables: Tables) -> Verdict:
    """Check everything that a clock under paced time is promised to be; return the verdict."""
    verdict = judge(tables)
    assert tables.meta["ended"] == "done"
    assert verdict.monotonicity.backward.count == 0, verdict.sentence
    assert verdict.ticks.lost == verdict.ticks.late_acknowledges == 0, verdict.sentence
    assert verdict.health.kernel_messages == 0, verdict.health.said
    assert back_at_the_host_ns(tables) < NS_PER_S / 100, verdict.sentence
    return verdict


def run_linux(folder: Path, *options: str) -> Verdict:
    command = [*RUN, "--save", str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.stderr == ""
    return sound(load(folder / "tables.npz"))


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


# The host, real and simulated.


def test_among_busy_loops(tmp_path: Path) -> None:
    with busy_loops(3):
        run_linux(tmp_path, "--seconds", "20")


@pytest.mark.parametrize("stall", ["every=200ms,for=150ms", "at=3s,for=10s"])
def test_on_a_host_that_stalls(stall: str, tmp_path: Path) -> None:
    verdict = run_linux(tmp_path, "--seconds", "24", "--stall", stall)
    assert verdict.health.stalled_ns >= NS_PER_S


def test_a_process_that_is_stopped_for_five_seconds(tmp_path: Path) -> None:
    command = [*RUN, "--seconds", "16", "--save", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            time.sleep(5)
            process.send_signal(signal.SIGSTOP)
            time.sleep(5)
            process.send_signal(signal.SIGCONT)
            process.wait(timeout=120)
        finally:
            process.kill()
    verdict = sound(load(tmp_path / "tables.npz"))
    assert verdict.drift.lag is not None
    assert abs(verdict.drift.lag.max_offset_ns) > 4 * NS_PER_S


@pytest.mark.parametrize("stall", ["every=200ms,for=150ms", "at=1s,for=10s", "random,every=30ms,for=30ms"])
@pytest.mark.parametrize("bus", ["fast", "phi2"])
def test_on_a_simulated_host(stall: str, bus: str) -> None:
    plan = RunPlan(host="simulated", stall=stall, bus=bus)
    idle_s = 11 if "10s" in stall else 1
    phases = parse_phases(f"calls:10000,hunt:2,idle:{idle_s},busy:1", LINUX)
    sound(run(plan, bundled(LINUX, phases)).tables)


def test_virtual_time_gives_the_same_bytes(tmp_path: Path) -> None:
    boot = bundled(LINUX, parse_phases("calls:10000,hunt:1,idle:1,busy:1,user:0", LINUX))
    files = []
    for name in ("a", "b"):
        ran = run(RunPlan(pacing="virtual"), boot)
        assert judge(ran.tables).good, judge(ran.tables).sentence
        ran.save(tmp_path / name)
        files.append([(tmp_path / name / file).read_bytes() for file in ("tables.npz", "console.log")])
    assert files[0] == files[1]


def test_raw_host_time_makes_linux_lose_ticks() -> None:
    plan = RunPlan(pacing="host", host="simulated", stall="every=50ms,for=35ms")
    verdict = judge(run(plan, bundled(LINUX, parse_phases("calls:10000,hunt:2", LINUX))).tables)
    assert verdict.exit_status == 1
    assert sum(timer.lost_by_host for timer in verdict.ticks.timers) > 0


def test_a_kernel_that_reports_bad_clocks_has_nothing_to_report() -> None:
    build_guest(default_cache_dir(), DEBUG_TIMEKEEPING)
    phases = parse_phases("calls:10000,hunt:3,idle:1,busy:1", LINUX)
    boot = bundled(LINUX, phases, variant=DEBUG_TIMEKEEPING)
    for stall in (None, "every=200ms,for=150ms"):
        ran = run(RunPlan(host="simulated", stall=stall), boot)
        sound(ran.tables)
        assert b"WARNING" not in ran.console


# The guest's userland, console and date.


def test_linux_finds_no_device_on_the_adb_and_goes_on() -> None:
    build_guest(default_cache_dir(), ADB)
    boot = bundled(LINUX, parse_phases("hunt:1", LINUX), variant=ADB)
    ran = run(RunPlan(pacing="virtual"), boot)
    sound(ran.tables)
    assert b"Mac II ADB Driver" in ran.console
    assert b"adb device" not in ran.console
    (adb,) = (timer for timer in judge(ran.tables).ticks.timers if timer.source == "via1.sr")
    # A reset of the bus, and for each of fifteen addresses a Talk with the three bytes of a timeout.
    assert adb.underflows == adb.acknowledges == 1 + 15 * 4


def test_userland_gives_what_it_gives_on_a_real_emulator(linux_guest: GuestImage) -> None:
    phases = parse_phases("user:0", LINUX)
    ran = run(RunPlan(pacing="virtual"), bundled(LINUX, phases))
    assert judge(ran.tables).health.failed_checks == 0
    _, (ours,) = read_report(ran.console)
    _, (theirs,) = read_report(
        run_on_qemu(linux_guest.kernel, command_line(phases), more=["-initrd", str(linux_guest.initrd)])
    )
    assert len(ours.checks) > 40
    assert ours.checks == theirs.checks


def test_serial_input_arrives() -> None:
    said: Iterator[bytes] = iter([b"one two\n", b"three=3\n"])
    heard = bytearray()

    def typed() -> bytes:
        return next(said, b"") if b"name=echo" in heard else b""

    boot = bundled(LINUX, parse_phases("echo:2", LINUX))
    ran = run(RunPlan(pacing="virtual"), boot, echo=heard.extend, typed=typed)
    _, (report,) = read_report(ran.console)
    assert [line for line in report.others if isinstance(line, Echo)] == [Echo("one two"), Echo("three=3")]


@pytest.mark.parametrize("plan", [RunPlan(pacing="virtual"), RunPlan()])
def test_the_kernel_takes_the_date_from_the_clock_chip(plan: RunPlan) -> None:
    before_s = FIXED_START_S if plan.reproducible else int(time.time())
    _, (report,) = read_report(run(plan, bundled(LINUX, parse_phases("idle:1", LINUX))).console)
    now_s = report.stamps[0].real_ns // NS_PER_S
    assert before_s - 1 <= now_s <= before_s + 30


def test_memory_stays_near_that_of_the_guest() -> None:
    # A process starts with the peak of the one that forked it, so a small one does that here.
    launcher = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
    command = [sys.executable, "-c", launcher, *RUN, "--phases", "hunt:2"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    status, peak_kib = map(int, told.split())
    assert status in (0, 1)
    assert peak_kib * 1024 < RunPlan().ram_mib * MIB + OVERHEAD_MIB * MIB


def test_on_qemu_s_via_linux_steps_as_on_qemu_and_not_with_the_series() -> None:
    boot = bundled(LINUX, parse_phases("hunt:2", LINUX))
    steps = {}
    for chip in ("qemu-7.2", "series-2021", "chip"):
        verdict = judge(run(RunPlan(chip=chip, pacing="host", host="simulated"), boot).tables)
        steps[chip] = verdict.monotonicity.backward.count
        assert verdict.ticks.lost == 0, verdict.sentence
    assert steps["qemu-7.2"] > 5
    assert steps["series-2021"] == steps["chip"] == 0


@pytest.mark.parametrize("chip", ["chip", "qemu-7.2"])
@pytest.mark.parametrize("at_ms", [100, 500, 1000, 2500])
def test_linux_goes_on_from_a_snapshot_to_the_byte(chip: str, at_ms: int, tmp_path: Path) -> None:
    """MMU, FPU and all: from boot, from the checks of its userland, from the hunt."""
    plan = RunPlan(chip=chip, pacing="virtual")
    boot = bundled(LINUX, parse_phases("user:0,hunt:2", LINUX))
    file = tmp_path / "machine"
    kept = run(plan, boot, order=SnapshotOrder(at_ms * 1_000_000, file))
    whole, resumed = run(plan, boot), resume(load_snapshot(file))
    assert kept.kept
    assert whole.tables.meta["ended"] == "done"
    assert not whole.tables.events_of(EventKind.CHECK_FAILED).size
    for name, ran in (("whole", whole), ("kept", kept), ("resumed", resumed)):
        ran.save(tmp_path / name)
    for file_name in ("tables.npz", "console.log"):
        expected = (tmp_path / "whole" / file_name).read_bytes()
        assert (tmp_path / "kept" / file_name).read_bytes() == expected
        assert (tmp_path / "resumed" / file_name).read_bytes() == expected
