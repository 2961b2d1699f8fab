"""Cycles and ns: exact against rational arithmetic, for any rate and over 146 years."""

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from guestclock.timebase.rate import NS_MAX, CycleCursor, Rate

RATES = st.one_of(
    st.sampled_from(
        [Fraction(783360), Fraction(2 * 783360), Fraction(10**9, 16625800), Fraction(1), Fraction(10**9)]
    ),
    st.fractions(min_value=Fraction(1, 1000), max_value=10**9, max_denominator=1000),
)
INSTANTS = st.one_of(st.integers(0, 10**7), st.integers(0, NS_MAX))


def make(hz: Fraction) -> Rate:
    try:
        return Rate(hz)
    except ValueError:
        assume(False)
        raise


@given(RATES, INSTANTS)
def test_cycle_at_is_the_rounded_down_quotient(hz: Fraction, ns: int) -> None:
    assert make(hz).cycle_at(ns) == floor(ns * hz / 10**9)


@given(RATES, INSTANTS)
def test_start_is_the_first_whole_ns_of_its_cycle(hz: Fraction, ns: int) -> None:
    rate = make(hz)
    cycle = floor(ns * hz / 10**9)
    start_ns = rate.start_ns(cycle)
    assert start_ns == ceil(Fraction(cycle * 10**9) / hz)
    assert rate.cycle_at(start_ns) >= cycle
    if start_ns > 0:
        assert rate.cycle_at(start_ns - 1) < cycle


def test_the_quadras_clock_loses_nothing_in_146_years() -> None:
    rate = Rate(783360)
    cycle = 783360 * 86400 * 365 * 146
    assert rate.start_ns(cycle) == 10**9 * 86400 * 365 * 146
    assert rate.cycle_at(10**9 * 86400 * 365 * 146) == cycle


@pytest.mark.parametrize("hz", [0, -1])
def test_a_rate_is_positive(hz: int) -> None:
    with pytest.raises(ValueError, match="is not a rate"):
        Rate(hz)


def test_a_rate_too_fine_for_exact_arithmetic_is_refused() -> None:
    with pytest.raises(ValueError, match="fewer digits"):
        Rate(Fraction(10**12 + 1, 10**6 + 3))


@given(RATES, st.lists(st.tuples(st.booleans(), st.integers(0, 40), st.integers(0, 2**40)), max_size=30))
def test_a_cursor_is_where_the_rate_says(hz: Fraction, moves: list[tuple[bool, int, int]]) -> None:
    rate = make(hz)
    cursor = CycleCursor(rate)
    for by_cycle, small, large in moves:
        step = small if small % 2 else large
        if by_cycle:
            target = min(cursor.cycle + step, floor(NS_MAX * hz / 10**9) - 2)
            before = cursor.cycle
            cursor.seek_cycle(target)
            assert cursor.cycle == max(before, target)
        else:
            ns = cursor.start_ns + step
            before = cursor.cycle
            assert cursor.seek_ns(ns) == max(before, floor(ns * hz / 10**9))
        assert cursor.start_ns == rate.start_ns(cursor.cycle)
        assert cursor.end_ns == rate.start_ns(cursor.cycle + 1)
