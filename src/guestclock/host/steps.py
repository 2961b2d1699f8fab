"""Backward steps in this process: within a CPU, and between every two CPUs."""

import functools
import itertools
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from guestclock import readloops
from guestclock.host.clocks import Clock
from guestclock.host.native import Block, Native, on_cpus
from guestclock.readloops import Shape, WarpResult, parse_result

LOG_ROOM = 16
Warper = Callable[[Sequence[int], int], list[WarpResult]]
"""Lets each CPU of a group make so many reads; returns what each of them saw."""


@dataclass
class Steps:
    """What one clock showed: the results of each CPU, by the group of CPUs that read together."""

    groups: dict[tuple[int, ...], list[WarpResult]] = field(default_factory=dict)

    @property
    def results(self) -> list[WarpResult]:
        """The results of all groups."""
        return [result for group in self.groups.values() for result in group]

    @property
    def reads(self) -> int:
        """All reads of all CPUs."""
        return sum(result.reads for result in self.results)

    @property
    def steps(self) -> int:
        """All reads that were behind an earlier one."""
        return sum(result.steps for result in self.results)


def shape_warper(native: Native, shape: Shape) -> Warper:
    """Return what reads the raw TSC in that shape, on all CPUs of a group at the same time."""

    def loop(reads: int, shared: int, result: int) -> None:
        native.call(f"warp_{shape.name}", 0, reads, shared, result)

    return lambda group, reads: _together(loop, group, reads)


def clock_warper(native: Native, clock: Clock) -> Warper:
    """Return what reads a clock through the C library, on all CPUs of a group at the same time."""

    def loop(reads: int, shared: int, result: int) -> None:
        native.call("call_warp", native.clock_gettime, clock.number, reads, shared, result)

    return lambda group, reads: _together(loop, group, reads)


def hopping_warper(clock: Clock) -> Warper:
    """Return what reads a clock in one thread that moves between the CPUs of a group."""

    def read() -> int:
        return time.clock_gettime_ns(clock.number)

    def warp(group: Sequence[int], reads: int) -> list[WarpResult]:
        results: list[WarpResult] = []
        on_cpus([(group[0], lambda: results.append(hop(read, group, reads)))])
        return results

    return warp


def hop(read: Callable[[], int], group: Sequence[int], reads: int) -> WarpResult:
    """Read in one thread that moves from CPU to CPU: what Python can do without machine code.

    It finds clocks that are further apart than a move takes, some microseconds.
    """
    steps: list[tuple[int, int]] = []
    ahead: list[tuple[int, int]] = []
    last = read()
    for turn in range(reads):
        if len(group) > 1:
            os.sched_setaffinity(0, {group[turn % len(group)]})
        now = read()
        (steps if now < last else ahead).append((last, now))
        last = max(last, now)
    behind = [before - after for before, after in steps] or [0]
    gains = [after - before for before, after in ahead] or [0]
    return WarpResult(
        reads=reads,
        steps=len(steps),
        least=min(behind),
        worst=max(behind),
        sum=sum(behind),
        ahead_sum=sum(gains),
        ahead_least=min(gains),
        ahead_most=max(gains),
        log=tuple(steps[:LOG_ROOM]),
    )


def groups(cpus: Sequence[int], seed: int) -> list[tuple[int, ...]]:
    """Return all pairs of CPUs and each CPU alone, so that every prefix says much.

    First each CPU with the next one, then each alone, then the other pairs in an order that the seed chooses.

    >>> groups([0, 1, 2], 1)
    [(0, 1), (1, 2), (0, 2), (0,), (1,), (2,)]
    """
    pairs = list(itertools.combinations(cpus, 2))
    ring = [*itertools.pairwise(cpus), (cpus[0], cpus[-1])] if len(cpus) > 2 else pairs
    others = [pair for pair in pairs if pair not in ring]
    random.Random(seed).shuffle(others)
    return [*ring, *((cpu,) for cpu in cpus), *others]


def measure(
    warpers: dict[str, Warper],
    among: Sequence[tuple[int, ...]],
    *,
    reads: int,
    budget_s: float,
    progress: Callable[[float], None] = lambda _share: None,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Steps]:
    """Let each group of CPUs read each clock at the same time, group by group, until the time is over.

    At least one group is tried; ``Steps.groups`` tells which were looked at.
    """
    deadline = clock() + budget_s
    found = {name: Steps() for name in warpers}
    for index, group in enumerate(among):
        if index and clock() >= deadline:
            break
        for name, warper in warpers.items():
            try:
                found[name].groups[group] = warper(group, reads)
            except OSError:
                # The CPU went offline, or a sandbox forbids to choose CPUs: this group stays unseen.
                continue
        progress((index + 1) / len(among))
    return found


def _together(loop: Callable[[int, int, int], None], group: Sequence[int], reads: int) -> list[WarpResult]:
    shared = Block(readloops.pack_shared(len(group)))
    blocks = [Block(readloops.result_block(LOG_ROOM)) for _ in group]
    work = [
        (cpu, functools.partial(loop, reads, shared.address, block.address))
        for cpu, block in zip(group, blocks, strict=True)
    ]
    on_cpus(work)
    return [parse_result(block.bytes()) for block in blocks]
