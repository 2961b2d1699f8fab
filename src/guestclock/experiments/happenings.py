"""What happened on a traced machine, in order: accesses, ticks, stalls, what the guest said of its clock."""

from collections.abc import Iterator
from dataclasses import dataclass

from guestclock.chips.registers import IER, IFR, REGISTER_NAMES
from guestclock.experiments.session import Session
from guestclock.quadra.board import EVENT_COLUMNS, EVENT_SOURCES
from guestclock.quadra.memory_map import (
    IO_BASE,
    IO_END,
    IO_MASK,
    PROBE_HIGH,
    PROBE_LOW,
    PROBE_START,
    PROBE_TAG,
    SCC_END,
    SCC_START,
    VIA2_START,
    VIA_END,
)
from guestclock.quadra.traced import TRACE_COLUMNS, AccessTrace
from guestclock.readings import EventKind

FLAG_NAMES = ("CA2", "CA1", "SR", "CB2", "CB1", "T2", "T1")
_SCC_PLACES = {0: "B control", 2: "A control", 4: "B data", 6: "A data"}
# The clock codes of the probe port's tag (docs/guest-protocol.md).
_PROBE_CLOCKS = {
    1: "mono",
    2: "real",
    3: "mono before",
    4: "mono after",
    5: "real before",
    6: "real after",
}
_EVENT_WORDS = {
    EventKind.UNDERFLOW: "{} falls due",
    EventKind.IRQ: "interrupt raised",
    EventKind.ACKNOWLEDGE: "{} acknowledged",
}


@dataclass(frozen=True)
class Happening:
    """One line of a timeline.  ``access`` numbers the guest's accesses; other happenings have none."""

    guest_ns: int | None
    host_ns: int
    what: str
    value: str = ""
    note: str = ""
    access: int | None = None


@dataclass(frozen=True)
class Access:
    """One access as the trace has it."""

    number: int
    write: int
    address: int
    value: int
    guest_ns: int
    host_ns: int
    code_bytes: int
    level: int

    @property
    def offset(self) -> int:
        """The place in the I/O window, -1 outside it."""
        return self.address & IO_MASK if IO_BASE <= self.address < IO_END else -1

    @property
    def reads_via1(self) -> bool:
        """Whether it reads a register of VIA1."""
        return not self.write and 0 <= self.offset < VIA2_START

    @property
    def commits(self) -> bool:
        """Whether it completes a value for the probe port."""
        return bool(self.write) and self.offset == PROBE_START + PROBE_LOW


def flags_text(flags: int) -> str:
    """Return the names of IFR's or IER's bits 0 to 6.

    >>> flags_text(0xC2)
    'T1 CA1'
    """
    return " ".join(name for bit, name in reversed(list(enumerate(FLAG_NAMES))) if flags >> bit & 1)


def accesses(trace: AccessTrace) -> list[Access]:
    """Return the accesses that the trace remembers, oldest first."""
    assert tuple(Access.__annotations__) == TRACE_COLUMNS
    return [Access(*row) for row in trace.rows().tolist()]


def happenings(session: Session, trace: AccessTrace) -> list[Happening]:
    """Return all that happened since the oldest access that the trace remembers, in order."""
    touched = list(_touched(accesses(trace)))
    if not touched:
        return []
    others = [what for what in _ticks(session) if (what.guest_ns or 0) >= (touched[0].guest_ns or 0)]
    in_order = sorted([*others, *touched], key=_order)
    stalls = [] if session.host is None else session.host.suffered
    for at_ns, for_ns in stalls:
        if at_ns < touched[0].host_ns:
            continue
        # A stall shows in the first look at the host's clock after it began.
        place = next((i for i, what in enumerate(in_order) if what.host_ns >= at_ns), len(in_order))
        in_order.insert(place, Happening(None, at_ns, "the host stalls", f"{for_ns:,} ns"))
    return in_order


def _order(what: Happening) -> tuple[int, bool]:
    """Sort by guest time; an access comes before the acknowledge that it is, and after what led to it."""
    return what.guest_ns or 0, what.what.endswith("acknowledged")


def _ticks(session: Session) -> Iterator[Happening]:
    for row in session.machine.bus.events.rows():
        event = dict(zip(EVENT_COLUMNS, row.tolist(), strict=True))
        kind = EventKind(event["kind"])
        value = ""
        if kind is EventKind.UNDERFLOW and event["value"] > 1:
            value = f"{event['value']} at once"
        elif kind is EventKind.IRQ:
            value = f"level {event['value']}"
        note = "masked" if kind is EventKind.IRQ and event["masked"] else ""
        source = EVENT_SOURCES[event["source"]].partition(".")[2].upper()
        what = _EVENT_WORDS[kind].format(source)
        yield Happening(event["guest_ns"], event["host_ns"], what, value, note)


def _touched(found: list[Access]) -> Iterator[Happening]:
    """Yield the accesses; of those to the probe port only the one that completes a value."""
    tag = high = 0
    for access in found:
        offset = access.offset
        if offset >= PROBE_START:
            if offset == PROBE_START + PROBE_TAG:
                tag = access.value
            elif offset == PROBE_START + PROBE_HIGH:
                high = access.value
            if not access.commits:
                continue
            said_ns = high << 32 | access.value
            what, value, note = "the guest says", _seconds(said_ns), _PROBE_CLOCKS.get(tag & 0xFFFF, "")
        else:
            what, value, note = _device_words(access)
        yield Happening(access.guest_ns, access.host_ns, what, value, note, access.number)


def _seconds(ns: int) -> str:
    return f"{ns // 1_000_000_000:,}.{ns % 1_000_000_000:09d} s"


def _device_words(access: Access) -> tuple[str, str, str]:
    verb = "write" if access.write else "read"
    value = f"{access.value & 0xFF:02X}"
    offset = access.offset
    if 0 <= offset < VIA_END:
        register = offset >> 9 & 15
        note = flags_text(access.value) if register in (IFR, IER) else ""
        return f"{verb} VIA{1 if offset < VIA2_START else 2} {REGISTER_NAMES[register]}", value, note
    if SCC_START <= offset < SCC_END:
        place = _SCC_PLACES[offset & 6]
        return f"{verb} SCC {place}", value, repr(chr(access.value & 0x7F)) if "data" in place else ""
    return f"{verb} {access.address:#010x}", f"{access.value:X}", ""
