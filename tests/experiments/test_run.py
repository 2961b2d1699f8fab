"""Runs of the bundled guest: the promises of each pacing, and runs that end badly.

The host is simulated, so every run is reproducible to the byte.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from guestclock.errors import BadInputError
from guestclock.experiments.boot import Boot, bundled, own
from guestclock.experiments.run import Progress, Run, RunPlan, run
from guestclock.guests.orders import CLOCKPROBE, parse_phases
from guestclock.readings import EventKind, Tables, load
from guestclock.verdict import judge
from guestclock.verdict.ticks import TimerTicks

from . import guests

SHORT = "calls:2000,hunt:1,idle:1,busy:1"
SIMULATED = RunPlan(host="simulated", ram_mib=4)
VIRTUAL = RunPlan(pacing="virtual", ram_mib=4)
# Uncompiled, a second of guest time takes minutes.
pytestmark = pytest.mark.compiled_only


def planned(plan: RunPlan, **changes: object) -> RunPlan:
    return RunPlan(**{**vars(plan), **changes})  # type: ignore[arg-type]


def clockprobe(phases: str = SHORT, append: str = "") -> Boot:
    return bundled(CLOCKPROBE, parse_phases(phases, CLOCKPROBE), append)


def written(ran: Run, directory: Path) -> dict[str, bytes]:
    ran.save(directory)
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def ended(ran: Run) -> object:
    return ran.tables.meta["ended"]


# Virtual time.


@pytest.mark.parametrize("bus", ["phi2", "fast"])
@pytest.mark.parametrize("level", [1, 6])
def test_virtual_time_is_sound_and_two_runs_give_the_same_bytes(bus: str, level: int, tmp_path: Path) -> None:
    boot = clockprobe("calls:3000,hunt:1,idle:1,busy:1", f"level={level}")
    first, second = run(planned(VIRTUAL, bus=bus), boot), run(planned(VIRTUAL, bus=bus), boot)
    assert written(first, tmp_path / "a") == written(second, tmp_path / "b")
    verdict = judge(first.tables)
    assert verdict.good, verdict.sentence
    assert (verdict.monotonicity.backward.count, verdict.ticks.lost) == (0, 0)
    assert verdict.drift.reference == "guest"


# Paced time, whatever the host suffers.

SCHEDULES = {
    None: SHORT,
    "every=200ms,for=150ms": SHORT,
    "at=1500ms,for=10s": "calls:2000,hunt:1,idle:10,busy:1",  # long enough to catch up
    "every=50ms,for=35ms": SHORT,
    "every=1ms,for=3ms": SHORT,
    "random,every=20ms,for=20ms": SHORT,
    "random=7,every=300ms,for=200ms": SHORT,
}


@pytest.mark.parametrize("bus", ["phi2", "fast"])
@pytest.mark.parametrize("stall", SCHEDULES)
def test_paced_time_never_steps_and_loses_nothing(stall: str | None, bus: str) -> None:
    ran = run(planned(SIMULATED, stall=stall, bus=bus), clockprobe(SCHEDULES[stall]))
    verdict = judge(ran.tables)
    assert verdict.monotonicity.backward.count == 0
    assert verdict.ticks.lost == verdict.ticks.late_acknowledges == 0
    assert verdict.drift.final_offset_ns is not None
    assert abs(verdict.drift.final_offset_ns) < 10_000_000
    assert verdict.good, verdict.sentence
    stalls = ran.tables.events["kind"] == EventKind.STALL
    assert stall is None or stalls.any()


@pytest.mark.parametrize("pacing", ["paced", "host"])
def test_a_simulated_host_is_reproducible_to_the_byte(pacing: str, tmp_path: Path) -> None:
    plan = planned(SIMULATED, pacing=pacing, stall="random,every=30ms,for=20ms", seed=11)
    first, second = run(plan, clockprobe()), run(plan, clockprobe())
    assert written(first, tmp_path / "a") == written(second, tmp_path / "b")
    other = run(planned(plan, seed=12), clockprobe())
    assert other.tables != first.tables
    assert written(other, tmp_path / "c") != written(first, tmp_path / "d")


def test_the_guest_may_wait_long_for_the_host_but_not_be_ahead_of_it() -> None:
    ran = run(planned(SIMULATED, stall="every=40ms,for=100ms"), clockprobe())
    readings = ran.tables.readings
    assert (readings["guest_ns"] <= readings["host_ns"]).all()
    assert (np.diff(readings["guest_ns"][readings["source"] == 0]) >= 0).all()


# The negative control.


def test_raw_host_time_goes_back_and_loses_ticks_under_stalls() -> None:
    plan = planned(SIMULATED, pacing="host", stall="every=50ms,for=35ms")
    verdicts = [judge(run(plan, clockprobe("calls:100000,hunt:2,idle:1,busy:1")).tables) for _ in range(2)]
    assert verdicts[0] == verdicts[1]
    assert verdicts[0].monotonicity.backward.count > 0
    assert verdicts[0].ticks.lost > 0
    assert sum(timer.lost_by_host for timer in verdicts[0].ticks.timers) > 0
    assert verdicts[0].exit_status == 1


def test_raw_host_time_without_stalls_is_sound() -> None:
    verdict = judge(run(planned(SIMULATED, pacing="host"), clockprobe()).tables)
    assert verdict.good, verdict.sentence


# Ticks that the guest loses itself.


@pytest.mark.parametrize("plan", [VIRTUAL, SIMULATED, planned(SIMULATED, stall="every=200ms,for=150ms")])
def test_ticks_lost_behind_a_mask_are_the_guests_own(plan: RunPlan) -> None:
    verdict = judge(run(plan, clockprobe("hunt:1,masked:50,hunt:1")).tables)
    (timer,) = verdict.ticks.timers
    # 50 ms hold four or five underflows, of which the flag keeps one.
    assert timer.lost_by_guest in (3, 4)
    assert timer.lost_by_host == timer.lost_unexplained == 0
    assert verdict.exit_status == 1
    assert "the guest kept its timer interrupt masked" in verdict.sentence


# Ends.


def test_power_off_ends_a_run() -> None:
    ran = run(VIRTUAL, clockprobe("calls:1"))
    assert ended(ran) == "done"
    assert ran.console.rstrip().endswith(b"@gc bye")


@pytest.mark.parametrize("plan", [planned(VIRTUAL, silence_s=2), planned(SIMULATED, silence_s=2)])
@pytest.mark.parametrize(("name", "code"), [("spins", guests.SPIN), ("sleeps", guests.SLEEP_MASKED)])
def test_a_guest_that_hangs_is_ended_by_the_watchdog(
    name: str, code: str, plan: RunPlan, tmp_path: Path
) -> None:
    kernel = guests.kernel(tmp_path / name, guests.say("one\ntwo\n\nlast words\n") + code)
    ran = run(plan, own(kernel, None, ""))
    assert ended(ran) == "watchdog"
    assert ran.last_lines == ("one", "two", "last words")
    assert ran.console == b"one\ntwo\n\nlast words\n"
    verdict = judge(ran.tables)
    assert verdict.exit_status == 1
    assert "the guest gave no sign of life" in verdict.sentence


def test_a_hang_after_measuring_keeps_what_was_measured(tmp_path: Path) -> None:
    ran = run(planned(VIRTUAL, silence_s=3), clockprobe("hunt:1,masked:60000"))
    assert ended(ran) == "watchdog"
    assert "hunt" in ran.tables.phases
    assert len(ran.tables.readings) > 10
    ran.save(tmp_path)
    assert load(tmp_path / "tables.npz") == ran.tables


def test_a_panic_ends_a_run_at_once(tmp_path: Path) -> None:
    kernel = guests.kernel(
        tmp_path / "panics", guests.say("Kernel panic - not syncing: no init\n") + guests.SPIN
    )
    ran = run(planned(VIRTUAL, silence_s=0), own(kernel, None, ""))
    assert ended(ran) == "panic"
    assert ran.last_lines == ("Kernel panic - not syncing: no init",)
    assert judge(ran.tables).exit_status == 1


def test_a_guest_that_switches_off_without_goodbye_was_silent(tmp_path: Path) -> None:
    kernel = guests.kernel(tmp_path / "off", guests.say("no line end") + guests.POWER_OFF)
    ran = run(VIRTUAL, own(kernel, None, ""))
    assert ended(ran) == "silent"
    assert ran.console == b"no line end"
    assert judge(ran.tables).exit_status == 1


def test_a_guest_that_halts_the_cpu_ends_with_what_was_measured(tmp_path: Path) -> None:
    # lea $40000000,sp (no memory there is written); dc.w $4afc: an exception that cannot be taken
    kernel = guests.kernel(tmp_path / "lost", guests.say("here\n") + "4ff900000002 4afc")
    ran = run(planned(VIRTUAL, silence_s=2), own(kernel, None, ""))
    assert ended(ran) == "panic"
    assert ran.last_lines == ("here",)
    (message,) = ran.tables.messages
    assert message.startswith("the CPU ")
    assert judge(ran.tables).exit_status == 1


@pytest.mark.parametrize("plan", [VIRTUAL, SIMULATED])
def test_an_interrupt_by_the_user_keeps_what_was_measured(plan: RunPlan, tmp_path: Path) -> None:
    calls = 0

    def interrupt(where: Progress) -> None:
        nonlocal calls
        calls += 1
        if where.guest_ns > 1_500_000_000:
            raise KeyboardInterrupt

    ran = run(plan, clockprobe("hunt:60"), progress=interrupt)
    assert calls > 5
    assert ended(ran) == "interrupted"
    assert len(ran.tables.readings) > 10
    assert b"@gc stamp" in ran.console
    ran.save(tmp_path)
    assert load(tmp_path / "tables.npz") == ran.tables
    assert judge(ran.tables).monotonicity.backward.count == 0


def test_progress_tells_guest_and_host_time_in_order() -> None:
    seen: list[Progress] = []
    run(planned(SIMULATED, stall="at=1s,for=2s"), clockprobe("hunt:1,idle:1"), progress=seen.append)
    assert [where.guest_ns for where in seen] == sorted(where.guest_ns for where in seen)
    assert all(where.guest_ns <= where.host_ns for where in seen)
    assert len(seen) > 100


def test_what_is_typed_arrives_and_what_is_said_is_echoed() -> None:
    lines: Iterator[bytes] = iter([b"hello\n", b"again\n"])
    heard = bytearray()

    def typed() -> bytes:
        return next(lines, b"") if b"name=echo" in heard else b""

    ran = run(VIRTUAL, clockprobe("echo:1"), echo=heard.extend, typed=typed)
    assert bytes(heard) == ran.console
    assert b"@gc echo text=hello\n" in ran.console.replace(b"\r", b"")
    assert b"@gc echo text=again\n" in ran.console.replace(b"\r", b"")


# Files and plans.


def test_saved_tables_load_back_and_give_the_same_verdict(tmp_path: Path) -> None:
    ran = run(VIRTUAL, clockprobe("calls:100,hunt:1"))
    ran.save(tmp_path / "deep" / "er")
    tables = load(tmp_path / "deep" / "er" / "tables.npz")
    assert tables == ran.tables
    assert judge(tables) == judge(ran.tables)
    assert (tmp_path / "deep" / "er" / "console.log").read_bytes() == ran.console


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"pacing": "warp"}, "pacing 'warp'"),
        ({"host": "cloud"}, "host 'cloud'"),
        ({"stall": "sometimes"}, "stall 'sometimes'"),
        ({"pacing": "virtual", "stall": "every=50ms,for=35ms"}, "virtual"),
        ({"ram_mib": 0}, "0 MiB"),
        ({"ram_mib": -4}, "-4 MiB"),
        ({"silence_s": -1}, "watchdog"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(changes: dict[str, object], named: str) -> None:
    with pytest.raises(BadInputError, match=named):
        planned(RunPlan(), **changes)


# The lines on CA1 and CA2.


def timing_lines(tables: Tables) -> dict[str, TimerTicks]:
    return {timer.source: timer for timer in judge(tables).ticks.timers if timer.source != "via1.t1"}


@pytest.mark.parametrize("plan", [VIRTUAL, SIMULATED, planned(SIMULATED, stall="every=200ms,for=150ms")])
def test_the_timing_lines_keep_time_and_lose_nothing(plan: RunPlan) -> None:
    tables = run(plan, clockprobe("lines:3,hunt:1")).tables
    verdict = judge(tables)
    assert verdict.good, verdict.sentence
    lines = timing_lines(tables)
    # 3 s hold 180 periods of 16.63 ms; the guest's second and the phase's begin differ by some ms.
    assert lines["via1.ca1"].underflows == lines["via1.ca1"].acknowledges == 180
    assert lines["via1.ca2"].underflows == lines["via1.ca2"].acknowledges == 3
    assert verdict.ticks.handled == verdict.ticks.counter.counted if verdict.ticks.counter else False
    drifts = {(clock.source, clock.reference): clock.whole for clock in verdict.drift.clocks}
    for source, reads in (("via1.ca1", 180), ("via1.ca2", 3)):
        assert drifts[source, "guest"].readings == reads
        assert abs(drifts[source, "guest"].final_offset_ns) < 100_000


def test_a_stalled_host_on_raw_time_loses_sixtieths_but_no_second() -> None:
    plan = planned(SIMULATED, pacing="host", stall="every=90ms,for=55ms")
    lines = timing_lines(run(plan, clockprobe("lines:4")).tables)
    assert lines["via1.ca1"].lost_by_host > 0
    assert lines["via1.ca1"].underflows == lines["via1.ca1"].acknowledges + lines["via1.ca1"].lost
    assert lines["via1.ca2"].lost == 0


@pytest.mark.parametrize("plan", [planned(VIRTUAL, chip="qemu-7.2"), planned(SIMULATED, chip="qemu-7.2")])
def test_qemus_timing_lines_are_logged_and_lose_nothing(plan: RunPlan) -> None:
    lines = timing_lines(run(plan, clockprobe("lines:2")).tables)
    assert set(lines) == {"via1.ca1", "via1.ca2"}
    # The phase ends by the guest's own clock, which QEMU's T1 makes go wrong now and then.
    for source, least, most in (("via1.ca1", 115, 150), ("via1.ca2", 1, 3)):
        assert least <= lines[source].underflows <= most
        assert lines[source].lost == 0
        assert lines[source].underflows == lines[source].acknowledges


def test_qemus_lines_lose_to_a_stalled_host_what_it_slept_through() -> None:
    plan = planned(SIMULATED, chip="qemu-7.2", pacing="host", stall="every=90ms,for=55ms")
    lines = timing_lines(run(plan, clockprobe("lines:2")).tables)
    assert lines["via1.ca1"].lost_by_host > 0
    assert lines["via1.ca1"].underflows == lines["via1.ca1"].acknowledges + lines["via1.ca1"].lost
    assert lines["via1.ca2"].lost == 0


def test_nobody_listens_and_nothing_is_logged() -> None:
    assert timing_lines(run(VIRTUAL, clockprobe("hunt:1")).tables) == {}
