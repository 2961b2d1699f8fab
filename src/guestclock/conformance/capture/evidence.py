"""What a captured machine printed, as vectors that say what it showed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from guestclock.conformance.vector import Read, Step, Vector, observed
from guestclock.errors import BadInputError


def recorded(printed: str, name: str, vectors: Sequence[Vector], who: str) -> list[Vector]:
    """Return the vectors expecting what was printed; ``who`` ran them, on which chip.

    ``name`` is the file's, for errors.  Raises :class:`BadInputError` if digits are missing or mistyped.
    """
    digits = "".join(printed.split())
    count = sum(len(observed(vector.steps)) for vector in vectors)
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        raise BadInputError(f"{name}: holds something else than pairs of hexadecimal digits") from None
    if len(found) != count + 1:
        raise BadInputError(f"{name}: {len(found)} bytes instead of {count} results and their sum")
    if sum(found[:-1]) & 0xFF != found[-1]:
        raise BadInputError(
            f"{name}: the sum of the bytes is {sum(found[:-1]) & 0xFF:02x}, not {found[-1]:02x}"
        )
    answers = iter(found)
    return [
        replace(
            vector,
            steps=tuple(_answered(vector.steps, answers)),
            grade="recorded",
            source=who,
            hardware_run=who,
        )
        for vector in vectors
    ]


def _answered(steps: Sequence[Step], answers: Iterator[int]) -> Iterator[Step]:
    for step in steps:
        if not isinstance(step, Read):
            yield step
            continue
        answer = next(answers)
        yield step._replace(values=(answer & step.mask,)) if step.values else step
