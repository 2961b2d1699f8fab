"""Files of vectors, and their replay on a chip with an assertion that says where it went wrong."""

from collections.abc import Iterator
from pathlib import Path

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.conformance.document import describe
from guestclock.conformance.runner import first_difference
from guestclock.conformance.targets import OurChip, run_on
from guestclock.conformance.text_format import expected_text, read_text
from guestclock.conformance.vector import Vector, cycle_of, observed

__all__ = ["Vector", "read_vectors", "replay"]


def read_vectors(path: Path) -> Iterator[Vector]:
    return read_text(path.read_text(), path.name)


def replay(vector: Vector, chip: Mos6522 | Mos6522Stepwise) -> int:
    """Check every read of the vector; return how many values were checked."""
    answers = run_on(OurChip(chip), vector)
    steps = observed(vector.steps)
    wrong = first_difference(vector, answers)
    if wrong is not None:
        step = steps[wrong]
        raise AssertionError(
            f"{vector.name}: cycle {cycle_of(step)}, {describe(step)}: "
            f"{answers[wrong]:02x} instead of {expected_text(step)}"
        )
    return sum(bool(step.values) for step in steps)
