"""What a guest's kernel says about its own timekeeping on the console."""

import re
from enum import Enum


class Complaint(Enum):
    """How bad a console line is."""

    TIMEKEEPING = "timekeeping"
    PANIC = "panic"


# Texts of Linux 6.1, each with the function that prints it.
_TIMEKEEPING = re.compile(
    "|".join(
        (
            r"timekeeping: Cycle offset \(",  # timekeeping_check_update(), with CONFIG_DEBUG_TIMEKEEPING
            r"(?:Under|Over)flow in clocksource '",  # the same
            r"Adjusting \S+ more than 11%",  # timekeeping_adjust()
            r"timekeeping watchdog on CPU",  # clocksource_watchdog(), cs_watchdog_read()
            r"Marking (?:TSC )?unstable",  # mark_tsc_unstable(), __sched_clock_work()
            r"BUG: soft lockup - CPU#",  # watchdog_timer_fn(): a clock that wrapped looks like one
            r"INFO: \S+ (?:self-)?detected (?:expedited )?stalls? on CPU",  # print_cpu_stall() and its like
            r"hrtimer: interrupt took \d+ ns",  # hrtimer_interrupt()
        )
    )
)
_PANIC = re.compile(
    r"(?<!end )Kernel panic - not syncing"  # panic()
    r"|Unable to handle kernel"  # send_fault_sig() of m68k
    r"|\bOops: [0-9a-f]"  # die_if_kernel()
)


def complaint(line: str) -> Complaint | None:
    """Return what a console line complains about, or None for any other line.

    >>> complaint("WARNING: Underflow in clocksource 'via1' observed, time update ignored.")
    <Complaint.TIMEKEEPING: 'timekeeping'>
    >>> complaint("[    0.2] clocksource: Switched to clocksource via1")
    """
    if _PANIC.search(line):
        return Complaint.PANIC
    if _TIMEKEEPING.search(line):
        return Complaint.TIMEKEEPING
    return None
