"""Whole traces: streams, storms, times, damage, other devices, files that grow."""

import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_text import IFR, T1CH, access, recompute, text

from guestclock.errors import BadInputError
from guestclock.qemu import trace_source
from guestclock.qemu.trace import NAMES_MAX, TraceAnalysis, analyse, as_json, watch
from guestclock.qemu.trace_figures import TraceFigures
from guestclock.qemu.trace_source import TraceSource


def of(lines: list[str]) -> TraceFigures:
    analysis = TraceAnalysis()
    analysis.feed(text(lines))
    analysis.end()
    return analysis.figures()


def read_file(path: Path) -> TraceFigures:
    with TraceSource(str(path)) as source:
        return analyse(source)


lines = st.lists(
    st.one_of(
        st.builds(
            access,
            st.sampled_from(["read", "write"]),
            st.sampled_from([0, T1CH, IFR, 14]),
            st.sampled_from([0, 0x1E, 0x40, 0xC0, 0xFF]),
            st.integers(0, 10**7),
        ),
        st.builds(recompute, st.sampled_from([0, 7831]), st.integers(0, 10**7)),
        st.sampled_from(["", "damaged", "via1_auxmode setting auxmode to 1", "esp_x"]),
    ),
    max_size=40,
)


@settings(max_examples=40)
@given(lines, st.integers(1, 200))
def test_cutting_into_chunks_changes_nothing(lines: list[str], size: int) -> None:
    data = text(lines)
    source = SimpleNamespace(pieces=(data[at : at + size] for at in range(0, len(data), size)))
    analysis, rest = TraceAnalysis(), b""
    for piece in source.pieces:
        whole, rest = trace_source._whole_lines(rest + piece)
        analysis.feed(whole)
    analysis.feed(rest)
    analysis.end()
    assert analysis.figures() == of(lines)


@settings(max_examples=40)
@given(lines)
def test_events_are_counted_by_name(lines: list[str]) -> None:
    expected: dict[str, int] = {}
    for line in lines:
        name = line.rpartition(":")[2].split(" ")[0]
        if "_" in name:
            expected[name] = expected.get(name, 0) + 1
    figures = of(lines)
    assert figures.events == expected
    assert figures.lines == len(lines)
    assert figures.damage.lines == lines.count("damaged")


def test_a_storm() -> None:
    """Between the runs lies more than two accesses; the second is too short to be a storm."""
    quiet = [access("read", 0, 0)] * 3
    run = [access("read", T1CH, 1), access("read", IFR, 0x20), recompute(0)]
    found = of([*quiet, *run * 70, *quiet, *run * 63, recompute(7831)]).recomputations
    assert found.lines == 134
    assert found.by_latch == {"0": 133, "7831": 1}
    assert (found.storms, found.storm_lines, found.longest_storm_lines) == (1, 70, 70)
    found = of([*run * 70, *quiet, *run * 100]).recomputations
    assert (found.storms, found.storm_lines, found.longest_storm_lines) == (2, 170, 100)


def test_times_between_lines() -> None:
    stamps = [100, 103, 103, 110, 1_111, 5_000, 4_000, 4_001]
    figures = of([access("read", T1CH, 1, at) for at in stamps])
    (row,) = figures.accesses
    # Gaps: 3, 0, 7, a pause of 1001, of 3889, one back, 1.
    assert (row.count, row.fastest_us, row.median_us, row.p99_us) == (8, 0, 1, 7)
    assert (row.busy_us, row.pauses) == (11, 2)
    assert (figures.span_us, figures.stamps_back) == (3_901, 1)


def test_accesses_that_took_most_come_first() -> None:
    pairs = [(access("read", IFR, 1, at), access("write", 0, 1, at + 900)) for at in (0, 1_000, 2_000)]
    figures = of([line for pair in pairs for line in pair])
    assert [(row.access, row.register) for row in figures.accesses] == [("write", "ORB"), ("read", "IFR")]


def test_damage_is_shown_once(tmp_path: Path) -> None:
    path = tmp_path / "damaged.log"
    path.write_bytes(
        text([access("read", T1CH, 1)]) + b"\n\x1b[31m\xffbroken\n" + b"again\n" * 3 + b"mos6522_read reg=0x"
    )
    figures = read_file(path)
    assert figures.damage.lines == 5
    assert (figures.damage.first_line, figures.damage.first_text) == (3, r"\x1b[31m\xffbroken")
    assert figures.events == {"mos6522_read": 1}


