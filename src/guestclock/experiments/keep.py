"""Keeping the tables of a run in a folder."""

from pathlib import Path

from guestclock.errors import BadInputError
from guestclock.readings import Tables, save


def keep_tables(tables: Tables, directory: Path) -> None:
    """Write ``tables.npz`` into ``directory``, made if need be; BadInputError when that fails."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(f"{directory}: cannot be written: {error.strerror}") from error
    save(tables, directory / "tables.npz")
