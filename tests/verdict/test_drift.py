"""Offsets and rates, against arithmetic done one reading at a time."""

from fractions import Fraction
from itertools import accumulate
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guestclock.readings import UNKNOWN, Tables, TablesBuilder
from guestclock.verdict.drift import Drift, fitted_ppm, judge

from .build import MS, WRAP_NS, S, said


def of(verdict: Drift, reference: str) -> dict[str, float | None]:
    """The figures of the one clock against a reference."""
    (clock,) = [clock for clock in verdict.clocks if clock.reference == reference]
    return vars(clock.whole)


def test_nothing_and_one_reading() -> None:
    assert judge(Tables()).good
    assert judge(Tables()).final_offset_ns is None
    verdict = judge(said((5, 17)))
    assert verdict.good
    assert of(verdict, "guest") == {
        "readings": 1,
        "elapsed_ns": 0,
        "rate_ppm": None,
        "end_to_end_ppm": None,
        "final_offset_ns": 0,
        "max_offset_ns": 0,
    }


def test_where_no_time_is_known_nothing_is_compared() -> None:
    verdict = judge(said((UNKNOWN, 1), (UNKNOWN, 2)))
    assert verdict.clocks == ()
    assert verdict.sentence == "No clock was compared with true time."


def slow_rate_ppm(offsets: list[int], times: list[int]) -> Fraction | None:
    """The oracle: Siegel's repeated median in exact fractions."""
    of_readings = []
    for i, time in enumerate(times):
        slopes = [
            Fraction(offsets[j] - offsets[i], other - time) for j, other in enumerate(times) if other != time
        ]
        if slopes:
            of_readings.append(median(slopes))
    return 10**6 * median(of_readings) if of_readings else None


@settings(max_examples=60)
@given(
    looks=st.lists(st.tuples(st.integers(0, 10**6), st.integers(-(10**6), 10**6)), min_size=1, max_size=25)
)
def test_the_fit_agrees_with_exact_fractions(looks: list[tuple[int, int]]) -> None:
    times = sorted(time for time, _ in looks)
    offsets = [offset for _, offset in looks]
    expected = slow_rate_ppm(offsets, times)
    found = fitted_ppm(np.array(offsets), np.array(times))
    assert found == (None if expected is None else pytest.approx(float(expected), rel=1e-9, abs=1e-9))


@given(
    rate_ppm=st.integers(-500, 500),
    spoilt=st.dictionaries(st.integers(0, 100), st.integers(-(10**10), 10**10), max_size=48),
)
def test_nearly_half_of_the_readings_may_be_off(rate_ppm: int, spoilt: dict[int, int]) -> None:
    times = np.arange(101) * S
    offsets = times // 10**6 * rate_ppm
    offsets[list(spoilt)] += np.array(list(spoilt.values()), np.int64)
    assert fitted_ppm(offsets, times) == pytest.approx(rate_ppm, abs=1e-9)


