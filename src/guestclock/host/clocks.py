"""The clocks that Linux offers by id, with what the kernel promises of each."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """A clock id of clock_gettime."""

    name: str
    number: int
    coarse: bool = False
    """Read from the last tick: cheap, and as coarse as a tick."""
    cpu_time: bool = False
    """Counts a process's or thread's CPU time: always a system call, and no clock of the machine."""
    settable: bool = False
    """May be stepped by an administrator or a time daemon."""


CLOCKS = (
    Clock("CLOCK_REALTIME", 0, settable=True),
    Clock("CLOCK_MONOTONIC", 1),
    Clock("CLOCK_PROCESS_CPUTIME_ID", 2, cpu_time=True),
    Clock("CLOCK_THREAD_CPUTIME_ID", 3, cpu_time=True),
    Clock("CLOCK_MONOTONIC_RAW", 4),
    Clock("CLOCK_REALTIME_COARSE", 5, coarse=True, settable=True),
    Clock("CLOCK_MONOTONIC_COARSE", 6, coarse=True),
    Clock("CLOCK_BOOTTIME", 7),
    Clock("CLOCK_TAI", 11, settable=True),
)
"""Those that any process may read; the alarm clocks (8, 9) read as REALTIME and BOOTTIME."""

MONOTONIC = CLOCKS[1]
RAW = CLOCKS[4]


def available() -> tuple[Clock, ...]:
    """Return the clocks that this kernel answers for."""
    return tuple(clock for clock in CLOCKS if _answers(clock))


def machine_clocks(clocks: tuple[Clock, ...]) -> tuple[Clock, ...]:
    """Return those that tell time, not CPU time."""
    return tuple(clock for clock in clocks if not clock.cpu_time)


def _answers(clock: Clock) -> bool:
    try:
        time.clock_gettime_ns(clock.number)
    except OSError:
        return False
    return True