def test_an_endless_line_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_source, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(trace_source, "LINE_MAX_BYTES", 5000)
    path = tmp_path / "endless.log"
    path.write_bytes(b"x" * 20_000 + b"\n" + text([access("read", T1CH, 1)]))
    with TraceSource(str(path)) as source:
        assert max(map(len, source.chunks())) <= 6001
    figures = read_file(path)
    assert figures.damage.lines > 1
    assert figures.damage.first_text is not None
    assert len(figures.damage.first_text) < 200


def test_another_device(tmp_path: Path) -> None:
    path = tmp_path / "esp.log"
    path.write_text("esp_mem_writeb reg[4]: 0x00 -> 0x01\n" * 3 + "scsi_req_alloc target 0\n")
    with pytest.raises(BadInputError, match=r"esp\.log: no mos6522_\* or via1_\* events, but esp_mem_writeb"):
        read_file(path)


@pytest.mark.parametrize(("content", "said"), [("", "in 0 lines"), ("hello\n", "line 1: hello")])
def test_no_trace_at_all(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "empty.log"
    path.write_text(content)
    with pytest.raises(BadInputError, match=said):
        read_file(path)


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(BadInputError, match=str(path)):
            read_file(path)


def test_many_names_are_bounded() -> None:
    figures = of([f"dev_{number} x" for number in range(NAMES_MAX + 50)])
    assert len(figures.events) == NAMES_MAX + 1
    assert figures.events["(more names)"] == 50


def test_compressed(tmp_path: Path) -> None:
    data = text([access("read", T1CH, value % 32) for value in range(3000)])
    plain, packed, cut = (tmp_path / name for name in ("a.log", "a.log.gz", "cut.log.gz"))
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data[:999]) + gzip.compress(data[999:]))
    assert read_file(packed) == read_file(plain)
    cut.write_bytes(gzip.compress(data, mtime=0)[:-10])
    figures = read_file(cut)
    assert figures.damage.cut_short == "it ends in the middle"
    assert figures.lines > 2900
    cut.write_bytes(b"\x1f\x8bnonsense")
    with pytest.raises(BadInputError, match="the compressed file is damaged"):
        read_file(cut)


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(text([access("read", T1CH, 1)]))
    with path.open("rb") as file:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=file))
        with TraceSource("-") as source:
            assert analyse(source).events == {"mos6522_read": 1}
        assert not file.closed


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(text([access("read", T1CH, 1)] * 50_000))
    shares: list[float] = []
    with TraceSource(str(path)) as source:
        analyse(source, lambda _what, share: shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def growing(path: Path, additions: list[bytes]) -> Iterator[bool]:
    """Each time that the watch waits, add to the file; then end it."""
    for more in additions:
        with path.open("ab") as file:
            file.write(more)
        yield True
    yield False


def test_watch(tmp_path: Path) -> None:
    path = tmp_path / "growing.log"
    path.write_bytes(text([access("read", T1CH, 0x10)]))
    late = text([access("read", T1CH, 0x11)])
    steps = growing(path, [late[:10], late[10:], b""])
    with TraceSource(str(path)) as source:
        seen = [figures.clock for figures in watch(source, lambda: next(steps))]
    # A read is complete with the access after it: the second one is still open.
    assert [clock.reads for clock in seen] == [0, 1]
    assert [as_json(figures)["good"] for figures in [of([])]] == [True]


def test_watch_sees_a_file_shrink(tmp_path: Path) -> None:
    path = tmp_path / "growing.log"
    path.write_bytes(text([access("read", T1CH, 0x10)] * 2))

    def shrink() -> bool:
        path.write_bytes(b"")
        return True

    with TraceSource(str(path)) as source, pytest.raises(BadInputError, match="became shorter"):
        list(watch(source, shrink))


def test_only_plain_files_are_watched(tmp_path: Path) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(b"x\n"))
    with TraceSource(str(path)) as source, pytest.raises(BadInputError, match="plain file"):
        list(watch(source, lambda: False))


def test_json() -> None:
    document = as_json(of([access("read", T1CH, 1), access("read", T1CH, 2)]))
    assert json.loads(json.dumps(document, allow_nan=False)) == json.loads(json.dumps(document))
    assert (document["schema"], document["good"], document["exit_status"]) == ("guestclock.trace", False, 1)


def test_in_memory_streams_have_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(b""))))
    with pytest.raises(BadInputError, match="standard input"):
        TraceSource("-")
