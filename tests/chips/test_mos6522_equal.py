"""The closed form equals the oracle: random programs, compiled and uncompiled."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from programs import ACR_VALUES, ANCHORS, KINDS, Action, Pair, random_action

from guestclock.chips.registers import ACR, T1CH, T1LH, T2CH

SMALL = st.one_of(st.integers(0, 4), st.integers(0, 255))


@st.composite
def actions(draw: st.DrawFn) -> Action:
    """Draw an action; counters mostly start small, so that programs see many timeouts."""
    anchor = draw(st.sampled_from(ANCHORS))
    gap = draw(st.integers(0, 40) if anchor == "now" else st.integers(-2, 4))
    kind = draw(st.sampled_from(KINDS[:5] * 6 + KINDS))
    register = draw(st.integers(0, 15))
    if register == ACR:
        value = draw(st.sampled_from(ACR_VALUES))
    elif register in (T1CH, T1LH, T2CH):
        value = draw(st.sampled_from([0] * 9 + [1]))
    else:
        value = draw(SMALL)
    return Action(anchor, gap, kind, register, value)


@settings(max_examples=100, deadline=None)
@given(st.lists(actions(), max_size=60), st.integers(0, 0x3F), st.sampled_from(["nmos", "cmos"]))
@example([], 0, "nmos")
def test_programs(program: list[Action], timeout_beats: int, variant: str) -> None:
    pair = Pair(variant, timeout_beats)
    for action in program:
        pair.do(action)


@settings(max_examples=6, deadline=None)
@given(st.lists(actions(), max_size=10), st.integers(2**10, 2**17), st.lists(actions(), max_size=10))
def test_programs_with_a_long_gap(before: list[Action], gap: int, after: list[Action]) -> None:
    pair = Pair()
    for action in [*before, Action("now", gap, "wait", 0, 0), *after]:
        pair.do(action)


@pytest.mark.parametrize("seed", range(4))
def test_programs_that_go_on(seed: int, pytestconfig: pytest.Config) -> None:
    """Long programs reach states that short ones do not; ``--chip-steps`` makes them longer."""
    rng = random.Random(seed)
    pair = Pair(timeout_beats=rng.randrange(0x40))
    for _ in range(pytestconfig.getoption("--chip-steps") // 4):
        pair.do(random_action(rng, longest_gap=100))
