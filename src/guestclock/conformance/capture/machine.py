"""What every machine of the kit has: programs that run vectors on a real 6522, and a way back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from guestclock.conformance.capture.evidence import recorded
from guestclock.conformance.capture.runs import Run
from guestclock.conformance.vector import Vector


@dataclass(frozen=True)
class Batch:
    """The runs of one program, and the file that the machine is given."""

    runs: Sequence[Run]
    program: bytes


@dataclass(frozen=True)
class Machine:
    """A machine with a real 6522."""

    name: str
    title: str
    """The machine, and which of its chips is asked."""
    steps: str
    """How its owner runs the program and where the output goes."""
    batches: Callable[[], Sequence[Batch]]
    """Its programs, the most wanted first."""

    def read(self, said: str, name: str, who: str) -> list[Vector]:
        """Return the vectors that one of its programs ran, expecting what it saw.

        ``said`` is what the program said, ``name`` that text's for errors, ``who`` ran it on which chip.
        Raises :class:`~guestclock.errors.BadInputError` if the text is damaged.
        """
        return recorded(said, name, [batch.runs for batch in self.batches()], who)
