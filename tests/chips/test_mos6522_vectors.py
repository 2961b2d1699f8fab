"""The package's vectors on both forms of the chip: all they show, and what outputs are promised to do."""

import pytest
from programs import Pair
from vector_actions import actions, every_beats

from guestclock.conformance import library
from guestclock.conformance.vector import FEATURES, Vector

LONGEST_CYCLES = 3000
VECTORS = [vector for vector in library.packaged() if actions(vector)[-1][0] < LONGEST_CYCLES]


def of(feature: str) -> list[Vector]:
    return [vector for vector in VECTORS if vector.feature == feature]


@pytest.mark.parametrize("feature", FEATURES)
def test_both_forms_agree_after_every_step(feature: str) -> None:
    vectors = of(feature)
    assert vectors
    for vector in vectors:
        for beats in every_beats(vector):
            pair = Pair(timeout_beats=beats)
            for cycle, action in actions(vector):
                pair.do_at(action, cycle)
