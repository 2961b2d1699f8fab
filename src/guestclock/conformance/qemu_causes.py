"""Why a QEMU's VIA fails a vector: which of its deviations, by what our model shows without them.

The set of deviations is the named one whose model gives the most vectors the answers that were seen.  In a
vector, the causes are the fewest deviations without which the model gets past the first difference, or else
those without which it has that one answer right and an earlier one wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from guestclock.chips.qemu_deviations import SETS, Deviation
from guestclock.conformance.qemu_model import run_deviating
from guestclock.conformance.runner import Outcome, Result, accepts, first_difference
from guestclock.conformance.vector import Vector, observed

TIMELESS = Deviation.ACCESS_TAKES_NO_TIME
"""The one that no model of QEMU is without; it is at work where taking away all others does not help."""

# A model without the one takes its counts from a state that has none of the other either.
INCLUDED = {Deviation.FLAG_AT_ZERO: Deviation.SHORT_RELOAD}

Causes = tuple[Deviation, ...]
"""Alternatives, each one or several deviations together.  Empty: nothing that the model knows."""


@dataclass(frozen=True)
class Diagnosis:
    """Models of ``sets`` gave ``agreeing`` of ``asked`` vectors their answers; ``causes`` by vector name."""

    sets: tuple[str, ...]
    agreeing: int
    asked: int
    causes: Mapping[str, Causes]


def diagnose(results: Sequence[Result]) -> Diagnosis:
    """Find the set of deviations behind the answers, and the causes of each failure."""
    ran = [result for result in results if result.answers]
    agreeing = {deviations: _agreeing(ran, deviations) for deviations in dict.fromkeys(SETS.values())}
    best = max(agreeing.values())
    sets = tuple(name for name, deviations in SETS.items() if agreeing[deviations] == best)
    causes = {
        result.vector.name: causes_of(result.vector, result.answers, SETS[sets[0]])
        for result in ran
        if result.outcome is Outcome.FAILED
    }
    return Diagnosis(sets, best, len(ran), causes)


def _agreeing(ran: Sequence[Result], deviations: Deviation) -> int:
    return sum(_alike(each.vector, run_deviating(each.vector, deviations), each.answers) for each in ran)


def _alike(vector: Vector, some: Sequence[int], others: Sequence[int]) -> bool:
    """Tell whether answers are the same in the bits that matter."""
    masks = [step.mask for step in observed(vector.steps)]
    return all((one ^ other) & mask == 0 for one, other, mask in zip(some, others, masks, strict=False))


def causes_of(vector: Vector, answers: Sequence[int], deviations: Deviation) -> Causes:
    """Return why a VIA with these deviations gave these answers."""
    at = first_difference(vector, answers)
    if at is None or not _alike(vector, run_deviating(vector, deviations), answers[: at + 1]):
        return ()
    removable = [deviation for deviation in deviations if deviation is not TIMELESS]
    single, pairs = ([_join(some) for some in combinations(removable, count)] for count in (1, 2))
    for candidates, helps in ((single, _gets_past), (pairs, _gets_past), (single, _is_right)):
        found = [each for each in candidates if helps(vector, at, deviations & ~each)]
        if found:
            return tuple(each for each in found if INCLUDED.get(each) not in found)
    if not _gets_past(vector, at, TIMELESS):
        return (TIMELESS,)
    return (_join(_needed(vector, at, deviations, removable)),)


def _join(deviations: Sequence[Deviation]) -> Deviation:
    joined = Deviation(0)
    for deviation in deviations:
        joined |= deviation
    return joined


def _gets_past(vector: Vector, at: int, deviations: Deviation) -> bool:
    difference = first_difference(vector, run_deviating(vector, deviations))
    return difference is None or difference > at


def _is_right(vector: Vector, at: int, deviations: Deviation) -> bool:
    return accepts(observed(vector.steps)[at], run_deviating(vector, deviations)[at])


def _needed(
    vector: Vector, at: int, deviations: Deviation, removable: Sequence[Deviation]
) -> list[Deviation]:
    """Return deviations none of which can stay: all, less each that makes no difference in turn."""
    needed = list(removable)
    for deviation in removable:
        fewer = [other for other in needed if other is not deviation]
        if _gets_past(vector, at, deviations & ~_join(fewer)):
            needed = fewer
    return needed
