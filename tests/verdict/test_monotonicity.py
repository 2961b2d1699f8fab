"""Backward steps and forward jumps: counted once, whoever saw them."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.readings import UNKNOWN, EventKind, Tables, TablesBuilder
from guestclock.verdict.monotonicity import Steps, judge

from .build import MS, WRAP_NS, S, said

DELTAS = st.integers(-(10**13), 10**13)


def mono(builder: TablesBuilder, phase: str = "calls") -> dict[str, Any]:
    return {"source": builder.source("mono"), "phase": builder.phase(phase)}


def histogram(builder: TablesBuilder, deltas: list[int], bounds: list[int], phase: str = "calls") -> None:
    """Add the rows that a guest reports for these deltas."""
    edges = [-(2**63), *bounds, 2**63 - 1]
    for low, high in pairwise(edges):
        inside = [delta for delta in deltas if low <= delta < high]
        if inside:
            builder.add_histogram_row(
                **mono(builder, phase),
                low_ns=low,
                high_ns=high,
                count=len(inside),
                sum_ns=sum(inside),
                min_ns=min(inside),
                max_ns=max(inside),
            )


def plain_steps(deltas: list[int]) -> Steps:
    """The oracle: one delta after the other."""
    count = worst = total = 0
    for delta in deltas:
        if delta < 0:
            count, worst, total = count + 1, min(worst, delta), total + delta
    return Steps(count, worst, total)


def test_nothing_is_good() -> None:
    verdict = judge(Tables())
    assert verdict.good
    assert verdict.sources == ()
    assert verdict.sentence == "No two looks at a clock were there to compare."


def test_one_reading_is_good() -> None:
    verdict = judge(said((5, 5)))
    assert verdict.good
    assert verdict.sources[0].comparisons == 0


@given(deltas=st.lists(DELTAS, max_size=40))
def test_readings_agree_with_one_after_the_other(deltas: list[int]) -> None:
    builder = TablesBuilder()
    value = 0
    builder.add_reading(**mono(builder), said_ns=value)
    for delta in deltas:
        value += delta
        builder.add_reading(**mono(builder), said_ns=value)
    verdict = judge(builder.freeze({}))
    assert verdict.backward == plain_steps(deltas)
    assert verdict.good == (min(deltas, default=0) >= 0)


@given(deltas=st.lists(DELTAS, max_size=60), bounds=st.lists(DELTAS, max_size=5, unique=True))
def test_a_histogram_with_a_bound_at_zero_is_complete(deltas: list[int], bounds: list[int]) -> None:
    builder = TablesBuilder()
    histogram(builder, deltas, sorted({0, *bounds}))
    assert judge(builder.freeze({})).backward == plain_steps(deltas)


def test_a_row_across_zero_counts_at_least_its_minimum() -> None:
    builder = TablesBuilder()
    histogram(builder, [-7, -3, 4], [])
    assert judge(builder.freeze({})).backward == Steps(1, -7, -7)


@given(
    deltas=st.lists(st.integers(-1000, 1000), min_size=1, max_size=40),
    told=st.integers(0, 40),
    every=st.integers(1, 5),
)
def test_three_witnesses_of_the_same_steps_count_once(deltas: list[int], told: int, every: int) -> None:
    """The histogram has all, the events the first few, the readings only what they happen to straddle."""
    builder = TablesBuilder()
    histogram(builder, deltas, [0])
    for delta in [delta for delta in deltas if delta < 0][:told]:
        builder.add_event(EventKind.BACKWARD, **mono(builder), value=delta)
    value = 0
    for number, delta in enumerate(deltas):
        if number % every == 0:
            builder.add_reading(**mono(builder), said_ns=value)
        value += delta
    assert judge(builder.freeze({})).backward == plain_steps(deltas)


def test_a_phase_cut_short_has_no_histogram_and_its_events_count() -> None:
    builder = TablesBuilder()
    for value in (-5, -9):
        builder.add_event(EventKind.BACKWARD, **mono(builder), value=value)
    builder.add_reading(**mono(builder), said_ns=100)
    builder.add_reading(**mono(builder), said_ns=98)
    assert judge(builder.freeze({})).backward == Steps(2, -9, -14)


def test_phases_and_clocks_add_up() -> None:
    builder = TablesBuilder()
    histogram(builder, [-1, -2], [0], "calls")
    histogram(builder, [-10], [0], "hunt")
    builder.add_event(
        EventKind.BACKWARD, source=builder.source("real"), phase=builder.phase("hunt"), value=-100
    )
    verdict = judge(builder.freeze({}))
    assert verdict.backward == Steps(4, -100, -113)
    assert [source.backward.count for source in verdict.sources] == [3, 1]


@pytest.mark.parametrize(("counted", "total"), [(-1, 2), (-50, 1), (-80, 1)])
def test_a_fall_between_phases_counts_unless_a_phase_has_one_as_large(counted: int, total: int) -> None:
    builder = TablesBuilder()
    histogram(builder, [counted], [0], "calls")
    builder.add_reading(**mono(builder, "calls"), said_ns=100)
    builder.add_reading(**mono(builder, "idle"), said_ns=50)
    assert judge(builder.freeze({})).backward.count == total


class TestForward:
    def test_following_true_time_is_no_jump_however_far_apart_the_readings(self) -> None:
        assert judge(said((0, 0), (S, S), (100 * S, 100 * S))).good

    def test_catching_up_is_no_jump(self) -> None:
        verdict = judge(said((0, 0), (S, S - 500 * MS), (2 * S, 2 * S)))
        assert verdict.forward.count == 0

    def test_a_late_time_stamp_is_no_jump(self) -> None:
        assert judge(said((0, 0), (S + 50 * MS, S), (2 * S, 2 * S))).good

    def test_a_tick_too_many_is_none_and_more_is_one(self) -> None:
        assert judge(said((0, 0), (S, S + 10 * MS))).good
        verdict = judge(said((0, 0), (S, S + 10 * MS + 1), (2 * S, 2 * S + 10 * MS + 1)))
        assert verdict.forward == Steps(1, 10 * MS + 1, 10 * MS + 1)
        assert verdict.sentence == "The clock jumped ahead once, worst 10.0 ms."

    def test_a_wrap_forth_and_back(self) -> None:
        verdict = judge(said((0, 0), (S, S + WRAP_NS), (2 * S, 2 * S)))
        assert verdict.forward == Steps(1, WRAP_NS, WRAP_NS)
        assert verdict.backward == Steps(1, S - WRAP_NS, S - WRAP_NS)
        assert verdict.sentence == (
            "The clock went back once, worst −5,482 s, and jumped ahead once, worst 5,483 s."
        )

    def test_host_time_serves_where_guest_time_is_unknown(self) -> None:
        builder = TablesBuilder()
        for host_ns, said_ns in ((0, 0), (S, 3 * S)):
            builder.add_reading(**mono(builder), host_ns=host_ns, said_ns=said_ns)
        assert judge(builder.freeze({})).forward == Steps(1, 2 * S, 2 * S)

    def test_without_true_time_nobody_can_tell(self) -> None:
        assert judge(said((UNKNOWN, 0), (UNKNOWN, 3 * S))).good

    def test_a_jump_that_a_source_states_counts(self) -> None:
        builder = TablesBuilder()
        builder.add_event(EventKind.FORWARD, **mono(builder), value=S)
        assert judge(builder.freeze({})).forward == Steps(1, S, S)

    @given(leads=st.lists(st.integers(-50 * MS, 50 * MS), min_size=1, max_size=30))
    def test_it_agrees_with_one_after_the_other(self, leads: list[int]) -> None:
        gained = []
        most = leads[0]
        for lead in leads[1:]:
            if lead - most > 10 * MS:
                gained.append(lead - most)
            most = max(most, lead)
        verdict = judge(said(*((S * n, S * n + lead) for n, lead in enumerate(leads))))
        assert verdict.forward == Steps(len(gained), max(gained, default=0), sum(gained))


def test_gaps_between_reads_are_told_and_not_judged() -> None:
    builder = TablesBuilder()
    histogram(builder, [5, 8 * MS, 9 * MS, 35 * MS, 36 * MS], [0, 20 * MS])
    verdict = judge(builder.freeze({"tick_period_ns": 10 * MS}))
    assert verdict.sources[0].gaps == Steps(2, 36 * MS, 71 * MS)
    assert verdict.good


def test_a_row_across_the_tick_has_at_least_its_maximum() -> None:
    builder = TablesBuilder()
    histogram(builder, [5, 35 * MS], [0])
    assert judge(builder.freeze({"tick_period_ns": 10 * MS})).sources[0].gaps == Steps(1, 35 * MS, 35 * MS)


def test_comparisons_are_those_of_the_witness_that_saw_most() -> None:
    """In `calls` the histogram has only the odd steps; the readings say how many calls there were."""
    builder = TablesBuilder()
    histogram(builder, [-1], [0], "calls")
    for calls in (0, 1000, 1000):
        builder.add_reading(**mono(builder, "calls"), calls=calls, said_ns=0)
    histogram(builder, [1] * 300, [0], "hunt")
    assert judge(builder.freeze({})).sources[0].comparisons == 2300
