"""The finished tables of one run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guestclock.errors import BadInputError
from guestclock.readings.schema import EVENTS, HISTOGRAMS, READINGS, EventKind, Table, blank

TABLE_NAMES = ("readings", "events", "histograms")


@dataclass(frozen=True, eq=False)
class Tables:
    """What one run measured: three read-only tables, the names they refer to, and how it was run.

    Rows stand in the order in which they happened, for each source.  ``meta`` is plain JSON data
    with the unit last in each name; ``docs/tables.md`` lists the names that verdicts look at.
    Raises :class:`BadInputError` for a table of another shape or an index without a name.
    """

    readings: Table = field(default_factory=lambda: blank(READINGS, 0))
    events: Table = field(default_factory=lambda: blank(EVENTS, 0))
    histograms: Table = field(default_factory=lambda: blank(HISTOGRAMS, 0))
    sources: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "meta", json.loads(json.dumps(dict(self.meta), sort_keys=True, allow_nan=False))
        )
        for name, dtype in (("readings", READINGS), ("events", EVENTS), ("histograms", HISTOGRAMS)):
            table = getattr(self, name)
            if table.dtype != dtype or table.ndim != 1:
                raise BadInputError(f"table {name}: its columns are not those of this version's {name}")
            frozen = table.view()
            frozen.flags.writeable = False
            object.__setattr__(self, name, frozen)
            self._check_index(name, "source", self.sources)
            self._check_index(name, "phase", self.phases)

    def _check_index(self, name: str, column: str, names: tuple[str, ...]) -> None:
        indices = getattr(self, name)[column]
        if len(indices) and int(indices.max()) >= len(names):
            row = int(np.argmax(indices >= len(names)))
            raise BadInputError(
                f"table {name}, row {row}: {column} {indices[row]} has no name (there are {len(names)})"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tables):
            return NotImplemented
        return (
            self.sources == other.sources
            and self.phases == other.phases
            and self.messages == other.messages
            and self.meta == other.meta
            and all(getattr(self, name).tobytes() == getattr(other, name).tobytes() for name in TABLE_NAMES)
        )

    __hash__ = None  # type: ignore[assignment]  # as for every value with arrays inside

    def events_of(self, *kinds: EventKind) -> Table:
        """Return the events of these kinds, in order."""
        return self.events[np.isin(self.events["kind"], [int(kind) for kind in kinds])]

    def readings_of(self, source: int) -> Table:
        """Return one source's readings, in order."""
        rows: Table = self.readings[self.readings["source"] == source]
        return rows

    def message(self, index: int) -> str:
        """Return the text that an event's ``value`` refers to, or a placeholder when there is none."""
        return self.messages[index] if 0 <= index < len(self.messages) else f"(message {index} is missing)"
