"""A snapshot's file: a zip archive that is the same for the same state.

Members, in this order: ``guestclock.json`` (format, version, and all state that is names and numbers),
``console.log``, ``arrivals.npy``, ``probes.npy`` and ``events.npy`` (what the run has left so far),
``pages.npy`` (numbers of the pages of memory that are not all zeros) and ``memory.bin`` (those pages).  The
archive's own checksums find damage.
"""

import io
import json
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from guestclock.errors import BadInputError
from guestclock.experiments.boot import as_described
from guestclock.experiments.console import ConsoleState
from guestclock.experiments.plan import RunPlan
from guestclock.experiments.snapshot import Rows, Snapshot
from guestclock.quadra.board import EVENT_COLUMNS
from guestclock.quadra.cpu import KNOWN_VERSION
from guestclock.quadra.probe_port import PROBE_COLUMNS

FORMAT = "guestclock snapshot"
VERSION = 1
"""Goes up with any change of what the parts of the machine keep."""

PAGE_BYTES = 4096
_HEADER = "guestclock.json"
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_ARRIVAL_COLUMNS = 3
_BYTES = "bytes"


def save(snapshot: Snapshot, path: Path) -> None:
    """Write a snapshot; an existing file is replaced as a whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written: {error.strerror or error}") from error
    try:
        with zipfile.ZipFile(partial, "w") as archive:
            for name, data in _members(snapshot):
                _write(archive, name, data)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise BadInputError(f"{path}: cannot be written: {error.strerror or error}") from error


def load(path: Path) -> Snapshot:
    """Read a file that :func:`save` wrote.

    Raises:
        BadInputError: it is not one, is damaged, was written by another version, or its guest's files are no
            longer those that were booted.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            header = _checked(json.loads(archive.read(_HEADER)))
            return _snapshot(header, archive)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except BadInputError as error:
        raise BadInputError(f"{path}: {error}") from error
    except zipfile.BadZipFile as error:
        raise BadInputError(f"{path}: not a snapshot, or a damaged one ({error})") from error
    except (KeyError, ValueError, TypeError, EOFError, NotImplementedError, zlib.error) as error:
        raise BadInputError(f"{path}: not a snapshot, or a damaged one ({error!r})") from error


def _members(snapshot: Snapshot) -> list[tuple[str, bytes]]:
    words = np.frombuffer(snapshot.memory, np.uint64).reshape(-1, PAGE_BYTES // 8)
    pages = np.flatnonzero(words.any(axis=1))
    header = {
        "format": FORMAT,
        "version": VERSION,
        "cpu": KNOWN_VERSION,
        "plan": asdict(snapshot.plan),
        "boot": snapshot.boot.described(),
        "command_line": snapshot.boot.command_line,
        "machine": snapshot.machine,
        "line": snapshot.console.line,
        "last_sign_ns": snapshot.console.last_sign_ns,
        "start_s": snapshot.start_s,
        "typed_into": snapshot.typed_into,
        "stood_still_ns": snapshot.stood_still_ns,
    }
    arrivals = np.array(snapshot.console.arrivals, np.int64).reshape(-1, _ARRIVAL_COLUMNS)
    return [
        (_HEADER, json.dumps(without_bytes(header), indent=1).encode("ascii")),
        ("console.log", snapshot.console.output),
        ("arrivals.npy", _npy(arrivals)),
        ("probes.npy", _npy(snapshot.probes)),
        ("events.npy", _npy(snapshot.events)),
        ("pages.npy", _npy(pages.astype(np.int64))),
        ("memory.bin", words[pages].tobytes()),
    ]


def _write(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, _EARLIEST)
    member.external_attr = 0o644 << 16
    member.create_system = 3  # Unix: the default is that of the machine that writes
    archive.writestr(member, data, zipfile.ZIP_DEFLATED, compresslevel=1)


def _npy(rows: Rows) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(rows, "<i8"), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _checked(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BadInputError(f"not a snapshot ({_HEADER} does not say so)")
    version, cpu = header.get("version"), header.get("cpu")
    if version != VERSION:
        raise BadInputError(
            f"a snapshot of version {version}, this guestclock reads {VERSION}: "
            "go on with the guestclock that took it"
        )
    if cpu != KNOWN_VERSION:
        raise BadInputError(
            f"a snapshot of the CPU of unicorn {cpu}, this is that of unicorn {KNOWN_VERSION}"
        )
    return header


def _snapshot(header: dict[str, Any], archive: zipfile.ZipFile) -> Snapshot:
    plan = RunPlan(**header["plan"])
    state = with_bytes(header)
    arrivals = _rows(archive, "arrivals", _ARRIVAL_COLUMNS).tolist()
    return Snapshot(
        plan=plan,
        boot=as_described(header["boot"], header["command_line"]),
        machine=state["machine"],
        memory=_memory(archive, plan.ram_mib << 20),
        probes=_rows(archive, "probes", len(PROBE_COLUMNS)),
        events=_rows(archive, "events", len(EVENT_COLUMNS)),
        console=ConsoleState(
            output=archive.read("console.log"),
            arrivals=[(length, guest_ns, host_ns) for length, guest_ns, host_ns in arrivals],
            line=state["line"],
            last_sign_ns=header["last_sign_ns"],
        ),
        start_s=header["start_s"],
        typed_into=header["typed_into"],
        stood_still_ns=tuple(header["stood_still_ns"]),
    )


def _array(archive: zipfile.ZipFile, name: str) -> Rows:
    rows: Rows = np.lib.format.read_array(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
    if rows.dtype != np.int64:
        raise ValueError(f"{name}.npy holds {rows.dtype}")
    return rows


def _rows(archive: zipfile.ZipFile, name: str, columns: int) -> Rows:
    rows = _array(archive, name)
    if rows.ndim != 2 or rows.shape[1] != columns:
        raise ValueError(f"{name}.npy has the shape {rows.shape}")
    return rows


def _memory(archive: zipfile.ZipFile, ram_bytes: int) -> bytes:
    pages = _array(archive, "pages")
    held = np.frombuffer(archive.read("memory.bin"), np.uint8).reshape(-1, PAGE_BYTES)
    if len(pages) != len(held) or np.any(pages < 0) or np.any(pages >= ram_bytes // PAGE_BYTES):
        raise ValueError("memory.bin is not the pages of pages.npy")
    memory = np.zeros((ram_bytes // PAGE_BYTES, PAGE_BYTES), np.uint8)
    memory[pages] = held
    return memory.tobytes()


def without_bytes(state: Any) -> Any:
    """Return state in which bytes are told in JSON."""
    match state:
        case bytes():
            return {_BYTES: state.hex()}
        case dict():
            return {name: without_bytes(value) for name, value in state.items()}
        case list() | tuple():
            return [without_bytes(value) for value in state]
    return state


def with_bytes(state: Any) -> Any:
    """Return what :func:`without_bytes` was given, but for tuples, which stay lists."""
    match state:
        case {"bytes": text, **others} if not others:
            return bytes.fromhex(text)
        case dict():
            return {name: with_bytes(value) for name, value in state.items()}
        case list():
            return [with_bytes(value) for value in state]
    return state
