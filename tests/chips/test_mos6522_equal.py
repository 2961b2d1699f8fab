"""The closed form equals the oracle: random programs, compiled and uncompiled."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from programs import ANCHORS, THEMES, Action, Pair, random_program, values_of


@st.composite
def programs(draw: st.DrawFn, min_size: int = 0, max_size: int = 60) -> list[Action]:
    """Draw a program of one theme."""
    theme = draw(st.sampled_from(THEMES))
    program = []
    for _ in range(draw(st.integers(min_size, max_size))):
        anchor = draw(st.sampled_from(ANCHORS))
        gap = draw(st.integers(0, 40) if anchor == "now" else st.integers(-2, 4))
        kind = draw(st.sampled_from(theme.kinds))
        register = draw(st.sampled_from(theme.registers))
        value = draw(st.one_of(st.sampled_from(values_of(register, theme)), st.integers(0, 255)))
        program.append(Action(anchor, gap, kind, register, value))
    return program


@settings(max_examples=60, deadline=None)
@given(programs(), st.integers(0, 0x3F), st.sampled_from(["nmos", "cmos"]))
@example([], 0, "nmos")
def test_programs(program: list[Action], timeout_beats: int, variant: str) -> None:
    pair = Pair(variant, timeout_beats)
    for action in program:
        pair.do(action)


@settings(max_examples=6, deadline=None)
@given(programs(max_size=12), st.integers(2**10, 2**17), programs(max_size=12))
def test_programs_with_a_long_gap(before: list[Action], gap: int, after: list[Action]) -> None:
    pair = Pair()
    for action in [*before, Action("now", gap, "wait", 0, 0), *after]:
        pair.do(action)


@pytest.mark.parametrize("seed", range(8))
def test_programs_that_go_on(seed: int, pytestconfig: pytest.Config) -> None:
    """Long programs reach states that short ones do not; ``--chip-steps`` makes them longer."""
    rng = random.Random(seed)
    pair = Pair(timeout_beats=rng.randrange(0x40))
    for action in random_program(rng, pytestconfig.getoption("--chip-steps") // 8, longest_gap=100):
        pair.do(action)
