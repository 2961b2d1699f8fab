"""Does the guest lose timer interrupts, and through whose fault?

A tick is lost when a timer underflows while its previous underflow is still unacknowledged: the interrupt
flag is one bit.  It is the guest's own loss when the guest could have acknowledged and would not: at the lost
underflow the CPU masked the interrupt, and since the previous underflow became visible the guest had run
at least K bytes of code (``quantum_bytes``).  With less code run it had no chance, and the host is at fault.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from guestclock.readings import UNKNOWN, EventKind, Tables
from guestclock.readings.schema import Table
from guestclock.verdict.facts import line_period_cycles, quantum_bytes, tick_period_cycles, tick_period_ns
from guestclock.verdict.quantities import count, duration

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TimerTicks:
    """What became of the underflows of one timer."""

    source: str
    underflows: int
    acknowledges: int
    lost_by_guest: int
    lost_by_host: int
    lost_unexplained: int
    late_acknowledges: int
    late_worst_ns: int

    @property
    def lost(self) -> int:
        """All lost ticks, whoever lost them."""
        return self.lost_by_guest + self.lost_by_host + self.lost_unexplained


@dataclass(frozen=True)
class TickCounter:
    """The guest's own count of its ticks, between its first and its last reading."""

    counted: int
    due: int

    @property
    def missing(self) -> int:
        """Ticks that were due and not counted; one may be on its way at either end."""
        return self.due - self.counted


@dataclass(frozen=True)
class Ticks:
    """Lost ticks and late acknowledges of every timer, and the guest's own count beside.

    ``handled`` counts what reached the guest, acknowledged or by its own count: the kernel's ticks alone.
    """

    timers: tuple[TimerTicks, ...]
    counter: TickCounter | None
    handled: int
    lost: int
    late_acknowledges: int
    good: bool
    sentence: str


def judge(tables: Tables) -> Ticks:
    """Follow every underflow in ``tables`` to its acknowledge or its loss."""
    timers = tuple(
        timer for index in range(len(tables.sources)) if (timer := _timer(tables, index)) is not None
    )
    counter = _counter(tables)
    missing = counter.missing if counter and counter.missing > 1 else 0
    lost = max(sum(timer.lost for timer in timers), missing)
    late = sum(timer.late_acknowledges for timer in timers)
    lines = line_period_cycles(tables)
    handled = sum(timer.acknowledges for timer in timers if timer.source not in lines)
    if not handled and counter:
        handled = counter.counted
    known = bool(timers or counter)
    sentence = _sentence(timers, handled, lost) if known else "Nothing is known about timer interrupts."
    return Ticks(timers, counter, handled, lost, late, not lost and not late, sentence)


def _sentence(timers: tuple[TimerTicks, ...], handled: int, lost: int) -> str:
    late = sum(timer.late_acknowledges for timer in timers)
    if not lost and not late:
        return f"No tick was lost: {count(handled)} of them reached the guest in time."
    faults = []
    if lost:
        faults.append(f"{count(lost, 'tick was', 'ticks were')} lost{_whose(timers)}")
    if late:
        worst = max(timer.late_worst_ns for timer in timers)
        faults.append(
            f"{count(late, 'acknowledge')} came over two ticks after the one before, worst {duration(worst)}"
        )
    sentence = " and ".join(faults)
    return sentence[0].upper() + sentence[1:] + "."


def _whose(timers: tuple[TimerTicks, ...]) -> str:
    shares = (
        (sum(timer.lost_by_guest for timer in timers), "by the guest, which kept its interrupt masked"),
        (sum(timer.lost_by_host for timer in timers), "by the host, which kept the guest from running"),
        (sum(timer.lost_unexplained for timer in timers), "for a reason that the tables do not show"),
    )
    told = [(number, reason) for number, reason in shares if number]
    if len(told) == 1:
        return " " + told[0][1]
    return "".join(f", {count(number)} {reason}" for number, reason in told)


def _timer(tables: Tables, source: int) -> TimerTicks | None:
    events = tables.events_of(EventKind.UNDERFLOW, EventKind.IRQ, EventKind.ACKNOWLEDGE, EventKind.TICK_LOST)
    events = events[events["source"] == source]
    if not len(events):
        return None
    acknowledges = events[events["kind"] == EventKind.ACKNOWLEDGE]
    underflows = events["kind"] == EventKind.UNDERFLOW
    if np.any(underflows):
        by_guest, by_host, unexplained = _losses(events, quantum_bytes(tables))
    else:
        stated = events["value"][events["kind"] == EventKind.TICK_LOST]
        by_guest, by_host, unexplained = 0, 0, int(stated.sum())
    late, worst_ns = _late(tables, events, tables.sources[source])
    return TimerTicks(
        source=tables.sources[source],
        underflows=int(events["value"][underflows].sum()),
        acknowledges=len(acknowledges),
        lost_by_guest=by_guest,
        lost_by_host=by_host,
        lost_unexplained=unexplained,
        late_acknowledges=late,
        late_worst_ns=worst_ns,
    )


