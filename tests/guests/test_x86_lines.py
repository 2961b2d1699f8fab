"""The lines of the x86 Linux guest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.guests.lines import Damaged
from guestclock.guests.x86_lines import Bye, Cost, Hello, Look, Warp, parse_line


def test_every_kind_is_understood() -> None:
    assert parse_line("@gc hello version=1 guest=linux-x86 kernel=6.1.0-57 clock=tsc cpus=2") == Hello(
        1, "linux-x86", "6.1.0-57", "tsc", 2
    )
    assert parse_line("@gc cost clocksource=tsc clock=CLOCK_TAI way=library reads=64 batches_ns=7,8") == Cost(
        "tsc", "CLOCK_TAI", "library", 64, (7, 8)
    )
    assert parse_line("@gc look clocksource=tsc mono_ns=-5") == Look("tsc", -5)
    assert parse_line("@gc bye") == Bye()
    text = (
        "@gc warp clocksource=tsc clock=CLOCK_TAI cpu=1 reads=9 steps=2 least_ns=1 worst_ns=3 sum_ns=4"
        " ahead_sum_ns=50 ahead_least_ns=6 ahead_most_ns=7"
    )
    assert parse_line(text) == Warp("tsc", "CLOCK_TAI", 1, 9, 2, 1, 3, 4, 50, 6, 7)


@pytest.mark.parametrize(
    "text",
    [
        "@gc what",
        "@gc bye now=1",
        "@gc look clocksource=tsc",
        "@gc look clocksource=tsc mono_ns=1 mono_ns=2",
        "@gc look clocksource=tsc mono_ns=1[    3.1] oops",
        "@gc look clocksource=tsc mono_ns=" + "9" * 30,
        "@gc look clocksource=tsc mono_ns=٣",
        "@gc using clocksource=tsc ok=2",
        "@gc cost clocksource=tsc clock=C way=library reads=64 batches_ns=7,,8",
        "@gc ",
    ],
)
def test_damaged_lines_are_told(text: str) -> None:
    assert parse_line(text) == Damaged(text)


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    assert parse_line(text) is None or text.startswith("@gc ")
    assert isinstance(parse_line("@gc x" + text), Damaged)
