"""Does the clock ever go back, or jump ahead?

One backward step may be witnessed three times: by the histogram of consecutive reads, by an event, and by
two readings around it.  In each phase the witness that saw most steps is believed (the histogram, then the
events, when they saw equally many), so nothing is counted twice.  Between the last reading of a phase and the
first of the next there are only readings: a fall there counts unless a step at least as large was counted in
one of the two phases, for it may be the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from guestclock.readings import UNKNOWN, EventKind, Tables
from guestclock.readings.schema import Table
from guestclock.verdict.facts import tick_period_ns
from guestclock.verdict.quantities import count, duration, times

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Steps:
    """Steps in one direction: how many, the largest, and all together."""

    count: int = 0
    worst_ns: int = 0
    sum_ns: int = 0

    @classmethod
    def of(cls, deltas_ns: Ints) -> "Steps":
        """Return the steps that these differences, all of one sign, are."""
        if not len(deltas_ns):
            return cls()
        worst = deltas_ns[np.argmax(np.abs(deltas_ns))]
        return cls(len(deltas_ns), int(worst), sum(deltas_ns.tolist()))

    def __add__(self, other: "Steps") -> "Steps":
        return Steps(
            self.count + other.count,
            max(self.worst_ns, other.worst_ns, key=abs),
            self.sum_ns + other.sum_ns,
        )


@dataclass(frozen=True)
class SourceSteps:
    """The steps of one clock.

    ``forward`` are jumps ahead of true time by more than a tick.  ``gaps`` are consecutive reads more than a
    tick apart: the guest did not run in between, or the clock jumped; without true time for each read
    nobody can tell, so they are shown and not judged.
    """

    source: str
    comparisons: int
    backward: Steps
    forward: Steps
    gaps: Steps


@dataclass(frozen=True)
class Monotonicity:
    """Backward steps and forward jumps of every clock."""

    sources: tuple[SourceSteps, ...]
    backward: Steps
    forward: Steps
    good: bool
    sentence: str


def judge(tables: Tables) -> Monotonicity:
    """Find every backward step and forward jump in ``tables``."""
    sources = tuple(
        steps for index in range(len(tables.sources)) if (steps := _of_source(tables, index)) is not None
    )
    backward = sum((source.backward for source in sources), Steps())
    forward = sum((source.forward for source in sources), Steps())
    return Monotonicity(
        sources=sources,
        backward=backward,
        forward=forward,
        good=not backward.count and not forward.count,
        sentence=_sentence(sources, backward, forward),
    )


def _sentence(sources: Iterable[SourceSteps], backward: Steps, forward: Steps) -> str:
    comparisons = sum(source.comparisons for source in sources)
    if not comparisons and not backward.count and not forward.count:
        return "No two looks at a clock were there to compare."
    faults = []
    if backward.count:
        faults.append(f"went back {times(backward.count)}, worst {duration(backward.worst_ns)}")
    if forward.count:
        faults.append(f"jumped ahead {times(forward.count)}, worst {duration(forward.worst_ns)}")
    if faults:
        return f"The clock {', and '.join(faults)}."
    return f"The clock never went back in {count(comparisons, 'comparison')} of consecutive looks."


def _of_source(tables: Tables, source: int) -> SourceSteps | None:
    readings = tables.readings_of(source)
    rows = tables.histograms[tables.histograms["source"] == source]
    events = tables.events_of(EventKind.BACKWARD, EventKind.FORWARD)
    events = events[events["source"] == source]
    if not len(readings) and not len(rows) and not len(events):
        return None
    return SourceSteps(
        source=tables.sources[source],
        comparisons=_comparisons(readings, rows),
        backward=_backward(readings, rows, events[events["kind"] == EventKind.BACKWARD]),
        forward=_forward(tables, readings, events[events["kind"] == EventKind.FORWARD]),
        gaps=_gaps(tables, rows),
    )


def _comparisons(readings: Table, rows: Table) -> int:
    """Return how many consecutive looks were compared, in each phase by the witness that saw most.

    A guest that times its calls enters only odd steps into the histogram, but says how often it called.
    """
    total = 0
    for phase in np.union1d(readings["phase"], rows["phase"]):
        looks = readings[readings["phase"] == phase]
        counted = int(rows["count"][rows["phase"] == phase].sum())
        total += max(counted, int(looks["calls"].sum()), len(looks) - 1)
    return total


def _backward(readings: Table, rows: Table, events: Table) -> Steps:
    deltas = np.diff(readings["said_ns"])
    before, after = readings["phase"][:-1], readings["phase"][1:]
    within = (before == after) & (deltas < 0)
    phases = np.unique(np.concatenate([readings["phase"], rows["phase"], events["phase"]]))
    by_phase = {
        int(phase): _most(
            _negative(rows[rows["phase"] == phase]),
            Steps.of(events["value"][events["phase"] == phase]),
            Steps.of(deltas[within & (after == phase)]),
        )
        for phase in phases
    }
    total = sum(by_phase.values(), Steps())
    for place in np.flatnonzero((before != after) & (deltas < 0)):
        fall = int(deltas[place])
        neighbours = (by_phase[int(before[place])], by_phase[int(after[place])])
        if all(steps.worst_ns > fall for steps in neighbours):
            total += Steps(1, fall, fall)
    return total


def _negative(rows: Table) -> Steps:
    """Return the backward steps that histogram rows count.

    A row that reaches from below zero to above holds at least the one step that is its minimum.
    """
    surely = rows[rows["max_ns"] < 0]
    partly = rows[(rows["min_ns"] < 0) & (rows["max_ns"] >= 0)]
    worst = int(min(rows["min_ns"].min(), 0)) if len(rows) else 0
    return Steps(
        int(surely["count"].sum()) + len(partly),
        worst,
        int(surely["sum_ns"].sum()) + int(partly["min_ns"].sum()),
    )


def _most(*witnesses: Steps) -> Steps:
    """Return what the witness says that saw most; of equals, the first."""
    return max(witnesses, key=lambda steps: steps.count)


def _forward(tables: Tables, readings: Table, events: Table) -> Steps:
    """Return jumps ahead: the clock gains more than a tick over every lead it had on true time before.

    Measured from the greatest lead so far, so that catching up after a delay is no jump, nor is a reading
    whose time stamp came late.
    """
    stated = Steps.of(events["value"])
    time = _true_time(readings)
    if time is None:
        return stated
    known = time != UNKNOWN
    lead = readings["said_ns"][known] - time[known]
    gained = lead[1:] - np.maximum.accumulate(lead)[:-1] if len(lead) else lead
    return _most(stated, Steps.of(gained[gained > tick_period_ns(tables)]))


def _true_time(readings: Table) -> Ints | None:
    """Return the column with the best time that is known: true guest time, else the host's, else None."""
    for column in ("guest_ns", "host_ns"):
        time: Ints = readings[column]
        if np.any(time != UNKNOWN):
            return time
    return None


def _gaps(tables: Tables, rows: Table) -> Steps:
    tick = tick_period_ns(tables)
    surely = rows[rows["min_ns"] > tick]
    partly = rows[(rows["min_ns"] <= tick) & (rows["max_ns"] > tick)]
    worst = int(rows["max_ns"].max()) if len(surely) or len(partly) else 0
    return Steps(
        int(surely["count"].sum()) + len(partly),
        worst,
        int(surely["sum_ns"].sum()) + int(partly["max_ns"].sum()),
    )
