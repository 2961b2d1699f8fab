"""Which runs go into one program: first what nobody has recorded, then pins, then the rest."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from guestclock.conformance import library
from guestclock.conformance.capture.machine import Batch
from guestclock.conformance.capture.program6502 import RESULTS_MOST, results_bytes
from guestclock.conformance.capture.runs import Run, Socket, runs
from guestclock.conformance.vector import Check, Drive, Vector

UNRECORDED_FACTS = (7, 8)
URGENCIES = 3


def urgency(vector: Vector) -> int:
    """Return how soon a vector's turn comes."""
    if vector.fact in UNRECORDED_FACTS:
        return 0
    return 1 if any(isinstance(step, Check | Drive) for step in vector.steps) else 2


def batches(
    socket: Socket,
    code: Callable[[Sequence[Run]], bytes],
    file: Callable[[Sequence[Run]], bytes],
    most_bytes: int,
    most_results: int,
) -> list[Batch]:
    """Return the package's vectors as programs that a machine has room for.

    ``code`` makes what must fit into ``most_bytes``, ``file`` what the owner is given.  A batch ends where
    the next urgency begins, so that the most wanted one is not longer to copy than it must be.
    """
    found: list[Batch] = []
    vectors = library.packaged()
    for level in range(URGENCIES):
        every = runs((vector for vector in vectors if urgency(vector) == level), socket)
        split = _split(every, code, most_bytes, min(most_results, RESULTS_MOST))
        found += [Batch(batch, file(batch)) for batch in split]
    return found


def _split(
    every: Iterable[Run], code: Callable[[Sequence[Run]], bytes], most_bytes: int, most_results: int
) -> Iterator[list[Run]]:
    empty = len(code([]))
    batch: list[Run] = []
    room = most_bytes - empty
    for run in every:
        taken = len(code([run])) - empty  # programs are straight: one run's code does not depend on others
        if batch and (room < taken or results_bytes([*batch, run]) > most_results):
            yield batch
            batch, room = [], most_bytes - empty
        batch.append(run)
        room -= taken
    if batch:
        yield batch
