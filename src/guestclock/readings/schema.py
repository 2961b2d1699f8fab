"""The columns of the three tables, and what each means.

Every time is an integer number of nanoseconds.  ``guest_ns`` is true guest time (what an ideal
clock in the guest would have shown) and ``host_ns`` the host's time, both since the machine
started.  A source that does not know a value writes ``UNKNOWN``.
"""

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

SCHEMA_VERSION = 1

UNKNOWN = -1
"""Stands for a value that the source cannot know, in every column that allows it."""

MASK_UNKNOWN = 255
"""``masked`` of an event whose source does not see the CPU's interrupt level."""


class EventKind(IntEnum):
    """What happened; the comment says what ``value`` holds."""

    UNDERFLOW = 1  # timer periods that ended since the timer's previous underflow event (normally 1)
    IRQ = 2  # the CPU sees the interrupt; 0
    ACKNOWLEDGE = 3  # the guest cleared the pending interrupt; 0
    TICK_LOST = 4  # lost ticks, from a source that sees no underflows
    STALL = 5  # ns for which the host kept the guest from running
    BACKWARD = 6  # ns by which the clock stepped, negative
    FORWARD = 7  # ns by which the clock jumped ahead, positive
    KERNEL_MESSAGE = 8  # index into messages: the guest's kernel complains about its timekeeping
    PANIC = 9  # index into messages: the guest's kernel died
    GARBLED = 10  # index into messages: a protocol line that cannot be read
    CHECK_FAILED = 11  # index into messages: a check that the guest made of itself


READINGS = np.dtype(
    [
        ("source", "<u2"),  # index into sources: whose clock
        ("phase", "<u2"),  # index into phases: what the guest was doing
        ("guest_ns", "<i8"),
        ("host_ns", "<i8"),
        ("said_ns", "<i8"),  # what the clock said, from its own zero
        ("calls", "<i8"),  # calls of this clock since the source's previous reading in this phase
        ("cost_ns", "<f8"),  # ns per call over those calls, on the clock that meta["cost_time"] names
        ("ticks", "<i8"),  # timer interrupts that the guest had handled
        ("code_bytes", "<i8"),  # guest code executed since the machine started
    ]
)

EVENTS = np.dtype(
    [
        ("kind", "u1"),  # EventKind
        ("masked", "u1"),  # 1: the CPU masked this interrupt at that time, 0: it did not
        ("source", "<u2"),  # index into sources: the timer or clock it happened to
        ("phase", "<u2"),
        ("guest_ns", "<i8"),
        ("host_ns", "<i8"),
        ("cycle", "<i8"),  # φ2 cycle
        ("code_bytes", "<i8"),
        ("value", "<i8"),  # what EventKind says
    ]
)

HISTOGRAMS = np.dtype(
    [
        ("source", "<u2"),
        ("phase", "<u2"),
        ("low_ns", "<i8"),  # the row counts differences d between consecutive reads, low ≤ d < high
        ("high_ns", "<i8"),
        ("count", "<i8"),
        ("sum_ns", "<i8"),
        ("min_ns", "<i8"),
        ("max_ns", "<i8"),
    ]
)

DEFAULTS: dict[str, Any] = {
    "guest_ns": UNKNOWN,
    "host_ns": UNKNOWN,
    "cost_ns": UNKNOWN,
    "ticks": UNKNOWN,
    "code_bytes": UNKNOWN,
    "cycle": UNKNOWN,
    "masked": MASK_UNKNOWN,
}
"""What a column holds when a source does not fill it; every other column then holds 0."""

Table = npt.NDArray[np.void]
"""A structured array of one of the three row types."""


def blank(dtype: np.dtype[np.void], rows: int) -> Table:
    """Return ``rows`` rows of ``dtype`` in which nothing is known."""
    table = np.zeros(rows, dtype)
    for name in dtype.names or ():
        if name in DEFAULTS:
            table[name] = DEFAULTS[name]
    return table
