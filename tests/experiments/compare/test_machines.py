"""Rows that run: our machine on a simulated host, and a QEMU that is a script."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from guestclock.errors import UnavailableError
from guestclock.experiments.boot import bundled
from guestclock.experiments.compare import emulator, load, ours
from guestclock.experiments.compare.document import as_json
from guestclock.experiments.compare.emulator import Emulator
from guestclock.experiments.compare.events import Event
from guestclock.experiments.compare.figures import figures
from guestclock.experiments.compare.measured import Landmarks
from guestclock.experiments.compare.rounds import compare
from guestclock.experiments.compare.rows import Wanted, rows
from guestclock.experiments.run import RunPlan
from guestclock.guests.orders import CLOCKPROBE, parse_phases
from guestclock.qemu.binary import Binary
from guestclock.readings import EventKind

SIMULATED = RunPlan(host="simulated", ram_mib=4)
BOOT = bundled(CLOCKPROBE, parse_phases("calls:2000,hunt:1", CLOCKPROBE))


@pytest.mark.compiled_only
def test_a_comparison_on_a_simulated_host_is_the_same_in_every_round() -> None:
    wanted = Wanted(
        parse_phases("calls:10000,hunt:1", CLOCKPROBE),
        pacings=("paced", "host"),
        stalls=(None, "every=50ms,for=35ms"),
        plan=SIMULATED,
    )
    document = as_json(compare(rows(wanted), 2))
    sound = {row["name"]: row["sound"] for row in document["rows"]}
    assert sound == {
        "chip, paced": True,
        "chip, paced, stalls every=50ms,for=35ms": True,
        "chip, host": True,
        "chip, host, stalls every=50ms,for=35ms": False,
    }
    assert document["exit_status"] == 0
    for row in document["rows"]:
        for figure in ("real_s", "call_ns", "backward_steps", "lost_ticks", "drift_ns", "system_s"):
            spread = row["figures"][figure]
            assert spread["min"] == spread["max"], (row["name"], figure)
    stalled = document["rows"][3]["figures"]
    assert stalled["backward_steps"]["median"] > 0
    assert stalled["lost_ticks"]["median"] > 10


@pytest.mark.compiled_only
@pytest.mark.parametrize("level", [1, 6])
def test_the_level_of_the_interrupt_makes_no_difference_to_a_sound_clock(level: int) -> None:
    (row,) = rows(Wanted(parse_phases("hunt:1", CLOCKPROBE), levels=(level,), plan=SIMULATED))
    assert as_json(compare([row], 1))["rows"][0]["sound"]


@pytest.mark.compiled_only
def test_a_stop_moves_a_clock_that_cannot_catch_up() -> None:
    event = Event("stop", 2_000_000_000)
    boot = bundled(CLOCKPROBE, parse_phases("idle:6", CLOCKPROBE))
    paced = figures(ours.measure(SIMULATED, boot, event), event)
    host = figures(ours.measure(replace(SIMULATED, pacing="host"), boot, event), event)
    assert paced["event_moved_ns"] is not None
    assert abs(paced["event_moved_ns"]) < 10_000_000
    assert paced["lost_ticks"] == 0
    assert host["event_moved_ns"] is not None
    assert host["event_moved_ns"] == pytest.approx(-2_000_000_000, abs=20_000_000)
    assert host["lost_ticks"] == pytest.approx(199, abs=1)


def test_landmarks_are_the_first_of_their_kind_however_the_bytes_come() -> None:
    clock = iter([100, 200, 300])
    landmarks = Landmarks(lambda: next(clock))
    for byte in b"booting\n@gc hello version=1\n@gc hello again\n@gc stamp\n@gc bye\n":
        landmarks.take(bytes([byte]))
    assert (landmarks.boot_s(), landmarks.shutdown_s(1_000_000_300)) == (1e-7, 1.0)
    assert Landmarks(lambda: 5).boot_s() is None
    assert Landmarks(lambda: 5).shutdown_s(7) is None


# A load.


def ended(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def busy_children() -> list[int]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [
        int(pid) for pid in children if b"while :; do :; done" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def test_a_load_is_gone_whatever_ends_it() -> None:
    with pytest.raises(KeyboardInterrupt), load.busy(2):  # noqa: PT012
        pids = busy_children()
        assert len(pids) == 2
        raise KeyboardInterrupt
    assert all(map(ended, pids))


def test_a_load_does_not_outlive_us_even_if_we_are_killed() -> None:
    program = (
        "import time; from guestclock.experiments.compare.load import busy\n"
        "with busy(1): print('busy', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        (pid,) = map(int, Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split())
        assert not ended(pid)
        parent.kill()
    deadline = time.monotonic() + 10
    while not ended(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ended(pid)


def test_no_load_is_no_process() -> None:
    with load.busy(0):
        assert busy_children() == []


# A QEMU that is a script.

GUEST = """
import sys, time
arguments = " ".join(sys.argv)
assert "phases=calls:2000,hunt:1" in arguments and "probe=" not in arguments
trace = open(sys.argv[sys.argv.index("-D") + 1], "w") if "-D" in sys.argv else None
def write(register, value):
    if trace:
        stamp = f"1@{time.time():.6f}"
        print(f"{stamp}:mos6522_write reg=0x{register:x} [X] val=0x{value:x}", file=trace, flush=True)
