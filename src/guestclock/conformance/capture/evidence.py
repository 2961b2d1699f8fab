"""What a captured machine said, as vectors that say what it showed."""

import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from guestclock.conformance.capture.runs import Run
from guestclock.conformance.text_format import write_text
from guestclock.conformance.vector import Check, Read, Step, Vector
from guestclock.errors import BadInputError

FINGERPRINT_BYTES = 2


def fingerprint(runs: Sequence[Run]) -> bytes:
    """Return two bytes by which what a program printed tells which runs it did."""
    return binascii.crc_hqx(write_text(run.vector for run in runs).encode(), 0).to_bytes(
        FINGERPRINT_BYTES, "big"
    )


def recorded(said: str, name: str, batches: Sequence[Sequence[Run]], who: str) -> list[Vector]:
    """Return the vectors of the batch that said this, with what was seen; ``who`` ran them, on which chip.

    ``name`` is the text's, for errors.  Raises :class:`BadInputError` if digits are missing or mistyped, or
    come from no program that this version writes.
    """
    digits = re.sub(r"\s", "", said)
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        raise BadInputError(f"{name}: holds something else than pairs of hexadecimal digits") from None
    batch = next((runs for runs in batches if fingerprint(runs) == found[:FINGERPRINT_BYTES]), None)
    if batch is None:
        raise BadInputError(
            f"{name}: {found[:FINGERPRINT_BYTES].hex() or 'nothing'} begins the output of none of this"
            " version's programs for the machine"
        )
    count = FINGERPRINT_BYTES + sum(run.results for run in batch)
    if len(found) != count + 1:
        raise BadInputError(f"{name}: {len(found)} bytes instead of {count} results and their sum")
    if sum(found[:-1]) & 0xFF != found[-1]:
        raise BadInputError(
            f"{name}: the sum of the bytes is {sum(found[:-1]) & 0xFF:02x}, not {found[-1]:02x}"
        )
    answers = iter(found[FINGERPRINT_BYTES:])
    return [as_recorded(run, answers, who) for run in batch]


def as_recorded(run: Run, answers: Iterator[int], who: str) -> Vector:
    """Return a run's vector with what was seen, taken from ``answers``."""
    steps = tuple(_answered(run, answers))
    return replace(run.vector, steps=steps, grade="recorded", source=who, hardware_run=who)


def _answered(run: Run, answers: Iterator[int]) -> Iterator[Step]:
    for step, op in zip(run.vector.steps, run.ops, strict=True):
        if not op.gives:
            yield step
            continue
        answer = next(answers) & op.mask
        if op.mask & (op.mask - 1) == 0:
            answer = int(answer != 0)
        assert isinstance(step, Read | Check)
        yield step._replace(values=(answer & step.mask,))
