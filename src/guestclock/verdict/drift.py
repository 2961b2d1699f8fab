"""Does the clock keep time?

Offsets are what the clock said minus what true time was.  A clock's own zero says nothing, so it is anchored
at its first reading: to true guest time where the machine knows it (offsets against the host then include how
far guest time itself was behind), else to the host's.

The rate is a repeated-median line (Siegel 1982): for each reading the median slope to all others, then
the median of those.  Up to half of the readings may be off without moving it, and a stalled host puts many of
them off; least squares would follow every stall.  The end-to-end rate stands beside it: a clock that
steps keeps its fitted rate and shows the step there.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from guestclock.readings import UNKNOWN, Tables
from guestclock.readings.schema import Table
from guestclock.verdict.facts import truth
from guestclock.verdict.quantities import duration, rate

ALLOWED_OFFSET_NS = 10_000_000
"""One tick of a 100 Hz kernel: a clock that ends further from true time has lost or gained something."""

FINAL_NS = 1_000_000_000
"""The end of a run over which its final offset is looked for, at most."""

_FIT_READINGS = 400
"""The fit compares each reading with each, so it takes this many, evenly spread."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Offsets:
    """One clock against one reference over one stretch; a rate is None where no time passed."""

    readings: int
    elapsed_ns: int
    rate_ppm: float | None
    end_to_end_ppm: float | None
    final_offset_ns: int
    max_offset_ns: int


@dataclass(frozen=True)
class ClockDrift:
    """One clock against one reference (``host`` or ``guest``): the whole run, and each phase by name."""

    source: str
    reference: str
    whole: Offsets
    phases: dict[str, Offsets]


@dataclass(frozen=True)
class Drift:
    """Every clock against every reference that is known.

    ``reference`` is the one that the clocks are judged by, and ``final_offset_ns`` the worst final offset
    against it (None when nothing was compared).  ``lag`` is true guest time against the host: what pacing
    did, before any clock was read.
    """

    clocks: tuple[ClockDrift, ...]
    lag: Offsets | None
    reference: str
    final_offset_ns: int | None
    good: bool
    sentence: str


def judge(tables: Tables, allowed_offset_ns: int = ALLOWED_OFFSET_NS) -> Drift:
    """Compare every clock with the host and with true guest time; the worst final offset decides.

    The reference is what ``meta["truth"]`` names; where that time is unknown, the other one.
    """
    clocks = tuple(
        drift
        for source in range(len(tables.sources))
        for reference in ("host", "guest")
        if (drift := _clock(tables, source, reference)) is not None
    )
    judged = [clock for clock in clocks if clock.reference == truth(tables)] or list(clocks)
    worst = max(judged, key=lambda clock: abs(clock.whole.final_offset_ns), default=None)
    return Drift(
        clocks=clocks,
        lag=lag(tables),
        reference=worst.reference if worst else truth(tables),
        final_offset_ns=worst.whole.final_offset_ns if worst else None,
        good=worst is None or abs(worst.whole.final_offset_ns) <= allowed_offset_ns,
        sentence=_sentence(worst),
    )


def lag(tables: Tables) -> Offsets | None:
    """Return true guest time against the host's, where both are known."""
    readings = tables.readings
    readings = readings[(readings["guest_ns"] != UNKNOWN) & (readings["host_ns"] != UNKNOWN)]
    if not len(readings):
        return None
    return _offsets(readings["guest_ns"] - readings["host_ns"], readings["host_ns"])


def _sentence(worst: ClockDrift | None) -> str:
    if worst is None:
        return "No clock was compared with true time."
    whole = worst.whole
    name = "the host" if worst.reference == "host" else "true guest time"
    side = "behind" if whole.final_offset_ns < 0 else "ahead of"
    fitted = "" if whole.rate_ppm is None else f" and ran at {rate(whole.rate_ppm)}"
    return f"{worst.source} ended {duration(abs(whole.final_offset_ns))} {side} {name}{fitted}."


def _clock(tables: Tables, source: int, reference: str) -> ClockDrift | None:
    readings = tables.readings_of(source)
    column = f"{reference}_ns"
    readings = readings[readings[column] != UNKNOWN]
    if not len(readings):
        return None
    time = readings[column]
    offsets = readings["said_ns"] - readings["said_ns"][:1] + _anchor(readings, column) - time
    return ClockDrift(
        source=tables.sources[source],
        reference=reference,
        whole=_offsets(offsets, time),
        phases={
            tables.phases[phase]: _offsets(offsets[inside], time[inside])
            for phase in _in_order(readings["phase"])
            if np.any(inside := readings["phase"] == phase)
        },
    )


def _anchor(readings: Table, column: str) -> Ints:
    """Return the true time of the first reading, for the clock's zero."""
    guest_known = readings["guest_ns"][0] != UNKNOWN
    anchor: Ints = readings["guest_ns" if guest_known else column][:1]
    return anchor


def _in_order(phases: npt.NDArray[np.uint16]) -> list[int]:
    return list(dict.fromkeys(phases.tolist()))


def _offsets(offsets: Ints, time: Ints) -> Offsets:
    elapsed_ns = int(time[-1]) - int(time[0])
    return Offsets(
        readings=len(time),
        elapsed_ns=elapsed_ns,
        rate_ppm=fitted_ppm(offsets, time),
        end_to_end_ppm=1e6 * (int(offsets[-1]) - int(offsets[0])) / elapsed_ns if elapsed_ns else None,
        final_offset_ns=_final(offsets, time),
        max_offset_ns=int(np.abs(offsets).max()),
    )


def _final(offsets: Ints, time: Ints) -> int:
    """Return the smallest offset of the last tenth of the time, at most a second; the latest of equals.

    An instant inside a stall of the host is late in any guest; whether its clock comes back is the question.
    """
    end_ns = min(FINAL_NS, (int(time[-1]) - int(time[0])) // 10)
    recent = offsets[time > time[-1] - end_ns][::-1]
    return int(recent[np.abs(recent).argmin()]) if len(recent) else int(offsets[-1])


def fitted_ppm(offsets_ns: Ints, time_ns: Ints) -> float | None:
    """Return the repeated-median slope of ``offsets_ns`` over ``time_ns`` in parts per million."""
    chosen = np.unique(np.linspace(0, len(time_ns) - 1, _FIT_READINGS).astype(int))
    x = (time_ns[chosen] - time_ns[0]).astype(float)
    y = (offsets_ns[chosen] - offsets_ns[0]).astype(float)
    run = x[:, None] - x[None, :]
    rise = y[:, None] - y[None, :]
    slopes = [rise[row][apart] / run[row][apart] for row, apart in enumerate(run != 0) if np.any(apart)]
    if not slopes:
        return None
    return 1e6 * float(np.median([np.median(of_reading) for of_reading in slopes]))