write(13, 0x40)
write(5, 0x1E)
write(13, 0x40)
time.sleep(0.1)
print("noise")
print("@gc hello version=1 guest=clockprobe clock=via1 clock_hz=783360 tick_hz=100 probe=0", flush=True)
print("@gc phase id=1 name=calls amount=2000")
print("@gc stamp id=1 seq=0 mono_ns=0 real_ns=0 ticks=0 calls=0", flush=True)
time.sleep(0.1)
write(13, 0x40)
write(13, 0x20)
time.sleep(0.05)
write(13, 0x40)
print("@gc back id=1 clock=mono before_ns=9 after_ns=4")
print("@gc stamp id=1 seq=1 mono_ns=90000000 real_ns=90000000 ticks=9 calls=2000")
print("@gc cpu id=1 user_ticks=3 system_ticks=6")
print("@gc done id=1 name=calls calls=2000 mono_ns=90000000 ticks=9 backs=1")
print("@gc bye", flush=True)
"""


def fake(folder: Path, text: str) -> Emulator:
    path = folder / "qemu"
    path.write_text(f"#!{sys.executable} -IS\n{text}")
    path.chmod(0o755)
    binary = Binary(str(path), "7.2.0")
    binary.__dict__["trace_events"] = ("mos6522_write",)
    return Emulator(binary, silence_s=10)


def test_what_a_guest_on_qemu_says_becomes_tables(tmp_path: Path) -> None:
    measured = emulator.measure(fake(tmp_path, GUEST), BOOT)
    tables = measured.tables
    assert tables.meta["ended"] == "done"
    assert tables.meta["machine"] == "QEMU 7.2.0"
    assert tables.meta["cpu_ticks"] == {"calls": {"user": 3, "system": 6}}
    assert b"noise" in measured.console
    assert measured.boot_s is not None
    assert measured.boot_s >= 0.1
    acknowledges = tables.events_of(EventKind.ACKNOWLEDGE)
    # What it wrote before it set its timer or was up, and to other flags, is none.
    assert len(acknowledges) == 2
    found = figures(measured)
    assert found["backward_steps"] == 1
    assert found["late_acknowledges"] == 1
    assert found["real_s"] is not None
    assert 0.1 <= found["real_s"] < 5
    assert found["call_ns"] == pytest.approx(found["real_s"] / 2000 * 1e9)


def test_under_icount_nothing_is_said_of_the_hosts_time(tmp_path: Path) -> None:
    machine = replace(fake(tmp_path, GUEST), icount_shift=3)
    found = figures(emulator.measure(machine, BOOT))
    assert found["backward_steps"] == 1
    unknown = {figure for figure, value in found.items() if value is None}
    assert unknown >= {"real_s", "call_ns", "drift_ns", "lost_ticks", "late_acknowledges", "forward_jumps"}


def test_a_qemu_that_dies_at_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    machine = fake(tmp_path, "import sys; print('no such machine', file=sys.stderr); sys.exit(1)")
    with pytest.raises(UnavailableError, match=r"qemu ended with status 1: no such machine"):
        emulator.measure(machine, BOOT)


def test_a_guest_that_never_answers_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    text = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))"
    machine = replace(fake(tmp_path, text + "\nprint('Hello', flush=True)\ntime.sleep(60)"), silence_s=1)
    with pytest.raises(UnavailableError, match=r"has not come up; the last it said: Hello"):
        emulator.measure(machine, BOOT)
    assert ended(int((tmp_path / "pid").read_text()))


def test_a_guest_that_falls_silent_later_is_a_result(tmp_path: Path) -> None:
    text = GUEST.replace('print("@gc bye", flush=True)', "sys.stdout.flush(); time.sleep(60)")
    measured = emulator.measure(replace(fake(tmp_path, text), silence_s=1), BOOT)
    assert measured.tables.meta["ended"] == "watchdog"
    assert measured.shutdown_s is None


def test_stalls_stop_the_process(tmp_path: Path) -> None:
    machine = replace(fake(tmp_path, GUEST), stall="at=150ms,for=300ms")
    measured = emulator.measure(machine, BOOT)
    (stall,) = measured.tables.events_of(EventKind.STALL)
    assert (stall["host_ns"], stall["value"]) == (150_000_000, 300_000_000)
    assert measured.tables.meta["host_run_ns"] >= 450_000_000
