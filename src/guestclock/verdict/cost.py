"""What does one call cost?

Each reading that follows calls says what one of them cost on average since the reading before.  The
figures are over those averages, so a long batch counts no more than a short one, and a stall spoils one
batch, not all.
"""

from dataclasses import dataclass

import numpy as np

from guestclock.readings import Tables
from guestclock.verdict.quantities import duration


@dataclass(frozen=True)
class SourceCost:
    """The cost of reading one clock; the median and p99 are values that were measured, not interpolated."""

    source: str
    batches: int
    calls: int
    min_ns: float
    median_ns: float
    p99_ns: float


@dataclass(frozen=True)
class Cost:
    """The cost of every clock, on the clock that ``time`` names (``host`` or ``guest``).

    A cost is a figure, not a fault: ``good`` is always true.
    """

    sources: tuple[SourceCost, ...]
    time: str
    good: bool
    sentence: str


def judge(tables: Tables) -> Cost:
    """Summarise what calls cost, for every clock that was called in batches."""
    sources = tuple(
        cost for index in range(len(tables.sources)) if (cost := _of_source(tables, index)) is not None
    )
    time = str(tables.meta.get("cost_time", "host"))
    told = ", ".join(f"{cost.source} {duration(cost.median_ns)}" for cost in sources)
    sentence = f"A call costs, in {time} time: {told}." if sources else "No calls were timed."
    return Cost(sources=sources, time=time, good=True, sentence=sentence)


def _of_source(tables: Tables, source: int) -> SourceCost | None:
    readings = tables.readings_of(source)
    timed = readings[(readings["calls"] > 0) & (readings["cost_ns"] >= 0)]
    if not len(timed):
        return None
    low, median, p99 = np.percentile(timed["cost_ns"], [0, 50, 99], method="inverted_cdf").tolist()
    return SourceCost(tables.sources[source], len(timed), int(timed["calls"].sum()), low, median, p99)
