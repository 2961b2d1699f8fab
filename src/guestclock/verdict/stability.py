"""How does a clock's error move, and over what time?

A rate and a final offset say where a clock went; these figures say how unsteadily it went there.  MTIE is
the most that its error moved within any time τ; TDEV and Allan deviation are the usual measures of the
noise at τ, which a constant rate leaves untouched.  They are figures: what is steady enough depends on
the use.
"""

from dataclasses import dataclass

import numpy as np

from guestclock.readings import UNKNOWN, Tables
from guestclock.readings.schema import Table
from guestclock.verdict.deviations import Floats, Ints, adev, even, mtie_ns, tdev_ns
from guestclock.verdict.facts import truth
from guestclock.verdict.quantities import count, duration

LEAST_POINTS = 10
"""So many evenly spaced points, or no curve: fewer would not give two τ with deviations."""

_SECOND_NS = 1_000_000_000
_TIMES_FIT = 4
"""A deviation at τ is given where τ fits into the time so often; over fewer it says little of the clock."""


@dataclass(frozen=True)
class At:
    """The figures at one τ; the deviations are None where τ is over a quarter of the time."""

    tau_ns: int
    mtie_ns: int
    tdev_ns: float | None
    adev_ppm: float | None


@dataclass(frozen=True)
class Steadiness:
    """One clock against one reference over one stretch.

    ``points`` evenly spaced points, ``spacing_ns`` apart, were made of the readings; the curve has a row
    for each octave of τ from there.  Where there are too few, the curve is empty and ``refused`` says why.
    ``mtie_1s_ns`` is None where the stretch is shorter than a second.
    """

    readings: int
    elapsed_ns: int
    points: int
    spacing_ns: int
    mtie_1s_ns: int | None
    curve: tuple[At, ...]
    refused: str | None


@dataclass(frozen=True)
class ClockStability:
    """One clock against one reference (``host`` or ``guest``): the whole run, and each phase by name."""

    source: str
    reference: str
    whole: Steadiness
    phases: dict[str, Steadiness]


@dataclass(frozen=True)
class Stability:
    """Every clock against every reference that is known; ``good`` is always true.

    ``reference`` is the time that the clocks should have followed.
    """

    clocks: tuple[ClockStability, ...]
    reference: str
    good: bool
    sentence: str


def judge(tables: Tables) -> Stability:
    """Return how steadily every clock went against the host and against true guest time."""
    clocks = tuple(
        ClockStability(
            tables.sources[source],
            reference,
            _steadiness(readings, reference),
            {
                tables.phases[phase]: _steadiness(readings[readings["phase"] == phase], reference)
                for phase in dict.fromkeys(readings["phase"].tolist())
            },
        )
        for source in range(len(tables.sources))
        for reference in ("host", "guest")
        if len(readings := _known(tables.readings_of(source), reference))
    )
    reference = truth(tables)
    if clocks and all(clock.reference != reference for clock in clocks):
        reference = clocks[0].reference
    return Stability(clocks=clocks, reference=reference, good=True, sentence=_sentence(clocks, reference))


def of_phase(tables: Tables, phase: str, reference: str = "host") -> dict[str, Steadiness]:
    """Return the steadiness in one phase of every clock that was read in it, by name."""
    if phase not in tables.phases:
        return {}
    number = tables.phases.index(phase)
    read = {name: _known(tables.readings_of(source), reference) for source, name in enumerate(tables.sources)}
    inside = {name: readings[readings["phase"] == number] for name, readings in read.items()}
    return {name: _steadiness(readings, reference) for name, readings in inside.items() if len(readings)}


def _known(readings: Table, reference: str) -> Table:
    """Return the readings whose true time is known, by that time."""
    column = f"{reference}_ns"
    readings = readings[readings[column] != UNKNOWN]
    ordered: Table = readings[np.argsort(readings[column], kind="stable")]
    return ordered


def _steadiness(readings: Table, reference: str) -> Steadiness:
    time_ns: Ints = readings[f"{reference}_ns"]
    error_ns: Ints = readings["said_ns"] - time_ns
    elapsed_ns = int(time_ns[-1]) - int(time_ns[0])
    spacing_ns, phase_ns = even(time_ns, error_ns) if elapsed_ns else (0, np.zeros(1))
    return Steadiness(
        readings=len(readings),
        elapsed_ns=elapsed_ns,
        points=len(phase_ns),
        spacing_ns=spacing_ns,
        mtie_1s_ns=mtie_ns(time_ns, error_ns, [_SECOND_NS])[0] if elapsed_ns >= _SECOND_NS else None,
        curve=_curve(time_ns, error_ns, spacing_ns, phase_ns) if len(phase_ns) >= LEAST_POINTS else (),
        refused=None if len(phase_ns) >= LEAST_POINTS else _refusal(len(phase_ns), spacing_ns),
    )


def _curve(time_ns: Ints, error_ns: Ints, spacing_ns: int, phase_ns: Floats) -> tuple[At, ...]:
    intervals = len(phase_ns) - 1
    octaves = [1 << power for power in range(intervals.bit_length())]
    extremes = mtie_ns(time_ns, error_ns, [m * spacing_ns for m in octaves])
    return tuple(
        At(
            tau_ns=m * spacing_ns,
            mtie_ns=extreme,
            tdev_ns=tdev_ns(phase_ns, m) if _TIMES_FIT * m <= intervals else None,
            adev_ppm=1e6 * adev(phase_ns, m, spacing_ns) if _TIMES_FIT * m <= intervals else None,
        )
        for m, extreme in zip(octaves, extremes, strict=True)
    )


def _refusal(points: int, spacing_ns: int) -> str:
    if not spacing_ns:
        return "no time passed between the readings"
    return (
        f"the readings give {count(points, 'point')} {duration(spacing_ns)} apart (the longest gap between"
        f" two), a curve needs {LEAST_POINTS}"
    )


def _sentence(clocks: tuple[ClockStability, ...], reference: str) -> str:
    name = "the host" if reference == "host" else "true guest time"
    moved = [
        (clock.whole.mtie_1s_ns, clock.source)
        for clock in clocks
        if clock.reference == reference and clock.whole.mtie_1s_ns is not None
    ]
    if not moved:
        return "No clock was followed for a second."
    worst_ns, source = max(moved)
    return f"Within any second, {source} moved against {name} by {duration(worst_ns)} at most."
