"""Lines of QEMU traces, of every version, whole and damaged."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_text import Row, access, decode, obvious, recompute, stamp, text

from guestclock.qemu import trace_lines
from guestclock.qemu.trace_kinds import Kind

T1CH_READ = Row(Kind.READ, 5, 0x1E)


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("mos6522_read reg=0x5 [T1CH] val=0x1e", T1CH_READ),
        ("mos6522_read reg=0x5 val=0x1e", T1CH_READ),
        ("mos6522_read reg=0x5 [T1CH] val=0x1e\r", T1CH_READ),
        ("mos6522_write reg=0xd [IFR] val=0x40", Row(Kind.WRITE, 13, 0x40)),
        ("mos6522_write reg=0xf [ANH] val=0xff", Row(Kind.WRITE, 15, 255)),
        (
            "mos6522_get_next_irq_time latch=7831 counter=0x523ea delta_next=0x1e5f",
            Row(Kind.RECOMPUTE, 0, 7831),
        ),
        (
            "mos6522_get_next_irq_time latch=0 counter=0xffffffffffffffff delta_next=0x1",
            Row(Kind.RECOMPUTE, 0, 0),
        ),
        ("mos6522_set_counter T2.counter=65535", Row(Kind.SET_COUNTER, 2, 65535)),
        (
            "5188@1796037338.784315:mos6522_write reg=0xe [IER] val=0x7f",
            Row(Kind.WRITE, 14, 0x7F, 1_796_037_338_784_315),
        ),
        (
            "2026-02-28T23:59:59.000001Z mos6522_read reg=0x5 [T1CH] val=0x1e",
            Row(
                Kind.READ, 5, 0x1E, int(datetime(2026, 2, 28, 23, 59, 59, 1, UTC).timestamp()) * 1_000_000 + 1
            ),
        ),
        (
            "1970-01-02T00:00:00Z [my guest] qemu-system-m68k: (17:CPU 0/TCG): mos6522_read reg=0x5 val=0x1e",
            Row(Kind.READ, 5, 0x1E, 86_400_000_000),
        ),
        ("(17:CPU 0/TCG): mos6522_read reg=0x5 [T1CH] val=0x1e", T1CH_READ),
        ("via1_adb_poll data=0x00 vADBInt=+ status=0x0 index=0 size=0", Row(Kind.OTHER)),
        ("mos6522_set_sr_int set sr_int", Row(Kind.OTHER)),
        ("esp_mem_writeb reg[4]: 0x00 -> 0x01", Row(Kind.OTHER)),
        ("5188@1796037338.784315:via1_auxmode setting auxmode to 1", Row(Kind.OTHER)),
        ("", Row(Kind.BLANK)),
    ],
)
def test_formats(line: str, row: Row) -> None:
    assert decode(text([line])) == [row]


@pytest.mark.parametrize(
    "line",
    [
        "mos6522_read",
        "mos6522_read reg=0x5 [T1CH] val=",
        "mos6522_read reg=0x5 [T1CH val=0x1e",
        "mos6522_read reg=0x5 [T1CH] val=0x1e and more",
        "mos6522_read reg=0x10 [T1CH] val=0x1e",
        "mos6522_read reg=0x5 [T1CH] val=0x100",
        "mos6522_read reg=0x5 [T1CH] val=0x1emos6522_read reg=0x5 [T1CH] val=0x1e",
        "mos6522_get_next_irq_time latch=65536 counter=0x1 delta_next=0x1",
        "mos6522_get_next_irq_time latch=1 counter=0x11111111111111111 delta_next=0x1",
        "mos6522_set_counter T3.counter=1",
        "5188@1796037338.78431:mos6522_write reg=0xe [IER] val=0x7f",
        "5188@:mos6522_write reg=0xe [IER] val=0x7f",
        "5188",
        "qemu-system-m68k: warning: something",
        "Debian GNU/Linux",
        "\x00\x01\x02",
        "héllo_world",
    ],
)
def test_damaged(line: str) -> None:
    row = Row(Kind.OTHER) if line == "mos6522_read" else Row(Kind.DAMAGED)
    assert decode(text([line, access("read", 5, 0x1E)])) == [row, T1CH_READ]


stamps = st.none() | st.integers(0, 2**40)
whole = st.one_of(
    st.builds(
        access, st.sampled_from(["read", "write"]), st.integers(0, 15), st.integers(0, 255), stamps
    ),
    st.builds(recompute, st.integers(0, 65535), stamps),
    st.builds(
        lambda at, timer, value: f"{stamp(at)}mos6522_set_counter T{timer}.counter={value}",
        stamps, st.integers(1, 2), st.integers(0, 65535),
    ),
    st.builds(
        lambda at: f"{at.isoformat(timespec='seconds')}Z mos6522_read reg=0x5 val=0x1e",
        st.datetimes(datetime(1970, 1, 1), datetime(2199, 12, 31)),
    ),
)  # fmt: skip


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A line with a piece cut out, or a few characters put in."""
    line = draw(whole)
    begin = draw(st.integers(0, len(line)))
    end = draw(st.integers(begin, min(len(line), begin + 12)))
    return line[:begin] + draw(st.text("0 a_x[]=@.:T-Z", max_size=3)) + line[end:]


@given(st.lists(st.one_of(whole, broken()), min_size=1, max_size=20))
def test_equals_the_obvious_decoder(lines: list[str]) -> None:
    # Context before events is not the obvious decoder's: lines that may have some are only to be survived.
    rows = decode(text(lines))
    assert len(rows) == len(lines)
    for line, row in zip(lines, rows, strict=True):
        if ": " not in line and "] mos" not in line:
            assert row == obvious(line), line


@given(st.binary(max_size=300))
def test_survives_any_bytes(data: bytes) -> None:
    chunk = data + b"\n"
    assert len(decode(chunk)) == chunk.count(b"\n")


def test_more_lines_than_rows() -> None:
    count = trace_lines.ROWS + 10
    assert decode(b"\n" * count) == [Row(Kind.BLANK)] * count
