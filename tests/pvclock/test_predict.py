"""Predictions against figures measured on KVM guests, and against the model of KVM run for a day."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.errors import BadInputError
from guestclock.pvclock.predict import (
    DAY_NS,
    Method,
    Migration,
    TscMethod,
    predict_migration,
    predict_rate,
)
from guestclock.pvclock.writers import Host, KvmClock

MS = 1_000_000
frequencies_khz = st.integers(500_000, 6_000_000)


def test_the_rate_error_measured_on_a_guest_at_2_3_ghz() -> None:
    rate = predict_rate(2_300_000_000)
    assert round(rate.page_error_ppb, 3) == -0.116
    assert round(rate.host_error_ppb, 3) == 35.763
    assert round(rate.guest_minus_host_ppb, 3) == -35.879
    assert (rate.host_mult, rate.host_shift) == (7294442, 24)
    assert (rate.page_mul, rate.page_shift) == (0xDE9BD37A, -1)


@pytest.mark.parametrize(
    ("tsc_hz", "jump_ms_per_day", "digits"),
    [
        (2_000_000_000, 0.0, 2),
        (2_300_000_000, 3.10, 2),
        (2_995_200_000, 7.41, 2),
        (2_500_000_000, -5.13, 2),
        (2_600_000_000, -5.13, 2),
        (3_000_000_000, -5.13, 2),
        (3_800_000_000, -16.5, 1),
    ],
)
def test_the_jumps_of_known_frequencies(tsc_hz: int, jump_ms_per_day: float, digits: int) -> None:
    rate = predict_rate(tsc_hz)
    assert round(rate.jump_ns_per_day / MS, digits) == jump_ms_per_day
    assert rate.jumps_backwards == (jump_ms_per_day < 0)


@given(frequencies_khz)
def test_a_day_on_the_model_jumps_by_what_is_predicted(tsc_khz: int) -> None:
    clock = KvmClock.created(Host(tsc_khz * 1000), 0)
    before = clock.guest_ns(DAY_NS)
    clock.update_master_clock(DAY_NS)
    jump_ns = clock.guest_ns(DAY_NS) - before
    assert abs(jump_ns - predict_rate(tsc_khz * 1000).jump_ns_per_day) <= 3  # three roundings down


@given(frequencies_khz, st.integers(0, 999))
def test_what_khz_cannot_say_is_in_both_errors_and_not_in_their_difference(tsc_khz: int, hz: int) -> None:
    whole, finer = predict_rate(tsc_khz * 1000), predict_rate(tsc_khz * 1000 + hz)
    assert finer.guest_minus_host_ppb == pytest.approx(whole.guest_minus_host_ppb, abs=1e-9)
    lost_ppb = hz / (tsc_khz * 1000) * 1e9
    assert finer.page_error_ppb - whole.page_error_ppb == pytest.approx(lost_ppb, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("bad_hz", [0, 999_999, 100_000_000_001])
def test_impossible_frequencies_are_refused(bad_hz: int) -> None:
    with pytest.raises(BadInputError, match=f"TSC frequency {bad_hz} Hz"):
        predict_rate(bad_hz)


MOVED = Migration(2_300_000_000, 2_600_000_000, downtime_ns=300 * MS, clock_offset_ns=2 * MS)


@pytest.mark.parametrize(
    ("method", "offset_ms", "step_ms"),
    [
        (Method.SET_CLOCK, 2, -300),
        (Method.REALTIME, 0, 0),
        (Method.REALTIME, 2, 2),
        (Method.REALTIME, -299, -299),
        (Method.REALTIME, -400, -300),  # KVM never adds less than nothing
    ],
)
def test_what_a_migration_does_to_kvm_clock(method: Method, offset_ms: int, step_ms: int) -> None:
    seen = predict_migration(replace(MOVED, method=method, clock_offset_ns=offset_ms * MS))
    assert seen.kvmclock_step_ns == step_ms * MS
    assert not seen.goes_backwards
    assert seen.kvmclock_ns_after - seen.kvmclock_ns_before == (300 + step_ms) * MS


def test_a_clock_that_nobody_carries_over_starts_again() -> None:
    seen = predict_migration(replace(MOVED, method=Method.NOTHING))
    assert seen.kvmclock_ns_after == 0
    assert seen.goes_backwards


@pytest.mark.parametrize(
    ("method", "offset_ms", "step_ms"),
    [
        (TscMethod.VALUE, 2, -300),
        (TscMethod.OFFSET, 0, 0),
        (TscMethod.OFFSET, 2, 2),
        (TscMethod.OFFSET, -400, -300),
    ],
)
def test_what_a_migration_does_to_the_tsc(method: TscMethod, offset_ms: int, step_ms: int) -> None:
    seen = predict_migration(replace(MOVED, tsc_method=method, clock_offset_ns=offset_ms * MS))
    assert seen.tsc_step_ns == step_ms * MS
    assert round(seen.tsc_rate_error_ppm) == 130_435


def test_a_migration_cannot_take_less_than_no_time() -> None:
    with pytest.raises(BadInputError, match="below 0"):
        predict_migration(replace(MOVED, downtime_ns=-1))