def _last_before(events: Table, kind: EventKind) -> Ints:
    """Return for each event the index of the last one of ``kind`` before it, or -1."""
    places = np.where(events["kind"] == kind, np.arange(len(events)), -1)
    return np.concatenate([[-1], np.maximum.accumulate(places)[:-1]])


def _losses(events: Table, quantum: int | None) -> tuple[int, int, int]:
    """Return how many underflows were lost by the guest, by the host, and without a known cause.

    An underflow event for n periods at once hides n - 1 of them behind no code at all: those are the host's.
    """
    previous = _last_before(events, EventKind.UNDERFLOW)
    visible = np.maximum(previous, _last_before(events, EventKind.IRQ))
    pending = previous > _last_before(events, EventKind.ACKNOWLEDGE)
    underflow = events["kind"] == EventKind.UNDERFLOW
    at_once = int((events["value"][underflow] - 1).sum())

    lost = np.flatnonzero(underflow & pending)
    start, end = events[visible[lost]], events[lost]
    code_known = (start["code_bytes"] != UNKNOWN) & (end["code_bytes"] != UNKNOWN)
    if quantum is None:
        code_known[:] = False
    had_a_chance = end["code_bytes"] - start["code_bytes"] >= (quantum or 0)
    host = (end["masked"] == 0) | (code_known & ~had_a_chance)
    guest = (end["masked"] == 1) & code_known & had_a_chance
    assert not np.any(host & guest)
    return int(guest.sum()), int(host.sum()) + at_once, int((~host & ~guest).sum())


def _late(tables: Tables, events: Table, source: str) -> tuple[int, int]:
    """Return how many acknowledges came over two ticks after the one before, and the longest interval in ns.

    Where the source sees underflows, a timer that stood still in between makes nothing late; nor is anything
    late that has no period.
    """
    lines = line_period_cycles(tables)
    if source in lines and lines[source] is None:
        return 0, 0
    places = np.flatnonzero(events["kind"] == EventKind.ACKNOWLEDGE)
    acknowledges = events[places]
    tick_ns, tick_cycles = tick_period_ns(tables), tick_period_cycles(tables)
    if tick_cycles and (period_cycles := lines.get(source)):
        tick_ns, tick_cycles = tick_ns * period_cycles / tick_cycles, period_cycles
    if tick_cycles and np.all(acknowledges["cycle"] != UNKNOWN):
        intervals_ns = np.diff(acknowledges["cycle"]) * (tick_ns / tick_cycles)
        late = np.diff(acknowledges["cycle"]) > 2 * tick_cycles
    else:
        known = np.all(acknowledges["guest_ns"] != UNKNOWN)
        intervals_ns = np.diff(acknowledges["guest_ns" if known else "host_ns"])
        late = intervals_ns > 2 * tick_ns
    underflow = events["kind"] == EventKind.UNDERFLOW
    if np.any(underflow):
        so_far = np.cumsum(np.where(underflow, events["value"], 0))
        late &= np.diff(so_far[places]) >= 2
    return int(late.sum()), round(float(intervals_ns[late].max())) if np.any(late) else 0


def _counter(tables: Tables) -> TickCounter | None:
    """Compare the guest's count with the underflows between its first and last reading, or with the time."""
    readings = tables.readings[tables.readings["ticks"] != UNKNOWN]
    if len(readings) < 2:
        return None
    first, last = readings[0], readings[-1]
    counted = int(last["ticks"]) - int(first["ticks"])
    lines = [place for place, name in enumerate(tables.sources) if name in line_period_cycles(tables)]
    underflows = tables.events_of(EventKind.UNDERFLOW)
    underflows = underflows[~np.isin(underflows["source"], lines)]
    times = [column for column in ("guest_ns", "host_ns") if UNKNOWN not in (first[column], last[column])]
    if not times:
        return None
    if len(underflows) and times[0] == "guest_ns" and np.all(underflows["guest_ns"] != UNKNOWN):
        inside = (underflows["guest_ns"] > first["guest_ns"]) & (underflows["guest_ns"] <= last["guest_ns"])
        return TickCounter(counted, int(underflows["value"][inside].sum()))
    elapsed_ns = int(last[times[0]]) - int(first[times[0]])
    return TickCounter(counted, int(elapsed_ns // tick_period_ns(tables)))