def final(offsets: list[int], times: list[int]) -> int:
    """The smallest offset of the last tenth, at most a second; the latest of equals."""
    best = offsets[-1]
    for offset, time in zip(reversed(offsets), reversed(times), strict=True):
        if time > times[-1] - min(S, (times[-1] - times[0]) // 10) and abs(offset) < abs(best):
            best = offset
    return best


def test_a_stall_at_the_very_end_is_no_drift_and_a_clock_that_stays_behind_is() -> None:
    late = 150 * MS
    back = judge(
        said((0, 0), (19 * S, 19 * S), (19 * S + 500 * MS, 19 * S + 500 * MS), (20 * S, 20 * S - late))
    )
    assert back.good
    gone = judge(
        said((0, 0), (19 * S, 19 * S), (19 * S + 500 * MS, 19 * S + 350 * MS), (20 * S, 20 * S - late))
    )
    assert gone.final_offset_ns == -late
    assert not gone.good


@settings(max_examples=60)
@given(
    looks=st.lists(
        st.tuples(st.integers(0, 10**12), st.integers(0, 10**9), st.integers(-(10**13), 10**13)),
        min_size=1,
        max_size=25,
    )
)
def test_offsets_agree_with_one_reading_at_a_time(looks: list[tuple[int, int, int]]) -> None:
    """Host time is guest time and how far the guest is behind; a clock is anchored to guest time."""
    builder = TablesBuilder()
    looks.sort()
    hosts_ns = accumulate((guest_ns + behind_ns for guest_ns, behind_ns, _ in looks), max)
    looks = [
        (guest_ns, at_ns - guest_ns, said_ns)
        for (guest_ns, _, said_ns), at_ns in zip(looks, hosts_ns, strict=True)
    ]
    for guest_ns, behind_ns, said_ns in looks:
        builder.add_reading(
            source=builder.source("mono"),
            phase=builder.phase("idle"),
            guest_ns=guest_ns,
            host_ns=guest_ns + behind_ns,
            said_ns=said_ns,
        )
    verdict = judge(builder.freeze({}))
    zero_ns = looks[0][2] - looks[0][0]
    offsets = [said_ns - zero_ns - (guest_ns + behind_ns) for guest_ns, behind_ns, said_ns in looks]
    host_ns = [guest_ns + behind_ns for guest_ns, behind_ns, _ in looks]
    guest_ns = [guest_ns for guest_ns, _, _ in looks]
    assert of(verdict, "host")["final_offset_ns"] == final(offsets, host_ns)
    assert of(verdict, "host")["max_offset_ns"] == max(abs(offset) for offset in offsets)
    own = [said_ns - zero_ns - guest_ns for guest_ns, _, said_ns in looks]
    assert of(verdict, "guest")["final_offset_ns"] == final(own, guest_ns)
    assert verdict.lag is not None
    assert verdict.lag.final_offset_ns == final([-behind_ns for _, behind_ns, _ in looks], host_ns)
    assert verdict.lag.max_offset_ns == max(behind for _, behind, _ in looks)
    assert verdict.good == (abs(final(offsets, host_ns)) <= 10 * MS)


def test_where_only_the_host_is_known_the_first_reading_is_the_zero() -> None:
    builder = TablesBuilder()
    for host_ns, said_ns in ((7 * S, 1), (8 * S, S + 500)):
        builder.add_reading(
            source=builder.source("mono"), phase=builder.phase("idle"), host_ns=host_ns, said_ns=said_ns
        )
    assert judge(builder.freeze({})).final_offset_ns == 499


def test_a_rate_is_found_to_the_part_per_billion() -> None:
    verdict = judge(said(*((n * S, n * S + 35_879 * n) for n in range(1000))))
    assert of(verdict, "guest")["rate_ppm"] == pytest.approx(35.879, abs=1e-9)
    assert of(verdict, "guest")["end_to_end_ppm"] == pytest.approx(35.879, abs=1e-9)


def test_a_step_shows_end_to_end_and_not_in_the_rate() -> None:
    verdict = judge(said(*((n * S, n * S + (WRAP_NS if n > 70 else 0)) for n in range(100))))
    assert of(verdict, "guest")["rate_ppm"] == 0
    assert of(verdict, "guest")["end_to_end_ppm"] == pytest.approx(1e6 * WRAP_NS / (99 * S))
    assert not verdict.good


def test_each_phase_has_its_own_figures_from_the_zero_of_the_run() -> None:
    looks = [(0, 0), (S, S), (2 * S, 2 * S - 5), (3 * S, 3 * S - 7)]
    verdict = judge(said(*looks, phases=["calls", "calls", "idle", "idle"]))
    (clock,) = verdict.clocks
    assert list(clock.phases) == ["calls", "idle"]
    assert [offsets.final_offset_ns for offsets in clock.phases.values()] == [0, -7]
    assert clock.phases["idle"].elapsed_ns == S
    assert clock.phases["idle"].end_to_end_ppm == pytest.approx(-0.002)


@pytest.mark.parametrize(("offset_ns", "good"), [(10 * MS, True), (-10 * MS, True), (10 * MS + 1, False)])
def test_the_final_offset_decides(offset_ns: int, good: bool) -> None:
    verdict = judge(said((0, 0), (S, 3 * S), (2 * S, 2 * S + offset_ns)))
    assert verdict.good == good
    assert verdict.final_offset_ns == offset_ns


def test_virtual_time_is_judged_by_guest_time() -> None:
    builder = TablesBuilder()
    for time_ns in (0, S):
        builder.add_reading(
            source=builder.source("mono"),
            phase=builder.phase("idle"),
            guest_ns=time_ns,
            host_ns=time_ns // 10,
            said_ns=time_ns,
        )
    assert not judge(builder.freeze({})).good
    verdict = judge(builder.freeze({"truth": "guest"}))
    assert verdict.good
    assert verdict.reference == "guest"
    assert verdict.sentence == "mono ended 0 ns ahead of true guest time and ran at +0.000 ppm."


@given(count=st.integers(2, 3000))
@settings(max_examples=10)
def test_many_readings_are_thinned_evenly(count: int) -> None:
    times = np.arange(count) * S
    assert fitted_ppm(times // 1000, times) == pytest.approx(1000)
