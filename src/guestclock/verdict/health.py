"""Did the run itself go well: the guest alive, its kernel content, the host fast enough?"""

from dataclasses import dataclass

from guestclock.readings import EventKind, Tables
from guestclock.verdict.drift import ALLOWED_OFFSET_NS, lag
from guestclock.verdict.facts import truth
from guestclock.verdict.quantities import count, duration


@dataclass(frozen=True)
class Health:
    """What went wrong around the clock.

    ``ended`` is how the run ended: ``done`` (the guest said goodbye), ``watchdog``, ``panic``,
    ``interrupted``, or whatever the source writes; an interrupted run is no fault.  Stalls and unmapped
    accesses are told, not judged.
    """

    ended: str
    kernel_messages: int
    panics: int
    garbled_lines: int
    failed_checks: int
    unmapped_accesses: int
    stalls: int
    stalled_ns: int
    behind_host_ns: int
    said: tuple[str, ...]
    good: bool
    sentence: str


_FATAL = {"watchdog": "the guest gave no sign of life", "panic": "the guest's kernel panicked"}


def judge(tables: Tables) -> Health:
    """Gather complaints of the guest's kernel, failures of the guest, and a host too slow to keep up."""
    ended = str(tables.meta.get("ended", "done"))
    if ended == "done" and len(tables.events_of(EventKind.WATCHDOG)):
        ended = "watchdog"
    stalls = tables.events_of(EventKind.STALL)["value"]
    complaints = tables.events_of(
        EventKind.KERNEL_MESSAGE, EventKind.PANIC, EventKind.GARBLED, EventKind.CHECK_FAILED
    )
    numbers = {
        kind: len(tables.events_of(kind))
        for kind in (EventKind.KERNEL_MESSAGE, EventKind.PANIC, EventKind.GARBLED, EventKind.CHECK_FAILED)
    }
    behind_ns = _behind_host_ns(tables)
    faults = _faults(ended, numbers, behind_ns)
    return Health(
        ended=ended,
        kernel_messages=numbers[EventKind.KERNEL_MESSAGE],
        panics=numbers[EventKind.PANIC],
        garbled_lines=numbers[EventKind.GARBLED],
        failed_checks=numbers[EventKind.CHECK_FAILED],
        unmapped_accesses=len(tables.events_of(EventKind.UNMAPPED)),
        stalls=len(stalls),
        stalled_ns=int(stalls.sum()),
        behind_host_ns=behind_ns,
        said=tuple(dict.fromkeys(tables.message(int(index)) for index in complaints["value"])),
        good=not faults,
        sentence=f"Something went wrong: {'; '.join(faults)}." if faults else "The guest ran well.",
    )


def _behind_host_ns(tables: Tables) -> int:
    """Return how far guest time was behind the host's at the end, in a run that should follow the host."""
    behind = lag(tables) if truth(tables) == "host" else None
    return max(-behind.final_offset_ns, 0) if behind else 0


def _faults(ended: str, numbers: dict[EventKind, int], behind_ns: int) -> list[str]:
    faults = [_FATAL[ended]] if ended in _FATAL else []
    if numbers[EventKind.PANIC] and ended != "panic":
        faults.append(_FATAL["panic"])
    if number := numbers[EventKind.KERNEL_MESSAGE]:
        faults.append(f"the guest's kernel complained {count(number, 'time')} about its clock")
    if number := numbers[EventKind.CHECK_FAILED]:
        faults.append(f"{count(number, 'check')} of the guest failed")
    if number := numbers[EventKind.GARBLED]:
        faults.append(f"{count(number, 'line')} of the guest could not be read")
    if behind_ns > ALLOWED_OFFSET_NS:
        faults.append(f"the host was too slow: the guest's time ended {duration(behind_ns)} behind")
    return faults
