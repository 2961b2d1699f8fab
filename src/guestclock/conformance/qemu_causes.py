"""Why a QEMU's VIA fails a vector: which of its deviations, by what our model shows without them.

The set of deviations is the named one whose model gives the most vectors the answers that were seen.  In a
vector, the causes are the fewest deviations without which the model gets past the first difference, or else
those without which it has that one answer right and an earlier one wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from guestclock.chips.qemu_deviations import SETS, Deviation
from guestclock.chips.qemu_via import Wiring
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


def diagnose(results: Sequence[Result], wiring: Wiring) -> Diagnosis:
    """Find the set of deviations behind the answers, and the causes of each failure."""
    ran = [result for result in results if result.answers]
    agreeing = {deviations: _agreeing(ran, deviations, wiring) for deviations in dict.fromkeys(SETS.values())}
    best = max(agreeing.values())
    sets = tuple(name for name, deviations in SETS.items() if agreeing[deviations] == best)
    causes = {
        result.vector.name: causes_of(result.vector, result.answers, SETS[sets[0]], wiring)
        for result in ran
        if result.outcome is Outcome.FAILED
    }
    return Diagnosis(sets, best, len(ran), causes)


def _agreeing(ran: Sequence[Result], deviations: Deviation, wiring: Wiring) -> int:
    return sum(
        _alike(each.vector, run_deviating(each.vector, deviations, wiring), each.answers) for each in ran
    )


def _alike(vector: Vector, some: Sequence[int], others: Sequence[int]) -> bool:
    """Tell whether answers are the same in the bits that matter."""
    masks = [step.mask if step.values else 0 for step in observed(vector.steps)]
    return all((one ^ other) & mask == 0 for one, other, mask in zip(some, others, masks, strict=False))


def causes_of(vector: Vector, answers: Sequence[int], deviations: Deviation, wiring: Wiring) -> Causes:
    """Return why a VIA with these deviations gave these answers."""
    shown = run_deviating(vector, deviations, wiring)
    at = first_difference(vector, answers)
    if at is None or not _alike(vector, shown, answers[: at + 1]):
        return ()
    without = _Without(vector, at, deviations, wiring)
    removable = [deviation for deviation in deviations if deviation is not TIMELESS]
    single, pairs = ([_join(some) for some in combinations(removable, count)] for count in (1, 2))
    past, right = without.gets_past, without.is_right
    for candidates, helps in ((single, past), (pairs, past), (single, right)):
        found = [each for each in candidates if helps(each)]
        if found:
            return tuple(each for each in found if INCLUDED.get(each) not in found)
    others = _join(removable)
    return (others if past(others) else TIMELESS,)


def _join(deviations: Sequence[Deviation]) -> Deviation:
    joined = Deviation(0)
    for deviation in deviations:
        joined |= deviation
    return joined


class _Without:
    """The model of a VIA without some of its deviations, at the first difference of a vector."""

    def __init__(self, vector: Vector, at: int, deviations: Deviation, wiring: Wiring) -> None:
        self._vector, self._at = vector, at
        self._deviations, self._wiring = deviations, wiring

    def _shown(self, missing: Deviation) -> Sequence[int]:
        return run_deviating(self._vector, self._deviations & ~missing, self._wiring)

    def gets_past(self, missing: Deviation) -> bool:
        """Tell whether all is right up to there and there."""
        difference = first_difference(self._vector, self._shown(missing))
        return difference is None or difference > self._at

    def is_right(self, missing: Deviation) -> bool:
        """Tell whether the answer there is right."""
        return accepts(observed(self._vector.steps)[self._at], self._shown(missing)[self._at])
