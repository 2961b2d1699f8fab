"""Runs vectors on a target and judges what it shows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from guestclock.conformance.targets import Answers, CannotRunError, Target, TargetBrokeError
from guestclock.conformance.vector import Check, Read, Vector, needs, observed


class Outcome(StrEnum):
    """What became of a vector."""

    PASSED = "passed"
    FAILED = "failed"
    BROKE = "broke"
    """The target hung, died or answered rubbish: counts as failed."""
    NOT_APPLICABLE = "not-applicable"
    """The target, or this variant of the chip, lacks what it is about: does not count."""
    CONTESTED = "contested"
    """The recordings disagree, and the target gave one of their values: does not count."""


BAD = frozenset({Outcome.FAILED, Outcome.BROKE})


@dataclass(frozen=True)
class Result:
    """A vector's outcome; ``answers`` are those of its reads and checks, empty if it was not run."""

    vector: Vector
    outcome: Outcome
    answers: Sequence[int] = ()
    note: str = ""
    """Why it was not run, how the target broke, or which of the contested values it gave."""


def run(vectors: Sequence[Vector], target: Target, variant: str) -> Iterator[Result]:
    """Yield the results of the vectors, in their order."""
    missing = [_missing(vector, target.has, variant) for vector in vectors]
    applicable = (vector for vector, lack in zip(vectors, missing, strict=True) if not lack)
    answered = target.run(applicable)
    for vector, lack in zip(vectors, missing, strict=True):
        if lack:
            yield Result(vector, Outcome.NOT_APPLICABLE, note=lack)
        else:
            yield judge(vector, next(answered))


def _missing(vector: Vector, has: frozenset[str], variant: str) -> str:
    if variant not in vector.chips:
        return f"holds for {', '.join(vector.chips)} only"
    lacks = needs(vector) - has
    return f"target lacks: {' '.join(sorted(lacks))}" if lacks else ""


def judge(vector: Vector, answers: Answers | TargetBrokeError) -> Result:
    """Compare what a target showed with what it had to show."""
    if isinstance(answers, CannotRunError):
        return Result(vector, Outcome.NOT_APPLICABLE, note=str(answers))
    if isinstance(answers, TargetBrokeError):
        return Result(vector, Outcome.BROKE, note=str(answers))
    if first_difference(vector, answers) is not None:
        return Result(vector, Outcome.FAILED, answers)
    if vector.grade == "contested":
        return Result(vector, Outcome.CONTESTED, answers, _which(vector, answers))
    return Result(vector, Outcome.PASSED, answers)


def accepts(step: Read | Check, answer: int) -> bool:
    """Tell whether a read or check may have this outcome."""
    if not step.values:
        return True
    return any((answer ^ value) & step.mask == 0 for value in step.values)


def first_difference(vector: Vector, answers: Sequence[int]) -> int | None:
    """Return which of the reads and checks first shows what it must not, or None."""
    steps = observed(vector.steps)
    return next(
        (number for number, pair in enumerate(zip(steps, answers, strict=True)) if not accepts(*pair)), None
    )


def _which(vector: Vector, answers: Sequence[int]) -> str:
    """Return which recordings a target sides with: the first value of each contested step is our default."""
    chosen = {
        next(index for index, value in enumerate(step.values) if (answer ^ value) & step.mask == 0)
        for step, answer in zip(observed(vector.steps), answers, strict=True)
        if len(step.values) > 1
    }
    return {frozenset({0}): "as our default", frozenset({0, 1}): "mixed"}.get(
        frozenset(chosen), "the other way"
    )


def placement_error(results: Iterable[Result]) -> int:
    """Return by how many cycles the target places its accesses late, if that is all that is wrong with them.

    A count that is read too low by one was read one cycle late.  0 when placement is right, or cannot
    be told because the calibration vectors differ in another way.
    """
    shifts = set()
    for result in results:
        if result.vector.feature != "calibration" or not result.answers:
            continue
        for step, answer in zip(observed(result.vector.steps), result.answers, strict=True):
            if step.values:
                shifts.add((step.values[0] - answer + 0x80) % 0x100 - 0x80)
    return shifts.pop() if len(shifts) == 1 else 0


def exit_status(results: Iterable[Result]) -> int:
    """Return 0 if everything that counts has passed, else 1."""
    return int(any(result.outcome in BAD for result in results))
