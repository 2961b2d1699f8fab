"""What every machine of the kit has: the vectors it can run, a program of them, and a way back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from guestclock.conformance import library
from guestclock.conformance.capture.evidence import recorded
from guestclock.conformance.vector import Vector

UNRECORDED_FACTS = (7, 8)


@dataclass(frozen=True)
class Machine:
    """A machine with a real 6522.

    ``read`` takes what its program said, that text's name for errors, the vectors and who ran them; it
    returns the vectors expecting what was seen, and raises :class:`~guestclock.errors.BadInputError` if
    the text is damaged.
    """

    name: str
    title: str
    """The machine, and which of its chips is asked."""
    steps: str
    """How its owner runs the program and where the output goes."""
    vectors: Callable[[], list[Vector]]
    """The vectors that it runs, retimed for it."""
    program: Callable[[Sequence[Vector]], bytes]
    """The file that runs them."""
    read: Callable[[str, str, Sequence[Vector], str], list[Vector]] = recorded


def unrecorded() -> list[Vector]:
    """Return the package's vectors of the timeout's own cycle, recorded nowhere or in two ways."""
    return [vector for vector in library.packaged() if vector.fact in UNRECORDED_FACTS]
