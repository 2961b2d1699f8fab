"""What every report of a guest must be like, whatever machine it ran on and however bad its clock was."""

from dataclasses import dataclass, field

from guestclock.guests.lines import Back, Bye, Check, Cpu, Done, Hello, HistogramRow, Line, Phase, Stamp
from guestclock.guests.stream import ConsoleStream

BACKS_TOLD = 20


@dataclass
class PhaseReport:
    """The lines of one phase."""

    phase: Phase
    stamps: list[Stamp] = field(default_factory=list)
    backs: list[Back] = field(default_factory=list)
    rows: list[HistogramRow] = field(default_factory=list)
    cpu: list[Cpu] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    others: list[Line] = field(default_factory=list)
    ended: Done | None = None

    @property
    def done(self) -> Done:
        """The line that ended the phase."""
        assert self.ended is not None
        return self.ended


def read_report(console: bytes) -> tuple[Hello, list[PhaseReport]]:
    """Return what a guest reported; fails unless the lines are whole, in order, and end by ``bye``."""
    stream = ConsoleStream()
    heard = stream.feed(console) + stream.finish()
    assert stream.damaged == 0
    lines = [line for line in heard if isinstance(line, Line)]
    hello, *body, bye = lines
    assert isinstance(hello, Hello)
    assert bye == Bye()
    phases: list[PhaseReport] = []
    for line in body:
        match line:
            case Phase():
                phases.append(PhaseReport(line))
            case Stamp():
                phases[-1].stamps.append(line)
            case Back():
                phases[-1].backs.append(line)
            case HistogramRow():
                phases[-1].rows.append(line)
            case Cpu():
                phases[-1].cpu.append(line)
            case Check():
                phases[-1].checks.append(line)
            case Done():
                phases[-1].ended = line
            case _:
                phases[-1].others.append(line)
    for number, report in enumerate(phases, start=1):
        assert report.phase.id == number
        check_phase(report)
    return hello, phases


def check_phase(report: PhaseReport) -> None:
    """Fail unless the lines of a phase agree with each other."""
    done = report.done
    assert done.name == report.phase.name
    assert {line.id for line in (*report.stamps, *report.backs, *report.rows, done)} == {report.phase.id}

    assert [stamp.seq for stamp in report.stamps] == list(range(len(report.stamps)))
    assert len(report.stamps) >= 2
    assert sum(stamp.calls for stamp in report.stamps) == done.calls
    ticks = [stamp.ticks for stamp in report.stamps] + [done.ticks]
    assert ticks == sorted(ticks)

    (cpu,) = report.cpu
    assert min(cpu.user_ticks, cpu.system_ticks) >= 0
    assert cpu.user_ticks + cpu.system_ticks <= ticks[-1] - ticks[0] + 1

    for row in report.rows:
        assert row.count > 0
        assert row.low_ns <= row.min_ns <= row.max_ns < row.high_ns
        assert row.min_ns * row.count <= row.sum_ns <= row.max_ns * row.count
    for clock in ("mono", "real"):
        bounds = [bound for row in report.rows if row.clock == clock for bound in (row.low_ns, row.high_ns)]
        assert bounds == sorted(bounds)

    # Every backward step is in the histogram, and the first ones are told.
    assert done.backs == sum(row.count for row in report.rows if row.high_ns <= 0)
    assert len(report.backs) == min(done.backs, BACKS_TOLD)
    assert all(back.after_ns < back.before_ns for back in report.backs)
