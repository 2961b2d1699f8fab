"""CSV and Parquet: words for indices, null for what is unknown."""

import sys
from pathlib import Path

import polars
import pytest

from guestclock.errors import UnavailableError
from guestclock.readings import EventKind, Tables, TablesBuilder
from guestclock.readings.export import export_csv, export_parquet


@pytest.fixture
def tables() -> Tables:
    builder = TablesBuilder()
    mono, calls = builder.source("mono"), builder.phase("calls")
    builder.add_reading(source=mono, phase=calls, host_ns=20, said_ns=-1, calls=3)
    builder.add_event(EventKind.TICK_LOST, source=builder.source("via1.t1"), phase=calls, value=2)
    builder.add_histogram_row(source=mono, phase=calls, low_ns=-10, high_ns=0, count=1, sum_ns=-4)
    return builder.freeze({})


@pytest.mark.parametrize("export", [export_csv, export_parquet])
def test_exported_files_say_what_the_tables_say(tables: Tables, tmp_path: Path, export: object) -> None:
    assert callable(export)
    read = polars.read_csv if export is export_csv else polars.read_parquet
    readings, events, histograms = (read(path) for path in export(tables, tmp_path))
    row = readings.row(0, named=True)
    assert (row["source"], row["phase"], row["host_ns"], row["said_ns"]) == ("mono", "calls", 20, -1)
    assert row["guest_ns"] is None
    assert row["cost_ns"] is None
    row = events.row(0, named=True)
    assert (row["kind"], row["source"], row["value"], row["masked"]) == ("tick_lost", "via1.t1", 2, None)
    assert histograms.row(0, named=True)["sum_ns"] == -4


def test_empty_tables_export(tmp_path: Path) -> None:
    for path in export_csv(Tables(), tmp_path):
        assert path.read_text().count("\n") == 1


def test_without_polars_the_message_says_what_to_install(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(UnavailableError, match=r"pip install 'guestclock\[report\]'"):
        export_csv(tables, tmp_path)
