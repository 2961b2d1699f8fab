"""From what a run left to the figures that are compared; None is what nobody knows of that run."""

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

from guestclock.experiments.compare.events import AT_NS, Event
from guestclock.experiments.compare.measured import Measured
from guestclock.readings import UNKNOWN, Tables
from guestclock.verdict import Verdict, judge
from guestclock.verdict.facts import tick_period_ns

Figures = dict[str, float | None]

CALLS = "calls"
MONO = "mono"
RATIO = "call_ratio"
SETTLED_NS = 2_000_000_000

COUNTS = ("backward_steps", "forward_jumps", "lost_ticks", "late_acknowledges")
"""Figures that are 0 for a sound clock."""


def figures(measured: Measured, event: Event | None = None) -> Figures:
    """Return one run's figures, the unit last in each name.

    ``real_s``, ``user_s``, ``system_s``: of the timed calls; real is the host's time (the guest's under
    virtual time), the others are the guest's own accounting, which counts ticks.
    """
    tables = measured.tables
    verdict = judge(tables)
    real_ns, calls = _called(tables)
    used = tables.meta.get("cpu_ticks", {}).get(CALLS, {})
    user_s, system_s = (_ticks_s(tables, used.get(mode)) for mode in ("user", "system"))
    found: Figures = {
        "real_s": None if real_ns is None else real_ns / 1e9,
        "user_s": user_s,
        "system_s": system_s,
        "system_per_user": system_s / user_s if system_s is not None and user_s else None,
        "call_ns": real_ns / calls if real_ns is not None and calls else None,
        "boot_shutdown_s": _sum(measured.boot_s, measured.shutdown_s),
        "host_cpu_s": measured.host_cpu_s,
        **_clock(tables, verdict),
    }
    return found if event is None else found | moved(tables, event, measured.taken_back)


def moved(tables: Tables, event: Event, taken_back: tuple[int, int] = (0, 0)) -> Figures:
    """Return how far an event moved the monotonic clock against the host.

    Before is the last look that arrived before the event; after, of those that arrived in the last two
    seconds, the one least off: a line may come late, and a clock that keeps jumping by 5482 s shows more than
    the event.
    """
    rows = tables.readings_of(tables.sources.index(MONO))
    rows = rows[rows["host_ns"] != UNKNOWN]
    since_ns, taken_back_ns = taken_back
    host_ns = rows["host_ns"] + np.where(rows["host_ns"] > since_ns, taken_back_ns, 0)
    offset_ns = rows["said_ns"] - host_ns
    before = offset_ns[host_ns < AT_NS]
    late = host_ns >= max(event.end_ns, int(host_ns[-1]) - SETTLED_NS) if len(rows) else []
    after = offset_ns[late]
    if not len(before) or not len(after):
        return {"event_moved_ns": None}
    changes = after - before[-1]
    return {"event_moved_ns": int(changes[np.abs(changes).argmin()])}


def _called(tables: Tables) -> tuple[int | None, int]:
    """Return how long all phases of calls took together, in ns, and how many calls they made."""
    column = f"{tables.meta['cost_time']}_ns"
    total_ns, calls = 0, 0
    for place, name in enumerate(tables.phases):
        rows = tables.readings[tables.readings["phase"] == place]
        if name.split(" ")[0] != CALLS or len(rows) < 2:
            continue
        if np.any(rows[column] == UNKNOWN):
            return None, 0
        total_ns += int(rows[column].max()) - int(rows[column].min())
        calls += int(rows["calls"].sum())
    return (total_ns, calls) if calls else (None, 0)


def _ticks_s(tables: Tables, ticks: int | None) -> float | None:
    return None if ticks is None else ticks * tick_period_ns(tables) / 1e9


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _clock(tables: Tables, verdict: Verdict) -> Figures:
    ticks, steps = verdict.ticks, verdict.monotonicity
    seen, looked = bool(ticks.timers), bool(steps.sources)
    return {
        "backward_steps": steps.backward.count if looked else None,
        "backward_worst_ns": steps.backward.worst_ns if looked else None,
        "gap_worst_ns": max(source.gaps.worst_ns for source in steps.sources) if looked else None,
        "forward_jumps": steps.forward.count if verdict.drift.clocks else None,
        "lost_ticks": ticks.lost if seen or ticks.counter else None,
        "late_acknowledges": ticks.late_acknowledges if seen else None,
        "drift_ns": verdict.drift.final_offset_ns,
    }


def with_ratios(rows: Sequence[Sequence[Figures]]) -> None:
    """Add to each run's figures what a call costs over what it costs in the first row, in the same round."""
    for runs in rows:
        for own, first in zip(runs, rows[0], strict=True):
            one, other = own.get("call_ns"), first.get("call_ns")
            own[RATIO] = one / other if one is not None and other else None


def spread(runs: Sequence[Figures], name: str) -> dict[str, Any] | None:
    """Return the median of a figure over the rounds, its least and its most; None where no round knows it.

    >>> spread([{"x": 3}, {"x": 1}, {"x": None}], "x")
    {'median': 2.0, 'min': 1, 'max': 3, 'values': [3, 1, None]}
    """
    known = [value for run in runs if (value := run[name]) is not None]
    if not known:
        return None
    middle = median(known)
    return {
        "median": middle,
        "min": min(known),
        "max": max(known),
        "values": [run[name] for run in runs],
    }
