"""Replays recordings of real chips kept beside the checkout, where there are any."""

from pathlib import Path

import pytest
from vector_text import read_vectors, replay

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise

RECORDINGS = Path(__file__).parents[3] / "shared" / "vectors"

# File, how many vectors and checked reads it has.
FILES = [
    ("vic20-timers.txt", 100, 25_600),
    ("bbc.txt", 12, 27),
    ("mockingboard.txt", 33, 361),
    ("vic20-sr-pb7.txt", 23, 2_752),
]

if RECORDINGS.is_dir():

    @pytest.mark.parametrize("kind", [Mos6522, Mos6522Stepwise])
    @pytest.mark.parametrize(("file", "vectors", "reads"), FILES)
    def test_recordings(kind: type[Mos6522 | Mos6522Stepwise], file: str, vectors: int, reads: int) -> None:
        replayed = [replay(vector, kind()) for vector in read_vectors(RECORDINGS / file)]
        assert (len(replayed), sum(replayed)) == (vectors, reads)
