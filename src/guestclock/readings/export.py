"""CSV and Parquet for other programs, through polars (extra ``report``)."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from guestclock.errors import BadInputError, UnavailableError
from guestclock.readings.schema import DEFAULTS, EventKind
from guestclock.readings.tables import TABLE_NAMES, Tables

if TYPE_CHECKING:
    import polars


def to_frames(tables: Tables) -> "dict[str, polars.DataFrame]":
    """Return the three tables as polars frames, by name.

    Sources, phases and kinds stand in words, and what is unknown is null.
    Raises :class:`UnavailableError` where polars is not installed.
    """
    try:
        import polars  # noqa: PLC0415 (an extra: imported only by those who export)
    except ImportError as error:
        raise UnavailableError("export needs polars: pip install 'guestclock[report]'") from error
    words: dict[str, dict[int, str]] = {
        "source": dict(enumerate(tables.sources)),
        "phase": dict(enumerate(tables.phases)),
        "kind": {int(kind): kind.name.lower() for kind in EventKind},
    }
    frames = {}
    for name in TABLE_NAMES:
        frame = polars.from_numpy(getattr(tables, name))
        for column in frame.columns:
            if column in words:
                named = polars.col(column).replace_strict(
                    words[column], default=None, return_dtype=polars.String
                )
                frame = frame.with_columns(named)
            elif column in DEFAULTS:
                known = polars.when(polars.col(column) != DEFAULTS[column]).then(polars.col(column))
                frame = frame.with_columns(known.alias(column))
        frames[name] = frame
    return frames


def export_csv(tables: Tables, directory: str | os.PathLike[str]) -> list[Path]:
    """Write ``readings.csv``, ``events.csv`` and ``histograms.csv``; return their paths."""
    frames = to_frames(tables)
    return [_write(Path(directory) / f"{name}.csv", frames[name].write_csv) for name in TABLE_NAMES]


def export_parquet(tables: Tables, directory: str | os.PathLike[str]) -> list[Path]:
    """Write ``readings.parquet``, ``events.parquet`` and ``histograms.parquet``; return their paths."""
    frames = to_frames(tables)
    return [_write(Path(directory) / f"{name}.parquet", frames[name].write_parquet) for name in TABLE_NAMES]


def _write(path: Path, writer: Callable[[Path], None]) -> Path:
    try:
        writer(path)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path
