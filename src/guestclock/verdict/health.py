"""Did the run itself go well: the guest alive, its kernel content, the host fast enough?"""

from dataclasses import dataclass

import numpy as np

from guestclock.readings import EventKind, Tables
from guestclock.verdict.drift import ALLOWED_OFFSET_NS, lag
from guestclock.verdict.facts import truth
from guestclock.verdict.quantities import count, duration, times


@dataclass(frozen=True)
class Health:
    """What went wrong around the clock.

    ``ended`` is how the run ended: ``done`` (the guest said goodbye), ``panic``, ``watchdog``, ``silent`` (it
    stopped without goodbye) or ``interrupted`` (by the user, which is no fault).  ``said`` are the complaints
    and failures in the guest's words.  Stalls and unmapped accesses are told, not judged.
    """

    ended: str
    kernel_messages: int
    garbled_lines: int
    failed_checks: int
    unmapped_accesses: int
    stalls: int
    stalled_ns: int
    behind_host_ns: int
    said: tuple[str, ...]
    good: bool
    sentence: str


_TOLD_IN_WORDS = (EventKind.KERNEL_MESSAGE, EventKind.PANIC, EventKind.GARBLED, EventKind.CHECK_FAILED)
"""Events whose value is the index of a message."""

_FATAL = {
    "panic": "the guest died",
    "watchdog": "the guest gave no sign of life",
    "silent": "the guest stopped without a goodbye",
}
"""Ways to end that are faults, and what to say of them."""


def judge(tables: Tables) -> Health:
    """Gather complaints of the guest's kernel, failures of the guest, and a host too slow to keep up."""
    ended = str(tables.meta.get("ended", "done"))
    stalls = tables.events_of(EventKind.STALL)["value"]
    told = tables.events_of(*_TOLD_IN_WORDS)
    numbers = {kind: int(np.count_nonzero(told["kind"] == kind)) for kind in _TOLD_IN_WORDS}
    behind_ns = _behind_host_ns(tables)
    faults = _faults(ended, numbers, behind_ns)
    return Health(
        ended=ended,
        kernel_messages=numbers[EventKind.KERNEL_MESSAGE],
        garbled_lines=numbers[EventKind.GARBLED],
        failed_checks=numbers[EventKind.CHECK_FAILED],
        unmapped_accesses=sum(tables.meta.get("unmapped_accesses", {}).values()),
        stalls=len(stalls),
        stalled_ns=int(stalls.sum()),
        behind_host_ns=behind_ns,
        said=tuple(dict.fromkeys(tables.message(int(index)) for index in told["value"])),
        good=not faults,
        sentence=f"Something went wrong: {'; '.join(faults)}." if faults else "The guest ran well.",
    )


def _behind_host_ns(tables: Tables) -> int:
    """Return how far guest time was behind the host's at the end, in a run that should follow the host."""
    behind = lag(tables) if truth(tables) == "host" else None
    return max(-behind.final_offset_ns, 0) if behind else 0


def _faults(ended: str, numbers: dict[EventKind, int], behind_ns: int) -> list[str]:
    if numbers[EventKind.PANIC]:
        ended = "panic"
    faults = [_FATAL[ended]] if ended in _FATAL else []
    if number := numbers[EventKind.KERNEL_MESSAGE]:
        faults.append(f"the guest's kernel complained {times(number)} about its clock")
    if number := numbers[EventKind.CHECK_FAILED]:
        faults.append(f"{count(number, 'check')} of the guest failed")
    if number := numbers[EventKind.GARBLED]:
        faults.append(f"{count(number, 'line')} of the guest could not be read")
    if behind_ns > ALLOWED_OFFSET_NS:
        faults.append(f"the host was too slow: the guest's time ended {duration(behind_ns)} behind")
    return faults
