"""The line protocol, as guests write it and as bytes arrive."""

import itertools
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.guests.lines import (
    KINDS,
    Back,
    Bye,
    Check,
    Damaged,
    Echo,
    Fault,
    Hello,
    HistogramRow,
    Line,
    Phase,
    Refused,
    Stamp,
    parse_line,
)
from guestclock.guests.stream import LONGEST_LINE, ConsoleStream, Text

INTEGERS = st.integers(-(2**63), 2**63 - 1)
WORDS = st.from_regex(r"[a-z0-9_]{1,12}", fullmatch=True)
TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60)


def written(line: Line) -> str:
    """Write a line as the guests' ``line.c`` does."""
    kind = next(name for name, known in KINDS.items() if known is type(line))
    words = [f"{field.name}={_value(getattr(line, field.name))}" for field in fields(line)]
    return " ".join(["@gc", kind, *words])


def _value(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _any_line(kind: type[Line]) -> st.SearchStrategy[Line]:
    values = {int: INTEGERS, bool: st.booleans(), str: TEXTS if kind in {Echo, Refused} else WORDS}
    return st.builds(kind, **{field.name: values[field.type] for field in fields(kind)})


LINES = st.sampled_from(list(KINDS.values())).flatmap(_any_line)


@given(LINES)
def test_what_is_written_is_read(line: Line) -> None:
    assert parse_line(written(line)) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "@gc hello version=1 guest=linux clock=via1 clock_hz=783360 tick_hz=100 probe=0",
            Hello(1, "linux", "via1", 783360, 100, False),
        ),
        ("@gc phase id=2 name=hunt amount=2", Phase(2, "hunt", 2)),
        (
            "@gc stamp id=1 seq=1 mono_ns=108162275 real_ns=1577836800108162000 ticks=10 calls=100000",
            Stamp(1, 1, 108162275, 1577836800108162000, 10, 100000),
        ),
        ("@gc back id=2 clock=mono before_ns=5 after_ns=-4", Back(2, "mono", 5, -4)),
        (
            "@gc hist id=1 clock=real low_ns=-9223372036854775808 high_ns=-1000000000 count=3"
            " sum_ns=-16448250000000 min_ns=-5482750000000 max_ns=-5482750000000",
            HistogramRow(
                1, "real", -(2**63), -1000000000, 3, -16448250000000, -5482750000000, -5482750000000
            ),
        ),
        ("@gc echo text=a = b  @gc bye", Echo("a = b  @gc bye")),
        ("@gc echo text=", Echo("")),
        ("@gc check name=fork ok=1 value=42", Check("fork", True, 42)),
        ("@gc fault vector=004 pc=0x00010a2c", Fault(4, 0x10A2C)),
        ("@gc refused name=no such order", Refused("no such order")),
        ("@gc bye", Bye()),
    ],
)
def test_lines_as_guests_send_them(text: str, line: Line) -> None:
    assert parse_line(text) == line


@pytest.mark.parametrize("text", ["", "@gcbye", " @gc bye", "[    0.400000] Run /init as init process"])
def test_other_text(text: str) -> None:
    assert parse_line(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "@gc ",
        "@gc nonsense",
        "@gc bye now",
        "@gc phase id=1 name=calls",
        "@gc phase id=1 name=calls amount=1 amount=2",
        "@gc phase id=1 name=calls amount=1 more=2",
        "@gc phase id=1 name=calls amount=",
        "@gc phase id=1 name=calls amount=1[   61.9] watchdog: BUG: soft lockup",
        "@gc phase id=1 name=calls amount=" + "9" * 5000,
        "@gc phase id=1 name=calls amount=1_000",
        "@gc phase id=1 name=calls amount=\u0661",
        "@gc check name=fork ok=2 value=42",
        "@gc echo",
    ],
)
def test_damaged_lines(text: str) -> None:
    assert parse_line(text) == Damaged(text)


@given(st.text())
def test_no_text_breaks_the_parser(rest: str) -> None:
    parse_line("@gc " + rest)


def _split(data: bytes, cuts: list[int]) -> list[bytes]:
    bounds = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[low:high] for low, high in itertools.pairwise(bounds)]


NOISE = st.one_of(
    st.binary(max_size=200),
    st.builds(lambda lines, end: end.join(map(written, lines)).encode(), st.lists(LINES), st.just("\r\n")),
    st.just(b"x" * (LONGEST_LINE + 10)),
)


@given(st.lists(NOISE).map(b"".join), st.lists(st.integers(0, 10**6)))
def test_the_same_bytes_in_any_pieces_are_the_same_lines(data: bytes, cuts: list[int]) -> None:
    whole, pieces = ConsoleStream(), ConsoleStream()
    expected = whole.feed(data) + whole.finish()
    heard = [line for piece in _split(data, cuts) for line in pieces.feed(piece)] + pieces.finish()
    assert heard == expected
    assert pieces.damaged == whole.damaged == sum(isinstance(line, Damaged) for line in heard)


@given(st.lists(LINES))
def test_lines_survive_the_console(lines: list[Line]) -> None:
    data = "".join(written(line) + "\r\n" for line in lines).encode()
    assert ConsoleStream().feed(data) == lines


def test_a_line_without_an_end_is_cut() -> None:
    console = ConsoleStream()
    console.feed(b"y" * LONGEST_LINE)
    assert console.feed(b"z") == [Text("y" * LONGEST_LINE)]
    assert console.finish() == [Text("z")]
    assert console.finish() == []
