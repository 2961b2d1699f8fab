"""Guests on QEMU's VIAs: which faults each set has, under which pacing.  All runs are reproducible."""

from functools import cache

import numpy as np
import pytest

from guestclock.chips.qemu_deviations import SETS
from guestclock.errors import BadInputError
from guestclock.experiments.boot import bundled
from guestclock.experiments.run import Run, RunPlan, run
from guestclock.guests.orders import CLOCKPROBE, parse_phases
from guestclock.readings import EventKind
from guestclock.verdict import judge

pytestmark = pytest.mark.compiled_only

PHASES = "calls:100,hunt:1"
STALL = "every=50ms,for=35ms"
PHI2_PER_NS = 783_360 / 1e9


@cache
def ran(chip: str, pacing: str, stall: str | None = None) -> Run:
    plan = RunPlan(chip=chip, pacing=pacing, host="simulated", stall=stall, ram_mib=4)
    return run(plan, bundled(CLOCKPROBE, parse_phases(PHASES, CLOCKPROBE)))


def backward_steps(found: Run) -> int:
    return judge(found.tables).monotonicity.backward.count


AHEAD = ("qemu-6.1", "qemu-7.2", "qemu-8.2", "patch-3", "patch-5", "patch-6")
ONE_STATE = ("chip", "patch-8", "patch-9", "series-2021")


@pytest.mark.parametrize(
    ("chip", "pacing"),
    [*((chip, "virtual") for chip in AHEAD), ("qemu-7.2", "paced"), ("qemu-7.2", "host")],
)
def test_a_flag_ahead_of_the_counter_makes_the_clock_step_whatever_the_pacing(chip: str, pacing: str) -> None:
    verdict = judge(ran(chip, pacing).tables)
    assert verdict.monotonicity.backward.count > 20
    assert verdict.ticks.lost == 0
    assert verdict.exit_status == 1


@pytest.mark.parametrize(
    ("chip", "pacing"),
    [*((chip, "virtual") for chip in ONE_STATE), ("series-2021", "paced"), ("series-2021", "host")],
)
def test_one_state_for_flag_and_counter_cures_the_steps(chip: str, pacing: str) -> None:
    found = ran(chip, pacing)
    verdict = judge(found.tables)
    assert verdict.good, verdict.sentence
    (timer,) = verdict.ticks.timers
    assert timer.underflows == timer.acknowledges
    assert found.tables.meta["chip"] == chip
    assert ("bus" in found.tables.meta) == (chip == "chip")


def test_late_interrupts_lose_whole_ticks_with_or_without_the_series() -> None:
    """A 6522 has no overflow register: no VIA can keep what a stalled host made it miss."""
    lost = []
    for chip in ("chip", "qemu-7.2", "series-2021"):
        ticks = judge(ran(chip, "host", STALL).tables).ticks
        assert ticks.lost > 100
        assert sum(timer.lost_by_host for timer in ticks.timers) == ticks.lost
        assert ticks.counter is not None
        assert abs(ticks.counter.missing - ticks.lost) <= 1
        lost.append(ticks.lost)
    assert max(lost) - min(lost) <= 5


def test_under_stalls_the_series_is_between_qemu_and_nothing() -> None:
    assert backward_steps(ran("qemu-7.2", "host", STALL)) > 20
    assert backward_steps(ran("series-2021", "host", STALL)) < 5


def test_steps_are_of_the_counter_s_high_byte_at_most_that_of_the_latch() -> None:
    """Linux reads the high byte alone, 1E after the reload: 7680 cycles, or less what had gone by."""
    events = ran("qemu-7.2", "host").tables.events
    back_ns = events["value"][events["kind"] == EventKind.BACKWARD]
    # A step to before a tick shows as one ahead by the width of the count, 2^32, and back from there.
    cycles = -back_ns * PHI2_PER_NS % 2**32
    cycles = np.minimum(cycles, 2**32 - cycles)
    assert np.all(np.abs(cycles - 256 * np.round(cycles / 256)) < 2)
    assert np.all(cycles < 7680 + 2)
    assert cycles.max() > 7000


def test_runs_are_reproducible() -> None:
    plan = RunPlan(chip="series-2021", pacing="host", host="simulated", stall=STALL, ram_mib=4)
    boot = bundled(CLOCKPROBE, parse_phases(PHASES, CLOCKPROBE))
    assert run(plan, boot).tables == ran("series-2021", "host", STALL).tables


@pytest.mark.parametrize("chip", list(SETS))
def test_every_set_runs_a_guest_to_its_end(chip: str) -> None:
    found = ran(chip, "virtual")
    assert found.tables.meta["ended"] == "done"


def test_a_chip_that_is_not_and_a_bus_that_does_not_go_with_it_are_refused() -> None:
    with pytest.raises(BadInputError, match=r"chip '6526': say one of chip, qemu-6\.1"):
        RunPlan(chip="6526")
    with pytest.raises(BadInputError, match="bus 'fast': only the 6522 has a bus to choose"):
        RunPlan(chip="qemu-7.2", bus="fast")
