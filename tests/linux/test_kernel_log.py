"""Console lines as Linux 6.1 prints them."""

import pytest

from guestclock.linux.kernel_log import Complaint, complaint


@pytest.mark.parametrize(
    "line",
    [
        "[   12.3] INFO: timekeeping: Cycle offset (4294966426) is larger than the 'via1' clock's 50%"
        " safety margin (2147483647)",
        "WARNING: timekeeping: Cycle offset (4294966426) is larger than allowed by the 'via1'",
        "WARNING: Underflow in clocksource 'via1' observed, time update ignored.",
        "WARNING: Overflow in clocksource 'via1' observed, time update capped.",
        "Adjusting via1 more than 11% (9000 vs 8000)",
        "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable",
        "tsc: Marking TSC unstable due to clocksource watchdog",
        "sched_clock: Marking unstable (123, 45)<-(6, 7)",
        "watchdog: BUG: soft lockup - CPU#0 stuck for 5107s! [swapper:0]",
        "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
        "rcu: INFO: rcu_sched self-detected stall on CPU",
        "hrtimer: interrupt took 12345678 ns",
    ],
)
def test_complaints_about_time(line: str) -> None:
    assert complaint(line) is Complaint.TIMEKEEPING


@pytest.mark.parametrize(
    "line",
    [
        "Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b",
        "Unable to handle kernel NULL pointer dereference at virtual address (ptrval)",
        "Oops: 00000000",
    ],
)
def test_deaths(line: str) -> None:
    assert complaint(line) is Complaint.PANIC


@pytest.mark.parametrize(
    "line",
    [
        "",
        "clocksource: via1: mask: 0xffffffff max_cycles: 0xffffffff, max_idle_ns: 2440 ns",
        "clocksource: Switched to clocksource via1",
        "sched_clock: Marking stable (123, 45)->(6, 7)",
        "---[ end Kernel panic - not syncing: Attempted to kill init! ]---",
        "         timekeeping: Your kernel is sick, but tries to cope by capping time updates",
        "@gc stamp id=1 seq=0 mono_ns=1 real_ns=2 ticks=3 calls=0",
    ],
)
def test_anything_else_is_none(line: str) -> None:
    assert complaint(line) is None
