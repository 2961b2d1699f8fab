"""The tables' file: an ``.npz`` that is byte-identical for identical tables.

Members, in this order: ``guestclock.json`` (format, schema version, names, meta) and one ``.npy`` for
each table, so that ``numpy.load`` opens the file too.  Members are stored without compression and with
the zip format's earliest date, because neither a library's version nor the time of day is part of a result.
"""

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from guestclock.errors import BadInputError
from guestclock.readings.schema import SCHEMA_VERSION, Table
from guestclock.readings.tables import TABLE_NAMES, Tables

FORMAT = "guestclock tables"
_HEADER = "guestclock.json"
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def save(tables: Tables, path: str | os.PathLike[str]) -> None:
    """Write ``tables`` to ``path``; an existing file is replaced as a whole or not at all."""
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    try:
        with zipfile.ZipFile(partial, "w") as archive:
            _write_member(archive, _HEADER, _header(tables))
            for name in TABLE_NAMES:
                _write_member(archive, f"{name}.npy", _npy(getattr(tables, name)))
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise BadInputError(f"{target}: cannot be written: {error.strerror or error}") from error


def load(path: str | os.PathLike[str]) -> Tables:
    """Read a file that :func:`save` wrote.

    Raises :class:`BadInputError` when the file is not one, is damaged, or is of a newer schema.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            header = _checked_header(path, archive)
            arrays = {name: _table(path, archive, name) for name in TABLE_NAMES}
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except zipfile.BadZipFile as error:
        raise BadInputError(f"{path}: not a file of guestclock tables, or damaged ({error})") from error
    try:
        return Tables(
            sources=tuple(header["sources"]),
            phases=tuple(header["phases"]),
            messages=tuple(header["messages"]),
            meta=header["meta"],
            **arrays,
        )
    except BadInputError as error:
        raise BadInputError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise BadInputError(f"{path}: damaged: {_HEADER} lacks its names or meta ({error!r})") from error


def _header(tables: Tables) -> bytes:
    header = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "sources": tables.sources,
        "phases": tables.phases,
        "messages": tables.messages,
        "meta": tables.meta,
    }
    return json.dumps(header, indent=1, sort_keys=True).encode("ascii")


def _npy(table: Table) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, table, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _write_member(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, _EARLIEST)
    member.external_attr = 0o644 << 16
    member.create_system = 3  # Unix: the default is that of the machine that writes
    archive.writestr(member, data)


def _checked_header(path: str | os.PathLike[str], archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        header = json.loads(archive.read(_HEADER))
    except (KeyError, ValueError) as error:
        raise BadInputError(f"{path}: not a file of guestclock tables (no readable {_HEADER})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BadInputError(f"{path}: not a file of guestclock tables ({_HEADER} does not say so)")
    version = header.get("schema_version")
    if version != SCHEMA_VERSION:
        raise BadInputError(
            f"{path}: written with schema version {version}, this guestclock reads {SCHEMA_VERSION}:"
            " read it with the guestclock that wrote it, or measure again"
        )
    return header


def _table(path: str | os.PathLike[str], archive: zipfile.ZipFile, name: str) -> Table:
    try:
        data = archive.read(f"{name}.npy")
        table: Table = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except (KeyError, ValueError) as error:
        raise BadInputError(f"{path}: damaged: table {name} is missing or unreadable ({error})") from error
    return table
