"""Keeping what a run left in a folder."""

from pathlib import Path

from guestclock.errors import BadInputError
from guestclock.readings import Tables, save


def keep_tables(tables: Tables, directory: Path) -> None:
    """Write ``tables.npz`` into ``directory``, made if need be; BadInputError when that fails."""
    _make(directory)
    save(tables, directory / "tables.npz")


def keep_bytes(data: bytes, path: Path) -> None:
    """Write a file into a folder that is made if need be; BadInputError when that fails."""
    _make(path.parent)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written: {error.strerror}") from error


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(f"{directory}: cannot be written: {error.strerror}") from error
