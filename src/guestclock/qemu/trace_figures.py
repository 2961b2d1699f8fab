"""What a trace says, as figures with their units, ready for JSON."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from guestclock.qemu.trace_gaps import PAUSE_US, Gaps, at_rank, rank
from guestclock.qemu.trace_kinds import EVENT_NAMES, Kind
from guestclock.qemu.trace_storms import STORM_LINES, Storms
from guestclock.qemu.trace_t1 import T1Follower

VIA_HZ = 783_360
LATE_US = (20_000, 30_000)
"""Two and three ticks of a 100 Hz kernel."""
REGISTERS = (
    "ORB", "ORA", "DDRB", "DDRA", "T1CL", "T1CH", "T1LL", "T1LH",
    "T2CL", "T2CH", "SR", "ACR", "PCR", "IFR", "IER", "ANH",
)  # fmt: skip
"""As QEMU writes them."""
MOST = 16


@dataclass(frozen=True)
class Access:
    """Reads or writes of one register; times are None in a trace without stamps.

    ``fastest_us`` to ``p99_us``: time since the line before, pauses left out; ``busy_us``: all of it.
    """

    access: str
    register: str
    count: int
    fastest_us: int | None
    median_us: int | None
    p99_us: int | None
    busy_us: int | None
    pauses: int | None


@dataclass(frozen=True)
class Acknowledges:
    """T1's acknowledges and the intervals between them (nearest rank); None where nothing was stamped."""

    count: int
    intervals: int
    p50_us: int | None
    p99_us: int | None
    max_us: int | None
    over_20_ms: int
    over_30_ms: int
    ticks_due: int | None
    """Timer periods that the intervals together hold."""
    ticks_lost: int | None
    """Those due and not acknowledged."""


@dataclass(frozen=True)
class Recomputations:
    """Recomputations of a timer's next interrupt, and storms of them."""

    lines: int
    by_latch: dict[str, int]
    """The latches with the most, and how many."""
    storms: int
    storm_lines: int
    longest_storm_lines: int


@dataclass(frozen=True)
class Clock:
    """The clock that Linux's algorithm makes of the trace."""

    reads: int
    period_cycles: int
    period_seen: bool
    """False: the guest loaded T1 before the trace began, and Linux's period is assumed."""
    backward_steps: int
    backward_cycles: int
    at_reload: int
    """Steps after a read of T1CH as 00 or FF: the tick was counted before the counter reloaded."""
    after_flag: int
    """Steps after a read whose flag was set between T1CH and IFR: a stalled host does that."""
    worst_cycles: int
    worst_us: float
    worst_line: int | None
    by_cycles: dict[str, int]
    """The most frequent sizes, and how often."""


@dataclass(frozen=True)
class Damage:
    """Lines that are no events; the first is shown."""

    lines: int
    first_line: int | None
    first_text: str | None
    cut_short: str | None
    """Why a compressed trace could not be read to its end."""


@dataclass(frozen=True)
class TraceFigures:
    """Everything that a trace says."""

    lines: int
    events: dict[str, int]
    span_us: int | None
    stamps_back: int
    accesses: tuple[Access, ...]
    """Those that took most time, together, first; without stamps the most frequent."""
    acknowledges: Acknowledges
    recomputations: Recomputations
    clock: Clock
    damage: Damage


def events(by_kind: list[int], others: Counter[str]) -> dict[str, int]:
    """Return how often each event came, by name, most frequent first."""
    counted = Counter({name: by_kind[kind] for kind, name in EVENT_NAMES.items() if by_kind[kind]})
    counted.update(others)
    return dict(counted.most_common())


def accesses(by_register: list[int], gaps: Gaps) -> tuple[Access, ...]:
    """Return the reads and writes of each register."""
    found = [
        _access(kind, register, by_register[kind * 16 + register], gaps)
        for kind in (Kind.READ, Kind.WRITE)
        for register in range(16)
        if by_register[kind * 16 + register]
    ]
    return tuple(sorted(found, key=lambda row: (row.busy_us or 0, row.count), reverse=True))


def _access(kind: Kind, register: int, count: int, gaps: Gaps) -> Access:
    name = kind.name.lower()
    histogram = gaps.histogram[kind * 16 + register]
    busy, pauses = histogram[: PAUSE_US + 1], int(histogram[PAUSE_US + 1])
    if not busy.any():
        return Access(
            name, REGISTERS[register], count, None, None, None, None, pauses if histogram.any() else None
        )
    return Access(
        name,
        REGISTERS[register],
        count,
        fastest_us=int(np.argmax(busy > 0)),
        median_us=at_rank(busy, rank(50, int(busy.sum()))),
        p99_us=at_rank(busy, rank(99, int(busy.sum()))),
        busy_us=int(np.dot(busy, np.arange(busy.size))),
        pauses=pauses,
    )


def acknowledges(t1: T1Follower) -> Acknowledges:
    """Return T1's acknowledges."""
    count = t1.acknowledges
    if not t1.intervals:
        return Acknowledges(count, 0, None, None, None, 0, 0, None, None)
    long_us = sorted(t1.long_us)
    due = t1.intervals_us * VIA_HZ // (t1.period_cycles * 1_000_000)
    over = [int(t1.histogram[limit + 1 :].sum()) + len(long_us) for limit in LATE_US]
    return Acknowledges(
        count,
        t1.intervals,
        p50_us=_interval_us(t1, long_us, 50),
        p99_us=_interval_us(t1, long_us, 99),
        max_us=long_us[-1] if long_us else int(np.flatnonzero(t1.histogram)[-1]),
        over_20_ms=over[0],
        over_30_ms=over[1],
        ticks_due=due,
        ticks_lost=max(0, due - t1.intervals),
    )


def _interval_us(t1: T1Follower, long_us: list[int], percent: int) -> int:
    place = rank(percent, t1.intervals)
    short = t1.intervals - len(long_us)
    return at_rank(t1.histogram, place) if place <= short else long_us[place - short - 1]


def recomputations(storms: Storms) -> Recomputations:
    """Return the recomputations and their storms."""
    open_runs = storms.run[storms.run >= STORM_LINES]
    lines = Counter({str(latch): int(storms.lines[latch]) for latch in np.flatnonzero(storms.lines)})
    return Recomputations(
        lines=lines.total(),
        by_latch=dict(lines.most_common(MOST)),
        storms=storms.storms + int(open_runs.size),
        storm_lines=int(storms.storm_lines + open_runs.sum()),
        longest_storm_lines=int(max(storms.longest_lines, open_runs.max(initial=0))),
    )


def clock(t1: T1Follower) -> Clock:
    """Return Linux's clock."""
    return Clock(
        reads=t1.clock_reads,
        period_cycles=t1.period_cycles,
        period_seen=t1.period_seen,
        backward_steps=t1.backward_steps,
        backward_cycles=t1.backward_cycles,
        at_reload=t1.steps_at_reload,
        after_flag=t1.steps_after_flag,
        worst_cycles=t1.worst_cycles,
        worst_us=round(t1.worst_cycles * 1e6 / VIA_HZ, 3),
        worst_line=t1.worst_line if t1.backward_steps else None,
        by_cycles={str(size): number for size, number in t1.sizes.most_common(MOST)},
    )
