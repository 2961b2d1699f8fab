"""MTIE, TDEV and Allan deviation: published figures, allantools, and the definitions term by term.

The NBS14 data sets and their deviations: NBS Monograph 140 (1974); W. J. Riley, "Handbook of Frequency
Stability Analysis", NIST SP 1065 (2008), pages 107 and 108.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import allantools
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from guestclock.readings import UNKNOWN, Tables, TablesBuilder
from guestclock.verdict import judge as judge_all
from guestclock.verdict.deviations import Floats, adev, even, mtie_ns, tdev_ns
from guestclock.verdict.stability import LEAST_POINTS, Steadiness, judge, of_phase

from .build import MS, S, said

NINE_FREQUENCIES = (892, 809, 823, 798, 671, 644, 883, 903, 677)


def park_and_miller(size: int = 1000) -> list[int]:
    """The generator of the data set of 1000, before its values are divided by 2^31 − 1."""
    values = [1234567890]
    while len(values) < size:
        values.append(16807 * values[-1] % 2147483647)
    return values


def phase_of(frequencies: Sequence[float]) -> Floats:
    return np.concatenate([[0.0], np.cumsum(frequencies)])


@functools.cache
def thousand() -> Floats:
    return phase_of([value / 2147483647 for value in park_and_miller()])


def as_printed(text: str) -> object:
    """What rounds to the digits that were published: half a unit of the last place either way."""
    exponent = int(text.partition("e")[2] or 0)
    digits = len(text.partition("e")[0].partition(".")[2])
    return pytest.approx(float(text), abs=0.500001 * 10.0 ** (exponent - digits), rel=0)


def curve_of(steadiness: Steadiness) -> dict[int, tuple[int, float | None, float | None]]:
    return {at.tau_ns: (at.mtie_ns, at.tdev_ns, at.adev_ppm) for at in steadiness.curve}


def whole(tables: Tables, reference: str = "guest") -> Steadiness:
    (clock,) = [clock for clock in judge(tables).clocks if clock.reference == reference]
    return clock.whole


class TestPublished:
    @pytest.mark.parametrize(
        ("m", "allan", "time"), [(1, "91.22945", "52.67135"), (2, "85.95287", "86.35831")]
    )
    def test_nbs14_of_nine_frequencies(self, m: int, allan: str, time: str) -> None:
        phase = phase_of(NINE_FREQUENCIES)
        assert adev(phase, m, 1) == as_printed(allan)
        assert tdev_ns(phase, m) == as_printed(time)

    def test_the_generator_is_the_published_one(self) -> None:
        assert park_and_miller(4) == [1234567890, 395529916, 1209410747, 633705974]

    @pytest.mark.parametrize(
        ("m", "allan", "time"),
        [
            (1, "2.922319e-01", "1.687202e-01"),
            (10, "9.159953e-02", "3.563623e-01"),
            (100, "3.241343e-02", "1.253382e+00"),
        ],
    )
    def test_nbs14_of_a_thousand_frequencies(self, m: int, allan: str, time: str) -> None:
        assert adev(thousand(), m, 1) == as_printed(allan)
        assert tdev_ns(thousand(), m) == as_printed(time)

    def test_nbs14_as_readings_of_a_clock(self) -> None:
        phase = phase_of(NINE_FREQUENCIES).astype(int) * S
        curve = curve_of(whole(said(*((n * S, n * S + int(x)) for n, x in enumerate(phase)))))
        (_, time_1, allan_1), (_, time_2, allan_2) = curve[S], curve[2 * S]
        assert None not in (time_1, allan_1, time_2, allan_2)
        assert (allan_1 / 1e6, allan_2 / 1e6) == (as_printed("91.22945"), as_printed("85.95287"))
        assert (time_1 / S, time_2 / S) == (as_printed("52.67135"), as_printed("86.35831"))


NOISES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "white phase": lambda random, size: random.normal(0, 100, size),
    "white frequency": lambda random, size: np.cumsum(random.normal(0, 10, size)),
    "random walk": lambda random, size: np.cumsum(np.cumsum(random.normal(0, 1, size))),
    "a step": lambda _random, size: np.where(np.arange(size) < size // 3, 0.0, 1e7),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("size", [50, 1000, 1025])
def test_allantools_gives_the_same(noise: str, size: int) -> None:
    phase = np.round(NOISES[noise](np.random.default_rng(size), size)).astype(np.int64)
    times = np.arange(size) * 10 * MS
    found = whole(said(*zip(times.tolist(), (times + phase).tolist(), strict=True)))
    assert (found.points, found.spacing_ns, found.refused) == (size, 10 * MS, None)
    curve = curve_of(found)
    seconds = {tau / S: figures for tau, figures in curve.items()}
    for index, function in enumerate((allantools.mtie, allantools.tdev, allantools.oadev)):
        unit = 1e6 if function is allantools.oadev else 1e9
        # It leaves out what rests on one window.
        wanted = [
            tau
            for tau, figures in seconds.items()
            if figures[index] is not None and not math.isclose(tau, (size - 1) / 100)
        ]
        taus, expected, _, _ = function(phase * 1e-9, rate=100.0, data_type="phase", taus=wanted)
        assert taus.tolist() == pytest.approx(wanted)
        assert [seconds[tau][index] for tau in wanted] == pytest.approx(
            (expected * unit).tolist(), rel=1e-7, abs=1e-6
        )


class TestDefinitions:
    @given(
        readings=st.lists(
            st.tuples(st.integers(0, 200), st.integers(-(10**15), 10**15)), min_size=1, max_size=40
        ),
        taus=st.lists(st.integers(0, 250), min_size=1, max_size=4),
    )
    def test_mtie_is_the_widest_pair_within_tau(
        self, readings: list[tuple[int, int]], taus: list[int]
    ) -> None:
        readings.sort(key=lambda reading: reading[0])
        times, errors = (np.array(column, np.int64) for column in zip(*readings, strict=True))
        assert mtie_ns(times, errors, taus) == [
            max(
                (
                    abs(x - y)
                    for (before, x), (after, y) in itertools.combinations(readings, 2)
                    if after - before <= tau
                ),
                default=0,
            )
            for tau in taus
        ]

    @given(phase=st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=25), m=st.integers(1, 8))
    def test_adev_term_by_term(self, phase: list[int], m: int) -> None:
        assume(len(phase) >= 2 * m + 1)
        squares = [(phase[i + 2 * m] - 2 * phase[i + m] + phase[i]) ** 2 for i in range(len(phase) - 2 * m)]
        expected = math.sqrt(Fraction(sum(squares), 2 * (m * 7) ** 2 * len(squares)))
        assert adev(np.array(phase, float), m, 7) == pytest.approx(expected, rel=1e-12)

    @given(phase=st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=25), m=st.integers(1, 8))
    def test_tdev_term_by_term(self, phase: list[int], m: int) -> None:
        assume(len(phase) >= 3 * m)
        squares = [
            sum(phase[i + 2 * m] - 2 * phase[i + m] + phase[i] for i in range(j, j + m)) ** 2
            for j in range(len(phase) - 3 * m + 1)
        ]
        expected = math.sqrt(Fraction(sum(squares), 6 * m**2 * len(squares)))
        assert tdev_ns(np.array(phase, float), m) == pytest.approx(expected, rel=1e-9, abs=1e-9)


class TestEvenPoints:
    @given(gaps=st.lists(st.integers(1, 1000), min_size=4, max_size=50), data=st.data())
    def test_each_is_the_nearest_reading(self, gaps: list[int], data: st.DataObject) -> None:
        """One reading is off and all others right: the rate is nought, and the points show where it went."""
        times = list(itertools.accumulate(gaps, initial=5))
        off = data.draw(st.integers(0, len(times) - 1))
        spacing, points = even(np.array(times), np.array([10**6 * (k == off) for k in range(len(times))]))
        assert spacing == max(gaps)
        marks = range(times[0], times[-1] + 1, spacing)
        nearest = [min(times, key=lambda time: (abs(time - mark), -time)) for mark in marks]
        assert max(abs(time - mark) for time, mark in zip(nearest, marks, strict=True)) <= spacing / 2
        shown = [time == times[off] for time in nearest]
        base = 10**6 if off == 0 else 0  # x is 0 at the first reading
        assert points.tolist() == [10**6 * off_here - base for off_here in shown]

    @given(
        gaps=st.lists(st.integers(1, 1000), min_size=12, max_size=80),
        ppm=st.integers(-(10**5), 10**5),
    )
    def test_a_clock_of_constant_rate_has_no_deviation(self, gaps: list[int], ppm: int) -> None:
        times = np.cumsum([0, *gaps]) * 10**6
        _, points = even(times, times // 10**6 * ppm)
        assert np.abs(points).max() <= 1e-6 * max(1, abs(ppm))

    @given(errors=st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=60))
    def test_even_readings_are_taken_as_they_are(self, errors: list[int]) -> None:
        times = np.arange(len(errors)) * 1000 + 77
        spacing, points = even(times, np.array(errors))
        bend = np.diff(points, 2)
        assert spacing == 1000
        assert bend == pytest.approx(np.diff(np.array(errors, float), 2), abs=1e-6)


class TestVerdict:
    def test_nothing_and_one_moment(self) -> None:
        assert judge(Tables()).clocks == ()
        assert judge(Tables()).sentence == "No clock was followed for a second."
        found = whole(said((5, 17), (5, 18)))
        assert (found.points, found.curve, found.mtie_1s_ns) == (1, (), None)
        assert found.refused == "no time passed between the readings"

    def test_where_no_time_is_known_nothing_is_told(self) -> None:
        assert judge(said((UNKNOWN, 1), (UNKNOWN, 2))).clocks == ()

    def test_too_few_points_are_refused_with_the_reason(self) -> None:
        looks = [(n * S, n * S) for n in range(LEAST_POINTS)]
        assert len(whole(said(*looks)).curve) == 4
        found = whole(said(*looks[:-1]))
        assert found.curve == ()
        assert found.refused == (
            "the readings give 9 points 1.00 s apart (the longest gap between two), a curve needs 10"
        )

    def test_a_gap_coarsens_the_whole_and_not_its_phases(self) -> None:
        dense = [(n * 10 * MS, n * 10 * MS) for n in range(500)]
        sparse = [(5 * S + n * S, 5 * S + n * S) for n in range(12)]
        tables = said(*dense, *sparse, phases=["hunt"] * len(dense) + ["idle"] * len(sparse))
        (clock,) = judge(tables).clocks
        assert (clock.whole.spacing_ns, clock.whole.points) == (S, 17)
        assert {name: (found.spacing_ns, found.points) for name, found in clock.phases.items()} == {
            "hunt": (10 * MS, 500),
            "idle": (S, 12),
        }
        assert of_phase(tables, "hunt", "guest") == {"mono": clock.phases["hunt"]}
        assert of_phase(tables, "hunt", "host") == of_phase(tables, "calls") == {}

    def test_deviations_end_at_a_quarter_of_the_time_and_mtie_at_its_end(self) -> None:
        curve = whole(said(*((n * S, n * S + n % 2) for n in range(33)))).curve
        assert [at.tau_ns // S for at in curve] == [1, 2, 4, 8, 16, 32]
        assert [at.tdev_ns is None for at in curve] == [at.adev_ppm is None for at in curve]
        assert [at.adev_ppm is None for at in curve] == [False] * 4 + [True] * 2

    def test_an_excursion_between_the_points_counts_in_mtie(self) -> None:
        looks = [(n * S, n * S) for n in range(12)] + [(3 * S + 7, 3 * S + 7 + 400)]
        found = whole(said(*sorted(looks)))
        assert {at.mtie_ns for at in found.curve} == {400}
        assert found.mtie_1s_ns == 400

    def test_a_reading_whose_stamp_is_out_of_order_stands_at_its_time(self) -> None:
        looks = [(n * S, n * S + n * n) for n in range(12)]
        assert whole(said(*looks[:5], *reversed(looks[5:]))) == whole(said(*looks))

    def test_it_is_told_of_the_clock_that_moved_most_and_never_judged(self) -> None:
        builder = TablesBuilder()
        for number in range(11):
            for name, away_ns in (("mono", 1000), ("real", 9 * MS)):
                builder.add_reading(
                    source=builder.source(name),
                    phase=builder.phase("idle"),
                    guest_ns=number * S,
                    host_ns=number * S,
                    said_ns=number * S + away_ns * (number == 5),
                )
        verdict = judge_all(builder.freeze({}))
        assert verdict.stability.good
        assert verdict.good
        assert verdict.stability.reference == "host"
        assert verdict.stability.sentence == (
            "Within any second, real moved against the host by 9.00 ms at most."
        )

    def test_another_reference_is_taken_where_the_host_is_unknown(self) -> None:
        verdict = judge(said(*((n * S, n * S + n) for n in range(5))))
        assert verdict.reference == "guest"
        assert verdict.sentence == "Within any second, mono moved against true guest time by 1 ns at most."
