"""What a guest has said on its console so far, each line with the time at which it arrived."""

from dataclasses import dataclass, field

from guestclock.guests import lines
from guestclock.linux.kernel_log import Complaint, complaint
from guestclock.readings import UNKNOWN, EventKind


@dataclass(frozen=True)
class Arrival:
    """When a line arrived (its first byte), in true guest time and in host time, as far as known."""

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
class Console:
    """The guest's protocol lines, sorted by kind, and what else on its console matters.

    ``phase`` is the number of the current phase, 0 before the first.  All of it may be looked at while the
    guest runs.
    """

    hello: lines.Hello | None = None
    phase: int = 0
    phases: dict[int, tuple[lines.Phase, Arrival]] = field(default_factory=dict)
    stamps: list[tuple[lines.Stamp, Arrival]] = field(default_factory=list)
    backs: list[tuple[lines.Back, Arrival]] = field(default_factory=list)
    histogram: list[lines.HistogramRow] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    bye: Arrival | None = None

    def take(self, text: str, *, guest_ns: int = UNKNOWN, host_ns: int = UNKNOWN) -> lines.Line | None:
        """Take one line without its end; return it parsed, or None for plain console text."""
        at = Arrival(guest_ns, host_ns)
        line = lines.parse_line(text)
        if isinstance(line, lines.Damaged):
            self._remark(EventKind.GARBLED, line.text, at)
            return None
        if line is None:
            self._take_text(text, at)
        else:
            self._take_line(line, at)
        return line

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
            case lines.HistogramRow():
                self.histogram.append(line)
            case lines.Check(ok=False):
                self._remark(EventKind.CHECK_FAILED, f"{line.name}: {line.value}", at)
            case lines.Refused():
                self._remark(EventKind.CHECK_FAILED, f"the guest does not know '{line.name}'", at)
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
