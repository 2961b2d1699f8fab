"""Times too long for the oracle: one jump equals any chain of jumps, and periods repeat."""

import functools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import Pair, random_program

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.registers import (
    ACR,
    ACR_T1_FREE_RUN,
    ACR_T1_PB7,
    IER,
    SR_OUT_FREE,
    T1CH,
    T1CL,
    T2CH,
    T2CL,
    WATCH_IRQ,
    WATCH_PB7,
)

FARTHEST = 2**40
YEARS_LATER = 2**61


@functools.cache
def state_after(seed: int) -> dict[str, Any]:
    """Return the state that a random program leaves."""
    rng = random.Random(seed)
    pair = Pair(timeout_beats=rng.randrange(64))
    for action in random_program(rng, 40, longest_gap=30):
        pair.do(action)
    return pair.closed.snapshot()


def chip_in(state: dict[str, Any]) -> Mos6522:
    chip = Mos6522()
    chip.restore(state)
    return chip


def twin(chip: Mos6522) -> Mos6522:
    return chip_in(chip.snapshot())


SEEDS = st.integers(0, 60)


@settings(max_examples=100, deadline=None)
@given(
    SEEDS,
    st.lists(st.one_of(st.integers(1, 5), st.integers(1, 2**20), st.integers(1, FARTHEST)), max_size=30),
)
def test_split_law(seed: int, gaps: list[int]) -> None:
    jumps, jump = chip_in(state_after(seed)), chip_in(state_after(seed))
    for gap in gaps:
        jumps.advance(jumps.now + gap)
    jump.advance(jump.now + sum(gaps))
    assert jumps.snapshot() == jump.snapshot()


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(0, FARTHEST), st.integers(1, 300))
def test_split_law_down_to_single_cycles(seed: int, far: int, cycles: int) -> None:
    """Far from the start, the closed form stepped cycle by cycle equals one jump."""
    steps = chip_in(state_after(seed))
    steps.advance(steps.now + far)
    jump = twin(steps)
    for _ in range(cycles):
        steps.advance(steps.now + 1)
    jump.advance(steps.now)
    assert steps.snapshot() == jump.snapshot()


@pytest.mark.parametrize("count", [0, 1, 7831, 0xFFFF])
@pytest.mark.parametrize("acr", [ACR_T1_FREE_RUN, ACR_T1_FREE_RUN | ACR_T1_PB7])
@pytest.mark.parametrize("periods", [2, 2**20, 2**40])
def test_free_running_t1_repeats(count: int, acr: int, periods: int) -> None:
    """After an even number of periods all is as before, but for the time and the underflows counted."""
    chip = Mos6522()
    chip.write(IER, 0xC0, 0)
    chip.write(ACR, acr, 1)
    chip.write(T1CL, count & 0xFF, 2)
    chip.write(T1CH, count >> 8, 3)
    chip.advance(3 + 2 * (count + 2))
    later = twin(chip)
    span = periods * (count + 2)
    later.advance(chip.now + span)
    assert later.t1_underflows == chip.t1_underflows + periods
    assert later.t1_flag_half == chip.t1_flag_half + 2 * span
    for register in (T1CL, T1CH, 0xD):
        assert later.read_here(register) == chip.read_here(register)
    assert later.pb7 == chip.pb7
    if acr & ACR_T1_PB7:
        assert later.next_event(WATCH_PB7) == chip.next_event(WATCH_PB7) + 2 * span


@pytest.mark.parametrize("latch", [0, 1, 37, 254, 255])
@pytest.mark.parametrize("periods", [1, 2**22, 2**30])
def test_t2_clocking_the_shift_register_repeats(latch: int, periods: int) -> None:
    """Its low byte has the period latch + 2, both bytes one of 256 times that."""
    chip = Mos6522()
    chip.write(ACR, SR_OUT_FREE, 0)
    chip.write(T2CL, latch, 1)
    chip.write(T2CH, 5, 2)
    chip.advance(100_000)
    later = twin(chip)
    later.advance(chip.now + periods * 256 * (latch + 2))
    assert [later.read_here(r) for r in (T2CL, T2CH)] == [chip.read_here(r) for r in (T2CL, T2CH)]


def test_t2_repeats_after_65536_cycles() -> None:
    chip = chip_in(state_after(0))
    chip.reset(chip.now)
    later = twin(chip)
    later.advance(chip.now + 65536 * 2**24)
    assert [later.read_here(r) for r in (T2CL, T2CH)] == [chip.read_here(r) for r in (T2CL, T2CH)]


def test_cycle_numbers_far_beyond_a_century() -> None:
    """2^61 cycles are 93,000 years of a Quadra's φ2."""
    chip = Mos6522()
    chip.write(ACR, ACR_T1_FREE_RUN, YEARS_LATER)
    chip.write(IER, 0xC0, YEARS_LATER + 1)
    chip.write(T1CL, 20, YEARS_LATER + 2)
    chip.write(T1CH, 0, YEARS_LATER + 3)
    assert chip.next_event(WATCH_IRQ) == 2 * (YEARS_LATER + 3) + 2 * 20 + 3
    assert chip.read(T1CL, YEARS_LATER + 6) == 18
