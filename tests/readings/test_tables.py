"""The builder, the frozen tables, and the file that keeps them."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guestclock.errors import BadInputError
from guestclock.readings import EVENTS, READINGS, UNKNOWN, EventKind, Tables, TablesBuilder, load, save

I8 = st.integers(-(2**63), 2**63 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@st.composite
def any_tables(draw: st.DrawFn) -> Tables:
    builder = TablesBuilder()
    names = st.lists(st.text(max_size=6), min_size=1, max_size=4, unique=True)
    sources = [builder.source(name) for name in draw(names)]
    phases = [builder.phase(name) for name in draw(names)]
    for name in draw(names):
        builder.message(name)
    place = {"source": st.sampled_from(sources), "phase": st.sampled_from(phases)}
    ints = dict.fromkeys(("guest_ns", "host_ns", "said_ns", "calls", "ticks", "code_bytes"), I8)
    for row in draw(st.lists(st.fixed_dictionaries(place | ints), max_size=5)):
        builder.add_reading(**row, cost_ns=draw(st.floats(allow_nan=False)))
    ints = dict.fromkeys(("guest_ns", "host_ns", "cycle", "code_bytes", "value"), I8)
    for row in draw(st.lists(st.fixed_dictionaries(place | ints), max_size=5)):
        builder.add_event(draw(st.sampled_from(EventKind)), masked=draw(st.sampled_from((0, 1, 255))), **row)
    ints = dict.fromkeys(("low_ns", "high_ns", "count", "sum_ns", "min_ns", "max_ns"), I8)
    for row in draw(st.lists(st.fixed_dictionaries(place | ints), max_size=5)):
        builder.add_histogram_row(**row)
    return builder.freeze(draw(st.dictionaries(st.text(max_size=5), JSON, max_size=3)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(tables=any_tables())
def test_a_file_gives_back_what_was_saved_and_is_the_same_for_the_same_tables(
    tables: Tables, tmp_path: Path
) -> None:
    save(tables, tmp_path / "one.npz")
    again = load(tmp_path / "one.npz")
    assert again == tables
    save(again, tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.npz", "two.npz"]


@settings(max_examples=60)
@given(sizes=st.lists(st.integers(0, 200), max_size=6))
def test_chunks_and_rows_give_the_same_table(sizes: list[int]) -> None:
    rows = np.arange(sum(sizes))
    chunked, single = TablesBuilder(), TablesBuilder()
    for builder in (chunked, single):
        builder.source("mono")
        builder.phase("calls")
    at = 0
    for size in sizes:
        chunk = np.zeros(size, [("host_ns", "<i8"), ("said_ns", "<i8")])
        chunk["host_ns"] = rows[at : at + size]
        chunk["said_ns"] = 3 * chunk["host_ns"]
        chunked.extend_readings(chunk, calls=7)
        at += size
    for value in rows:
        single.add_reading(host_ns=int(value), said_ns=3 * int(value), calls=7)
    assert chunked.freeze({}) == single.freeze({})


def test_what_a_source_leaves_out_is_unknown() -> None:
    builder = TablesBuilder()
    builder.source("mono")
    builder.phase("boot")
    builder.add_reading(said_ns=5)
    builder.add_event(EventKind.STALL, value=9)
    tables = builder.freeze({})
    reading, event = tables.readings[0], tables.events[0]
    for name in ("guest_ns", "host_ns", "cost_ns", "ticks", "code_bytes"):
        assert reading[name] == UNKNOWN
    assert reading["calls"] == 0
    for name in ("guest_ns", "host_ns", "cycle", "code_bytes"):
        assert event[name] == UNKNOWN
    assert event["masked"] == 255


def test_a_builder_goes_on_after_freezing_and_tables_stay() -> None:
    builder = TablesBuilder()
    builder.source("mono")
    builder.phase("boot")
    builder.add_reading(said_ns=1)
    first = builder.freeze({})
    builder.add_reading(said_ns=2)
    assert list(first.readings["said_ns"]) == [1]
    assert list(builder.freeze({}).readings["said_ns"]) == [1, 2]


def test_tables_are_read_only() -> None:
    tables = Tables(readings=np.zeros(1, READINGS), sources=("mono",), phases=("boot",))
    with pytest.raises(ValueError, match="read-only"):
        tables.readings["said_ns"][0] = 1


def test_a_misspelt_column_is_refused() -> None:
    with pytest.raises(ValueError, match="said"):
        TablesBuilder().add_reading(said=1)


def test_events_of_keeps_order() -> None:
    builder = TablesBuilder()
    builder.source("t1")
    builder.phase("boot")
    for kind in (EventKind.IRQ, EventKind.UNDERFLOW, EventKind.STALL, EventKind.IRQ):
        builder.add_event(kind)
    kinds = builder.freeze({}).events_of(EventKind.IRQ, EventKind.STALL)["kind"]
    assert list(kinds) == [EventKind.IRQ, EventKind.STALL, EventKind.IRQ]


def test_an_index_without_a_name_is_refused() -> None:
    events = np.zeros(2, EVENTS)
    events["source"] = [0, 3]
    with pytest.raises(BadInputError, match=r"table events, row 1: source 3 has no name \(there are 1\)"):
        Tables(events=events, sources=("t1",), phases=("boot",))


class TestBadFiles:
    """One line that names the file, what is wrong, and the way out."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        builder = TablesBuilder()
        builder.source("mono")
        builder.phase("boot")
        builder.add_reading(said_ns=1)
        save(builder.freeze({"seed": 1}), tmp_path / "tables.npz")
        return tmp_path / "tables.npz"

    def rewrite(self, path: Path, **changes: Any) -> None:
        """Replace members of the archive (None removes), named without their extension."""
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        for stem, data in changes.items():
            name = next(name for name in members if name.startswith(stem))
            members[name] = data
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                if data is not None:
                    archive.writestr(name, data)

    def header(self, path: Path, **changes: Any) -> bytes:
        with zipfile.ZipFile(path) as archive:
            return json.dumps(json.loads(archive.read("guestclock.json")) | changes).encode()

    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(BadInputError, match=r"nothing\.npz: cannot be read: No such file"):
            load(tmp_path / "nothing.npz")

    def test_foreign(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("hello")
        with pytest.raises(BadInputError, match=r"notes\.txt: not a file of guestclock tables"):
            load(tmp_path / "notes.txt")

    def test_another_archive(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "other.npz", readings=np.zeros(3))
        with pytest.raises(BadInputError, match=r"other\.npz: not a file of guestclock tables"):
            load(tmp_path / "other.npz")

    def test_newer(self, path: Path) -> None:
        self.rewrite(path, guestclock=self.header(path, schema_version=99))
        with pytest.raises(BadInputError, match="written with schema version 99, this guestclock reads 1: "):
            load(path)

    def test_another_format(self, path: Path) -> None:
        self.rewrite(path, guestclock=self.header(path, format="sundial"))
        with pytest.raises(BadInputError, match="does not say so"):
            load(path)

    def test_no_names(self, path: Path) -> None:
        self.rewrite(path, guestclock=self.header(path, sources=None))
        with pytest.raises(BadInputError, match="damaged"):
            load(path)

    def test_truncated(self, path: Path) -> None:
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(BadInputError, match="damaged"):
            load(path)

    def test_a_flipped_bit(self, path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[data.index(b"\x93NUMPY") + 130] ^= 1
        path.write_bytes(data)
        with pytest.raises(BadInputError, match="damaged"):
            load(path)

    def test_a_missing_table(self, path: Path) -> None:
        self.rewrite(path, events=None)
        with pytest.raises(BadInputError, match="table events is missing"):
            load(path)

    def test_other_columns(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            events = archive.read("events.npy")
        self.rewrite(path, readings=events)
        with pytest.raises(BadInputError, match=r"tables\.npz: table readings: its columns"):
            load(path)

    def test_nowhere_to_write(self, path: Path) -> None:
        with pytest.raises(BadInputError, match="cannot be written"):
            save(Tables(), path.parent / "no" / "tables.npz")
