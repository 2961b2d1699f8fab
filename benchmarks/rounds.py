"""Interleaved rounds: contenders take turns, so that what disturbs one disturbs the others."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple


class Spread(NamedTuple):
    """Median and quartiles of a sample."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def spread(sample: list[float]) -> Spread:
    low, median, high = statistics.quantiles(sample, n=4)
    return Spread(low, median, high)


def interleave(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Run every contender once a round; return the CPU time of each run, in ns."""
    for run in contenders.values():  # caches and branch predictors warm up outside of the count
        run()
    taken_ns: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.process_time_ns()
            run()
            taken_ns[name].append(time.process_time_ns() - start)
    return taken_ns


def ratios(taken_ns: dict[str, list[float]], name: str, base: str) -> Spread:
    """Return one contender's time over another's, round by round."""
    return spread([a / b for a, b in zip(taken_ns[name], taken_ns[base], strict=True)])
