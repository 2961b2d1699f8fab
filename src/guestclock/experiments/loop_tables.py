"""Rows for the tables from what the read loops measured, in a guest or in this process."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from guestclock.readings import READINGS, EventKind, Tables, TablesBuilder
from guestclock.readings.schema import blank
from guestclock.readloops import SHAPES, CostRecords, WarpResult

COST = "cost"
"""The phase in which reads are timed."""
WARP = "warp"
"""The phase in which CPUs compare their reads with each other's."""
NS_PER_S = 1_000_000_000
IN_CYCLES = frozenset(shape.name for shape in SHAPES if not shape.in_ns)
"""The clocks whose values are TSC cycles."""
_FAR_NS = 1 << 62


class CycleScale:
    """TSC cycles since an epoch to nanoseconds."""

    def __init__(self, tsc_hz: int, epoch_tsc: int) -> None:
        self.tsc_hz = tsc_hz
        self.epoch_tsc = epoch_tsc

    def ns(self, tsc: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Return the time of TSC values in nanoseconds since the epoch, rounded down."""
        since = (tsc.astype(np.uint64) - np.uint64(self.epoch_tsc)).astype(np.int64)
        # Whole seconds apart from the rest: the product of both would outgrow 64 bits after some seconds.
        seconds, rest = np.divmod(since, self.tsc_hz)
        scaled: npt.NDArray[np.int64] = seconds * NS_PER_S + rest * NS_PER_S // self.tsc_hz
        return scaled

    def step_ns(self, cycles: int) -> int:
        """Return the length of a step, rounded up: a step of one cycle is still a step."""
        return -(-cycles * NS_PER_S // self.tsc_hz)

    def length_ns(self, cycles: int) -> int:
        """Return a length in nanoseconds, rounded down."""
        return cycles * NS_PER_S // self.tsc_hz


def compared(tables: Tables) -> dict[str, int]:
    """Return how many reads of each clock were compared with the latest before them.

    The reads of a cost loop are timed and not compared, so the histograms alone count.
    """
    rows = tables.histograms
    return {
        name: int(rows["count"][rows["source"] == index].sum()) for index, name in enumerate(tables.sources)
    }


def add_cost(
    builder: TablesBuilder,
    source: str,
    parts: Sequence[CostRecords],
    reads: int,
    scale: CycleScale,
    *,
    in_cycles: bool,
) -> None:
    """Add a reading for each batch of a cost loop: when it ended, what the last read said, what one cost.

    ``in_cycles`` tells the unit of the values that were read: TSC cycles, else ns.
    """
    records = np.concatenate(parts)
    chunk = blank(READINGS, len(records))
    chunk["host_ns"] = scale.ns(records["tsc_start"] + records["cycles"])
    chunk["said_ns"] = scale.ns(records["value"]) if in_cycles else records["value"].astype(np.int64)
    chunk["calls"] = reads
    chunk["cost_ns"] = records["cycles"] * 1e9 / scale.tsc_hz / reads
    builder.extend_readings(chunk, source=builder.source(source), phase=builder.phase(COST))


def add_cost_alone(
    builder: TablesBuilder, source: str, parts: Sequence[CostRecords], reads: int, scale: CycleScale
) -> None:
    """Add the cost of each batch of a clock that tells no time of day."""
    records = np.concatenate(parts)
    chunk = blank(READINGS, len(records))
    chunk["said_ns"] = records["value"].astype(np.int64)
    chunk["calls"] = reads
    chunk["cost_ns"] = records["cycles"] * 1e9 / scale.tsc_hz / reads
    builder.extend_readings(chunk, source=builder.source(source), phase=builder.phase(COST))


def add_warp(
    builder: TablesBuilder, source: str, phase: str, results: Iterable[WarpResult], scale: CycleScale | None
) -> None:
    """Add the histogram of consecutive reads, and an event for each step that was logged.

    ``scale`` turns cycles into nanoseconds; None where the loop read nanoseconds.
    """
    names = {"source": builder.source(source), "phase": builder.phase(phase)}
    for result in results:
        _add_steps(builder, names, result, scale)
        if result.ahead:
            length = scale.length_ns if scale else int
            builder.add_histogram_row(
                **names,
                low_ns=0,
                high_ns=_FAR_NS,
                count=result.ahead,
                sum_ns=length(result.ahead_sum),
                min_ns=length(result.ahead_least),
                max_ns=length(result.ahead_most),
            )


def _add_steps(
    builder: TablesBuilder, names: dict[str, int], result: WarpResult, scale: CycleScale | None
) -> None:
    step = scale.step_ns if scale else int
    for before, after in result.log:
        builder.add_event(EventKind.BACKWARD, **names, value=-step(before - after))
    if result.steps:
        builder.add_histogram_row(
            **names,
            low_ns=-_FAR_NS,
            high_ns=0,
            count=result.steps,
            sum_ns=-step(result.sum),
            min_ns=-step(result.worst),
            max_ns=-step(result.least),
        )
