"""Minimum, median and p99 are batches that were measured."""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from guestclock.readings import Tables, TablesBuilder
from guestclock.verdict.cost import judge


def priced(*batches: tuple[int, float], **meta: str) -> Tables:
    builder = TablesBuilder()
    for calls, cost_ns in batches:
        builder.add_reading(
            source=builder.source("real"), phase=builder.phase("calls"), calls=calls, cost_ns=cost_ns
        )
    return builder.freeze(meta)


def test_nothing_timed() -> None:
    assert judge(Tables()).sentence == "No calls were timed."
    assert judge(priced((0, 5.0), (10, -1.0))).sources == ()


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=300))
def test_figures_agree_with_sorting(costs: list[float]) -> None:
    (found,) = judge(priced(*((7, cost) for cost in costs))).sources
    ordered = sorted(costs)
    assert found.min_ns == ordered[0]
    assert found.median_ns == ordered[ceil(0.5 * len(costs)) - 1]
    assert found.p99_ns == ordered[ceil(0.99 * len(costs)) - 1]
    assert (found.batches, found.calls) == (len(costs), 7 * len(costs))


def test_readings_without_calls_or_cost_do_not_count() -> None:
    (found,) = judge(priced((0, 1.0), (5, 63.4), (5, -1.0))).sources
    assert (found.batches, found.calls, found.min_ns) == (1, 5, 63.4)


def test_it_says_on_which_clock() -> None:
    verdict = judge(priced((5, 63.4), cost_time="guest"))
    assert verdict.sentence == "A call costs, in guest time: real 63.4 ns."
    assert verdict.good
