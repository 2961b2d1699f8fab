"""The comparison itself: in each round every row runs once, so that what disturbs one disturbs the others."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from guestclock.errors import BadInputError
from guestclock.experiments.compare import emulator, ours
from guestclock.experiments.compare.emulator import Emulator
from guestclock.experiments.compare.figures import Figures, figures, with_ratios
from guestclock.experiments.compare.load import busy
from guestclock.experiments.compare.measured import HOST_CLOCK, Clock, Measured
from guestclock.experiments.compare.rows import Row, name
from guestclock.experiments.keep import keep_bytes, keep_tables

INTERRUPTED = "interrupted"
"""How a run on our machine ends that the user interrupts: it keeps what it has, a comparison does not."""

Progress = Callable[[str, float], None]


@dataclass
class RowResult:
    """One row: how each of its runs ended, and its figures."""

    row: Row
    ended: list[str] = field(default_factory=list)
    runs: list[Figures] = field(default_factory=list)


@dataclass
class Comparison:
    """All rows that were run, in order, and the load averages at the begin of each round and at the end."""

    rounds: int
    rows: list[RowResult]
    left_out: list[Row]
    load_averages: list[float] = field(default_factory=list)


class Measure(Protocol):
    """Runs one row's machine once."""

    def __call__(self, row: Row) -> Measured:
        """Return what the run left."""


def measure(row: Row, clock: Clock = HOST_CLOCK) -> Measured:
    """Run a row once, under its load."""
    with busy(row.load):
        if isinstance(row.machine, Emulator):
            return emulator.measure(row.machine, row.boot, row.event, row.dialogue, clock)
        return ours.measure(row.machine, row.boot, row.event, row.dialogue, clock)


def compare(
    rows: Sequence[Row],
    rounds: int,
    *,
    progress: Progress = lambda _what, _share: None,
    save: Path | None = None,
    measure: Measure = measure,
    clock: Clock = HOST_CLOCK,
) -> Comparison:
    """Run every row ``rounds`` times, and keep tables and consoles in ``save`` if it is given.

    Raises what running a row raises: the comparison ends with the first machine that cannot be run.
    """
    if not 1 <= rounds <= 1000:
        raise BadInputError(f"--rounds {rounds}: 1 to 1000")
    results = [RowResult(row) for row in rows if row.why_not is None]
    if not results:
        raise BadInputError(f"no machine here can do this: {'; '.join(_reasons(rows))}")
    found = Comparison(rounds, results, [row for row in rows if row.why_not is not None])
    pace = _Pace(rounds * len(results), clock)
    for number in range(1, rounds + 1):
        found.load_averages.append(_load_average())
        for result in results:
            where = f"round {number} of {rounds}: {name(result.row)}"
            progress(f"{where}{pace.remaining()}", pace.share())
            measured = measure(result.row)
            ended = str(measured.tables.meta["ended"])
            if ended == INTERRUPTED:
                raise KeyboardInterrupt
            pace.done += 1
            result.ended.append(ended)
            result.runs.append(figures(measured, result.row.event))
            if save is not None:
                _keep(measured, save / f"round-{number}" / _folder_name(result.row))
    found.load_averages.append(_load_average())
    with_ratios([result.runs for result in results])
    return found


@dataclass
class _Pace:
    total: int
    clock: Clock
    done: int = 0

    def __post_init__(self) -> None:
        self.begin_ns = self.clock()

    def share(self) -> float:
        return self.done / self.total

    def remaining(self) -> str:
        """Return how long it will take at the pace so far."""
        if not self.done:
            return ""
        left_s = (self.clock() - self.begin_ns) / self.done * (self.total - self.done) / 1e9
        return f", about {left_s:.0f} s left"


def _reasons(rows: Sequence[Row]) -> list[str]:
    return [f"{name(row)}: {row.why_not}" for row in rows if row.why_not]


def _load_average() -> float:
    return round(os.getloadavg()[0], 2)


def _folder_name(row: Row) -> str:
    return "".join(char if char.isalnum() or char in ".-=" else "-" for char in name(row)).replace("--", "-")


def _keep(measured: Measured, folder: Path) -> None:
    keep_tables(measured.tables, folder)
    keep_bytes(measured.console, folder / "console.log")
