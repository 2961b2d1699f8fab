"""Filling the tables row by row or chunk by chunk."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from guestclock.readings.schema import EVENTS, HISTOGRAMS, READINGS, EventKind, Table, blank
from guestclock.readings.tables import Tables


class _Growing:
    """A structured array that doubles when it is full, so that appending is cheap on average."""

    def __init__(self, dtype: np.dtype[np.void]) -> None:
        self._rows = blank(dtype, 64)
        self._used = 0

    def append(self, values: Mapping[str, Any]) -> None:
        self._reserve(1)
        row = self._rows[self._used]
        for name, value in values.items():
            row[name] = value
        self._used += 1

    def extend(self, chunk: Table, fixed: Mapping[str, Any]) -> None:
        self._reserve(len(chunk))
        target = self._rows[self._used : self._used + len(chunk)]
        for name in chunk.dtype.names or ():
            target[name] = chunk[name]
        for name, value in fixed.items():
            target[name] = value
        self._used += len(chunk)

    def frozen(self) -> Table:
        return self._rows[: self._used].copy()

    def _reserve(self, more: int) -> None:
        wanted = self._used + more
        if wanted <= len(self._rows):
            return
        larger = blank(self._rows.dtype, max(wanted, 2 * len(self._rows)))
        larger[: self._used] = self._rows[: self._used]
        self._rows = larger


class _Names:
    """Names in order of first use; asking for a name gives its index."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}

    def index(self, name: str) -> int:
        return self._index.setdefault(name, len(self._index))

    def frozen(self) -> tuple[str, ...]:
        return tuple(self._index)


class TablesBuilder:
    """Collects rows and gives :class:`Tables`.

    Columns that a caller leaves out are unknown.  A misspelt column is a ``ValueError``.

    >>> builder = TablesBuilder()
    >>> mono, calls = builder.source("mono"), builder.phase("calls")
    >>> builder.add_reading(source=mono, phase=calls, host_ns=10, said_ns=12, calls=100)
    >>> tables = builder.freeze({"tick_period_ns": 10_000_000})
    >>> tables.readings["said_ns"], tables.readings["guest_ns"]
    (array([12]), array([-1]))
    """

    def __init__(self) -> None:
        self._readings = _Growing(READINGS)
        self._events = _Growing(EVENTS)
        self._histograms = _Growing(HISTOGRAMS)
        self._sources = _Names()
        self._phases = _Names()
        self._messages = _Names()

    def source(self, name: str) -> int:
        """Return the index of a source, new or known."""
        return self._sources.index(name)

    def phase(self, name: str) -> int:
        """Return the index of a phase, new or known."""
        return self._phases.index(name)

    def message(self, text: str) -> int:
        """Return the index of a message, new or known."""
        return self._messages.index(text)

    def add_reading(self, **columns: float) -> None:
        """Append one reading, columns by name (:data:`READINGS`)."""
        self._readings.append(columns)

    def add_event(self, kind: EventKind, **columns: int) -> None:
        """Append one event, columns by name (:data:`EVENTS`)."""
        self._events.append({"kind": int(kind), **columns})

    def add_histogram_row(self, **columns: int) -> None:
        """Append one histogram row, columns by name (:data:`HISTOGRAMS`)."""
        self._histograms.append(columns)

    def extend_readings(self, chunk: Table, **fixed: Any) -> None:
        """Append a structured array of readings; ``fixed`` sets whole columns (values or arrays)."""
        self._readings.extend(chunk, fixed)

    def extend_events(self, chunk: Table, **fixed: Any) -> None:
        """Append a structured array of events; ``fixed`` sets whole columns (values or arrays)."""
        self._events.extend(chunk, fixed)

    def freeze(self, meta: Mapping[str, Any]) -> Tables:
        """Return what was collected so far; the builder can go on afterwards."""
        return Tables(
            readings=self._readings.frozen(),
            events=self._events.frozen(),
            histograms=self._histograms.frozen(),
            sources=self._sources.frozen(),
            phases=self._phases.frozen(),
            messages=self._messages.frozen(),
            meta=meta,
        )
