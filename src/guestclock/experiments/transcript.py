"""What a guest has said on its console so far, each line with the time at which it arrived."""

from dataclasses import dataclass, field, fields

from guestclock.guests import lines
from guestclock.guests.stream import Heard, Text
from guestclock.linux.kernel_log import Complaint, complaint
from guestclock.readings import UNKNOWN, EventKind

CLOCKS = ("mono", "real")
"""The clocks that guests read (``docs/guest-protocol.md``)."""

LINE_CLOCKS = ("via1.ca1", "via1.ca2")
"""Those that count the falls of two of VIA1's lines: 60.15 Hz and 1 Hz."""

SANE_NS = 2**62
"""No clock says more than this: the time of day in 2116."""


@dataclass(frozen=True)
class Arrival:
    """When a line had arrived, in true guest time and in host time, as far as known."""

    guest_ns: int = UNKNOWN
    host_ns: int = UNKNOWN


@dataclass(frozen=True)
class Remark:
    """A line that becomes an event: a complaint, a death, a failed check, a line that cannot be read."""

    kind: EventKind
    text: str
    phase: int
    at: Arrival


@dataclass
class Transcript:
    """The guest's protocol lines, sorted by kind, and what else on its console matters.

    ``phase`` is the number of the current phase, 0 before the first.  All of it may be looked at while the
    guest runs.

    >>> transcript = Transcript()
    >>> transcript.take(lines.Back(id=1, clock="mono", before_ns=30, after_ns=21), host_ns=500)
    >>> transcript.backward_steps, transcript.said_bye
    (1, False)
    """

    hello: lines.Hello | None = None
    phase: int = 0
    phases: dict[int, tuple[lines.Phase, Arrival]] = field(default_factory=dict)
    stamps: list[tuple[lines.Stamp, Arrival]] = field(default_factory=list)
    backs: list[tuple[lines.Back, Arrival]] = field(default_factory=list)
    timing_lines: list[tuple[lines.TimingLine, Arrival]] = field(default_factory=list)
    histogram: list[lines.HistogramRow] = field(default_factory=list)
    cpu: list[lines.Cpu] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    bye: Arrival | None = None
    _backs_ended: int = 0
    _backs_now: int = 0

    @property
    def said_bye(self) -> bool:
        """Whether the guest has said goodbye: it switches off next."""
        return self.bye is not None

    @property
    def backward_steps(self) -> int:
        """How many backward steps are known so far: all of phases that ended, the first few of this one."""
        return self._backs_ended + self._backs_now

    def take(self, heard: Heard, *, guest_ns: int = UNKNOWN, host_ns: int = UNKNOWN) -> None:
        """Take one line of the console."""
        at = Arrival(guest_ns, host_ns)
        match heard:
            case Text():
                self._take_text(heard.text, at)
            case lines.Damaged():
                self._remark(EventKind.GARBLED, heard.text, at)
            case _ if _fits(heard):
                self._take_line(heard, at)
            case _:
                self._remark(EventKind.GARBLED, repr(heard), at)

    def died(self, text: str, *, guest_ns: int = UNKNOWN, host_ns: int = UNKNOWN) -> None:
        """Note a death of which the guest could say nothing."""
        self._remark(EventKind.PANIC, text, Arrival(guest_ns, host_ns))

    def _take_line(self, line: lines.Line, at: Arrival) -> None:
        match line:
            case lines.Hello():
                self.hello = line
            case lines.Phase():
                self.phase = line.id
                self.phases[line.id] = (line, at)
            case lines.Stamp():
                self.stamps.append((line, at))
            case lines.Back():
                self.backs.append((line, at))
                self._backs_now += 1
            case lines.TimingLine():
                self.timing_lines.append((line, at))
            case lines.Done():
                self._backs_ended += line.backs
                self._backs_now = 0
            case lines.HistogramRow():
                self.histogram.append(line)
            case lines.Cpu():
                self.cpu.append(line)
            case lines.Check(ok=False):
                self._remark(EventKind.CHECK_FAILED, f"check {line.name} gave {line.value}", at)
            case lines.Refused():
                self._remark(EventKind.CHECK_FAILED, f"'{line.name}' is unknown here", at)
            case lines.Fault():
                self._remark(EventKind.PANIC, f"exception vector {line.vector} at {line.pc:#x}", at)
            case lines.Bye():
                self.bye = at

    def _take_text(self, text: str, at: Arrival) -> None:
        found = complaint(text)
        if found is Complaint.PANIC:
            self._remark(EventKind.PANIC, text.strip(), at)
        elif found is Complaint.TIMEKEEPING:
            self._remark(EventKind.KERNEL_MESSAGE, text.strip(), at)

    def _remark(self, kind: EventKind, text: str, at: Arrival) -> None:
        self.remarks.append(Remark(kind, text, self.phase, at))


def _fits(line: lines.Line) -> bool:
    """Return whether a line makes sense and the tables can hold it: a guest gone mad may say anything."""
    limit = 2**63 if isinstance(line, lines.HistogramRow) else SANE_NS  # its outermost rows reach that far
    if any(not -limit <= getattr(line, each.name) < limit for each in fields(line) if each.type is int):
        return False
    match line:
        case lines.Hello():
            return 0 < line.tick_hz <= line.clock_hz
        case lines.Back():
            return line.clock in CLOCKS and line.after_ns < line.before_ns
        case lines.HistogramRow():
            return line.clock in CLOCKS
        case lines.TimingLine():
            return line.clock in LINE_CLOCKS
    return True
