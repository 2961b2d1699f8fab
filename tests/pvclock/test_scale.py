"""The register arithmetic against unbounded integers, and against what a live KVM wrote."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from guestclock.errors import BadInputError
from guestclock.pvclock import exact, scale

U64 = (1 << 64) - 1
EDGES_64 = [0, 1, 2, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, U64 - 1, U64]
u64 = st.one_of(st.sampled_from(EDGES_64), st.integers(0, U64))
u32 = st.one_of(st.sampled_from([e for e in EDGES_64 if e < 1 << 32]), st.integers(0, (1 << 32) - 1))
s8 = st.integers(-63, 63)
hz = st.one_of(
    st.integers(1, (1 << 62) - 1),
    st.integers(1_000_000, 10_000_000_000),
    st.sampled_from([1, 10**9, 2 * 10**9, 2 * 10**9 + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32]),
)


@given(hz, hz)
def test_time_scale_is_the_oracles(scaled_hz: int, base_hz: int) -> None:
    assert scale.time_scale(scaled_hz, base_hz) == exact.time_scale(scaled_hz, base_hz)


@given(st.integers(10_000_000, 60_000_000_000))
def test_a_page_counts_seconds_to_one_part_in_2_to_the_31(tsc_hz: int) -> None:
    mul, shift = scale.time_scale(exact.NSEC_PER_SEC, tsc_hz)
    assert 1 << 31 <= mul < 1 << 32
    halved = max(0, -shift)
    assert abs(exact.page_rate(mul, shift, tsc_hz) - 1) <= exact.Fraction(1 + halved, 1 << 31)


def test_mul_and_shift_of_a_live_kvm_at_2_3_ghz() -> None:
    assert scale.time_scale(exact.NSEC_PER_SEC, 2_300_000_000) == (0xDE9BD37A, -1)


@given(u64, u32, s8)
@example(delta=U64, mul=(1 << 32) - 1, shift=63)
@example(delta=U64, mul=(1 << 32) - 1, shift=-1)
def test_scale_delta_is_the_oracles(delta: int, mul: int, shift: int) -> None:
    assert scale.scale_delta(delta, mul, shift) == exact.scale_delta(delta, mul, shift)


@pytest.mark.parametrize("shift", [-128, -64, 64, 127])
def test_a_shift_over_the_whole_register_leaves_nothing(shift: int) -> None:
    assert scale.scale_delta(U64, (1 << 32) - 1, shift) == 0


@given(u64, u64, u64, u32, s8)
def test_pvclock_ns_is_the_oracles(tsc: int, then: int, system_time: int, mul: int, shift: int) -> None:
    assert scale.pvclock_ns(tsc, then, system_time, mul, shift) == exact.pvclock_ns(
        tsc, then, system_time, mul, shift
    )


@given(u64, u32, s8)
@example(ns=U64, mul=1, shift=-63)
def test_first_delta_is_the_first(ns: int, mul: int, shift: int) -> None:
    assume(mul > 0)
    reachable = (1 << (64 - max(shift, 0))) - 1
    expected = exact.first_delta(ns, mul, shift)
    if expected > reachable:
        with pytest.raises(BadInputError, match="no 64-bit delta"):
            scale.first_delta(ns, mul, shift)
        return
    delta = scale.first_delta(ns, mul, shift)
    assert delta == expected
    assert exact.scale_delta(delta, mul, shift) >= ns
    assert delta == 0 or exact.scale_delta(delta - 1, mul, shift) < ns


@given(u64, st.integers(10_000_000, 60_000_000_000))
def test_scaling_and_its_inverse_bracket_every_tsc_value(delta: int, tsc_hz: int) -> None:
    mul, shift = scale.time_scale(exact.NSEC_PER_SEC, tsc_hz)
    assume(delta < 1 << (63 - max(shift, 0)))
    ns = scale.scale_delta(delta, mul, shift)
    assert scale.first_delta(ns, mul, shift) <= delta < scale.first_delta(ns + 1, mul, shift)


@given(u64, u64, st.integers(-(1 << 63), (1 << 63) - 1))
def test_hyperv_ticks_is_the_oracles(tsc: int, factor: int, offset: int) -> None:
    assert scale.hyperv_ticks(tsc, factor, offset) == exact.hyperv_ticks(tsc, factor, offset)


@given(u64, u64, st.integers(0, 140), st.integers(0, 1 << 34), st.one_of(st.just(U64), st.integers(0, U64)))
def test_vmclock_ns_is_the_oracles(delta: int, period: int, shift: int, sec: int, frac: int) -> None:
    seconds = exact.vmclock_fraction(delta, period, shift, sec, frac)
    assume(seconds - sec < exact.U64)  # beyond, 128 bits of 2^-64 s overflow
    assert scale.vmclock_ns(delta, period, shift, sec, frac) == int(seconds * 10**9) % exact.U64


@given(st.integers(1, (1 << 31) - 1), st.integers(1, (1 << 31) - 1), st.integers(1, 600_000))
def test_mult_shift_is_the_oracles(from_hz: int, to_hz: int, seconds_max: int) -> None:
    try:
        expected = exact.mult_shift(from_hz, to_hz, seconds_max)
    except StopIteration:
        with pytest.raises(BadInputError, match="no mult"):
            scale.mult_shift(from_hz, to_hz, seconds_max)
        return
    assert scale.mult_shift(from_hz, to_hz, seconds_max) == expected


def test_mult_and_shift_of_the_tsc_clocksource_at_2_3_ghz() -> None:
    assert scale.mult_shift(2_300_000, 1_000_000, 600_000) == (7294442, 24)


@pytest.mark.parametrize("bad", [(0, 1), (1, 0), (1 << 62, 1)])
def test_impossible_frequencies_are_refused(bad: tuple[int, int]) -> None:
    with pytest.raises(BadInputError, match="must be above 0"):
        scale.time_scale(*bad)


def test_a_stopped_clock_has_no_inverse() -> None:
    with pytest.raises(BadInputError, match="stands still"):
        scale.first_delta(1, 0, 0)
