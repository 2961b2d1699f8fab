"""From what a guest says and a machine logs to the tables.

Three streams come in: the console, the probe port's log, and the machine's events.  A look at a clock that
reached both the probe port and the console is one look; so for each clock and phase the probe's readings and
backward steps are taken where there are any, and the console's where there are none.  Histograms come by
console alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from guestclock.experiments.transcript import CLOCKS, LINE_CLOCKS, SANE_NS, Arrival, Transcript
from guestclock.quadra.board import EVENT_SOURCES
from guestclock.readings import EVENTS, READINGS, UNKNOWN, EventKind, Tables, TablesBuilder
from guestclock.readings.schema import Table, blank

BOOT = "boot"
"""The phase before the guest's first."""

# The probe port's tags (docs/guest-protocol.md): a look at each clock, and the "before" of a backward step.
_LOOK_TAG = {"mono": 1, "real": 2}
_BEFORE_TAG = {"mono": 3, "real": 5}
_LINE_TAGS = (7, 8)

CONSOLE, HOST = "console", "host"
"""The sources of events that are console lines, and of stalls."""

_HISTOGRAM_COLUMNS = ("low_ns", "high_ns", "count", "sum_ns", "min_ns", "max_ns")
PROBE_COLUMNS = ("guest_ns", "host_ns", "value", "tag", "calls", "ticks", "code_bytes")
_NO_PROBES = np.zeros(0, [(column, "<i8") for column in PROBE_COLUMNS])
_NO_EVENTS = blank(EVENTS, 0)


def named(rows: npt.NDArray[np.int64], columns: Sequence[str]) -> Table:
    """Return rows of integers, shape (rows, columns), as a structured array."""
    return np.ascontiguousarray(rows, "<i8").view([(column, "<i8") for column in columns])[:, 0]


def collect(
    transcript: Transcript,
    *,
    probes: Table = _NO_PROBES,
    events: Table = _NO_EVENTS,
    stalls: Sequence[tuple[int, int]] = (),
    meta: Mapping[str, Any],
) -> Tables:
    """Return the tables of one run.

    ``probes`` has the columns ``PROBE_COLUMNS``, and ``events`` those of the events table that the machine
    fills.  ``stalls`` are pairs of host time and length in ns.  ``meta`` says how the run was made
    (``docs/tables.md``); what the guest's hello tells is added.
    """
    meta = _complete(transcript, meta)
    builder = TablesBuilder()
    phases = _Phases(transcript, probes)
    for clock in CLOCKS:
        builder.source(clock)
    for name in phases.names:
        builder.phase(name)

    looks = _probe_looks(probes, phases)
    looks = np.concatenate([looks, _uncovered(_told_looks(transcript, phases), looks)])
    looks = looks[np.argsort(looks["phase"], kind="stable")]
    _share_calls(looks, phases)
    _price(looks, phases, f"{meta['cost_time']}_ns")
    builder.extend_readings(looks)
    for clock in LINE_CLOCKS:
        builder.extend_readings(_line_looks(clock, probes, transcript, phases, builder))

    backs = _probe_backs(probes, phases)
    backs = np.concatenate([backs, _uncovered(_told_backs(transcript, phases), backs)])
    machine = _machine_events(events, transcript, phases, builder)
    others = [backs, _remarks(transcript, phases, builder), _stalls(stalls, phases, builder.source(HOST))]
    builder.extend_events(_merged(machine, np.concatenate(others)))

    for row in transcript.histogram:
        builder.add_histogram_row(
            source=CLOCKS.index(row.clock),
            phase=int(phases.places(row.id)),
            **{column: getattr(row, column) for column in _HISTOGRAM_COLUMNS},
        )
    return builder.freeze(meta | _cpu_ticks(transcript, phases))


def _cpu_ticks(transcript: Transcript, phases: "_Phases") -> dict[str, Any]:
    """Return the guest's own accounting of its phases, as ``meta`` has it."""
    if not transcript.cpu:
        return {}
    return {
        "cpu_ticks": {
            phases.names[int(phases.places(line.id))]: {"user": line.user_ticks, "system": line.system_ticks}
            for line in transcript.cpu
            if line.id in phases.numbers
        }
    }


def _complete(transcript: Transcript, meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``meta`` with what the console tells: the guest, its tick, and how the run ended."""
    virtual = meta.get("pacing") == "virtual"
    known: dict[str, Any] = {
        "truth": "guest" if virtual else "host",
        "cost_time": "guest" if virtual else "host",
    }
    if hello := transcript.hello:
        period_cycles = hello.clock_hz // hello.tick_hz  # CYC of the kernel's via.c: rounded down
        known |= {
            "guest": hello.guest,
            "clock": hello.clock,
            "clock_hz": hello.clock_hz,
            "tick_hz": hello.tick_hz,
            "tick_period_cycles": period_cycles,
            "tick_period_ns": period_cycles / hello.clock_hz * 1e9,
        }
    known |= meta
    if transcript.bye:
        known["ended"] = "done"
    elif any(remark.kind is EventKind.PANIC for remark in transcript.remarks):
        known["ended"] = "panic"
    known.setdefault("ended", "silent")
    return known


class _Phases:
    """The guest's phases; their place in the tables is that of their number among the guest's numbers."""

    def __init__(self, transcript: Transcript, probes: Table) -> None:
        numbers = {0, *transcript.phases, *np.unique(probes["tag"] >> 16).tolist()}
        for said in (transcript.stamps, transcript.backs):
            numbers |= {line.id for line, _ in said}
        numbers |= {row.id for row in transcript.histogram}
        self.numbers = np.array(sorted(numbers))
        self.kinds: list[str] = []
        self.names: list[str] = []
        self._begins: dict[str, list[int]] = {"guest_ns": [], "host_ns": []}
        for number in self.numbers.tolist():
            phase, at = transcript.phases.get(number, (None, Arrival()))
            kind = phase.name if phase else f"phase {number}" if number else BOOT
            self.kinds.append(kind)
            repeated = self.kinds.count(kind)
            self.names.append(kind if repeated == 1 else f"{kind} {repeated}")
            for column, begins_ns in self._begins.items():
                begins_ns.append(max([getattr(at, column), *begins_ns]))

    def places(self, numbers: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the places in the tables of phases with these numbers."""
        return np.searchsorted(self.numbers, numbers)

    def places_at(self, column: str, time_ns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the places in the tables of the phases that these guest or host times fall into."""
        return np.maximum(np.searchsorted(self._begins[column], time_ns, side="right") - 1, 0)

    def are(self, kind: str, places: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which of these places are phases of a kind, as ``calls``."""
        return np.isin(places, [place for place, of in enumerate(self.kinds) if of == kind])


def _sane(value_ns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Keep what a clock said within bounds in which no difference of two readings overflows."""
    return np.clip(value_ns, -SANE_NS, SANE_NS - 1)


# Looks: rows of READINGS whose `calls` are all calls since the look before, of whichever clock.


def _probe_looks(probes: Table, phases: _Phases) -> Table:
    tag = probes["tag"] & 0xFFFF
    chosen = np.flatnonzero(np.isin(tag, list(_LOOK_TAG.values())))
    looks = blank(READINGS, len(chosen))
    for column in ("guest_ns", "host_ns", "ticks", "code_bytes"):
        looks[column] = probes[column][chosen]
    looks["said_ns"] = _sane(probes["value"])[chosen]
    looks["source"] = tag[chosen] - 1
    looks["phase"] = phases.places(probes["tag"][chosen] >> 16)
    # A look commits the monotonic clock first, with the calls, and the other clock after it with none.
    mono = np.where(tag == _LOOK_TAG["mono"], np.arange(len(tag)), -1)
    last_mono = np.maximum.accumulate(mono)[chosen] if len(tag) else chosen
    looks["calls"] = np.where(last_mono >= 0, probes["calls"][last_mono], 0)
    return looks


def _told_looks(transcript: Transcript, phases: _Phases) -> Table:
    looks = blank(READINGS, len(CLOCKS) * len(transcript.stamps))
    for row, (stamp, at) in enumerate(transcript.stamps):
        pair = looks[2 * row : 2 * row + 2]
        pair["said_ns"] = stamp.mono_ns, stamp.real_ns
        pair["phase"] = phases.places(stamp.id)
        pair["guest_ns"], pair["host_ns"] = at.guest_ns, at.host_ns
        pair["ticks"], pair["calls"] = stamp.ticks, stamp.calls
    looks["source"] = np.tile(np.arange(len(CLOCKS)), len(transcript.stamps))
    return looks


def _line_looks(
    clock: str, probes: Table, transcript: Transcript, phases: _Phases, builder: TablesBuilder
) -> Table:
    """Return the looks at a timing line's clock: none unless the guest listened to the line."""
    tag = _LINE_TAGS[LINE_CLOCKS.index(clock)]
    chosen = probes[probes["tag"] & 0xFFFF == tag]
    told = [] if len(chosen) else [(line, at) for line, at in transcript.timing_lines if line.clock == clock]
    looks = blank(READINGS, len(chosen) + len(told))
    if len(looks):
        looks["source"] = builder.source(clock)
    looks["phase"][: len(chosen)] = phases.places(chosen["tag"] >> 16)
    for column in ("guest_ns", "host_ns", "code_bytes"):
        looks[column][: len(chosen)] = chosen[column]
    looks["said_ns"][: len(chosen)] = _sane(chosen["value"])
    for row, (line, at) in zip(looks[len(chosen) :], told, strict=True):
        row["phase"], row["said_ns"] = phases.places(line.id), line.said_ns
        row["guest_ns"], row["host_ns"] = at.guest_ns, at.host_ns
    return looks


def _streams(rows: Table) -> npt.NDArray[np.int64]:
    """Return the source and phase of each row as one number."""
    streams: npt.NDArray[np.int64] = rows["source"].astype(np.int64) << 32 | rows["phase"]
    return streams


def _uncovered(rows: Table, covering: Table) -> Table:
    """Return the rows whose source and phase have no row in ``covering``."""
    kept: Table = rows[~np.isin(_streams(rows), np.unique(_streams(covering)))]
    return kept


def _share_calls(looks: Table, phases: _Phases) -> None:
    """Give each clock its own calls: `calls` reads only the time of day, `hunt` reads both clocks in turn."""
    real = looks["source"] == CLOCKS.index("real")
    half = looks["calls"] // 2
    own = np.zeros(len(looks), np.int64)
    own = np.where(phases.are("calls", looks["phase"]) & real, looks["calls"], own)
    own = np.where(phases.are("hunt", looks["phase"]), np.where(real, looks["calls"] - half, half), own)
    looks["calls"] = own


def _price(looks: Table, phases: _Phases, column: str) -> None:
    """Fill in the cost of a call, in the phase that does nothing but call."""
    streams = _streams(looks)
    for stream in np.unique(streams[phases.are("calls", looks["phase"])]):
        rows = np.flatnonzero(streams == stream)
        time, calls = looks[column][rows], looks["calls"][rows]
        known = (time[1:] != UNKNOWN) & (time[:-1] != UNKNOWN) & (calls[1:] > 0)
        took = np.diff(time)[known]
        looks["cost_ns"][rows[1:][known]] = took / calls[1:][known]


# Events.


def _machine_events(events: Table, transcript: Transcript, phases: _Phases, builder: TablesBuilder) -> Table:
    """Return the machine's events up to the guest's goodbye: what it leaves undone after that is no loss."""
    for column in ("guest_ns", "host_ns"):
        if transcript.bye and getattr(transcript.bye, column) != UNKNOWN:
            known = events[column] != UNKNOWN
            events = events[~known | (events[column] <= getattr(transcript.bye, column))]
    rows = blank(EVENTS, len(events))
    for column in events.dtype.names or ():
        rows[column] = events[column]
    for source in np.unique(events["source"]).tolist():
        rows["source"][events["source"] == source] = builder.source(EVENT_SOURCES[source])
    # An emulator's trace knows the host's time only.
    known = "guest_ns" if np.any(rows["guest_ns"] != UNKNOWN) else "host_ns"
    rows["phase"] = phases.places_at(known, rows[known])
    return rows


def _probe_backs(probes: Table, phases: _Phases) -> Table:
    """Return the backward steps in the probe's log: a "before" and right after it its "after"."""
    found = []
    for source, clock in enumerate(CLOCKS):
        before = np.flatnonzero((probes["tag"][:-1] & 0xFFFF) == _BEFORE_TAG[clock])
        before = before[probes["tag"][before + 1] == probes["tag"][before] + 1]
        after = probes[before + 1]
        rows = blank(EVENTS, len(before))
        rows["kind"], rows["source"] = EventKind.BACKWARD, source
        rows["phase"] = phases.places(after["tag"] >> 16)
        rows["value"] = _sane(after["value"]) - _sane(probes["value"])[before]
        for column in ("guest_ns", "host_ns", "code_bytes"):
            rows[column] = after[column]
        found.append(rows)
    return np.concatenate(found)


def _told_backs(transcript: Transcript, phases: _Phases) -> Table:
    rows = blank(EVENTS, len(transcript.backs))
    for row, (back, at) in zip(rows, transcript.backs, strict=True):
        row["kind"], row["source"] = EventKind.BACKWARD, CLOCKS.index(back.clock)
        row["phase"], row["value"] = phases.places(back.id), back.after_ns - back.before_ns
        row["guest_ns"], row["host_ns"] = at.guest_ns, at.host_ns
    return rows


def _remarks(transcript: Transcript, phases: _Phases, builder: TablesBuilder) -> Table:
    rows = blank(EVENTS, len(transcript.remarks))
    for row, remark in zip(rows, transcript.remarks, strict=True):
        row["kind"], row["source"] = remark.kind, builder.source(CONSOLE)
        row["phase"], row["value"] = phases.places(remark.phase), builder.message(remark.text)
        row["guest_ns"], row["host_ns"] = remark.at.guest_ns, remark.at.host_ns
    return rows


def _stalls(stalls: Sequence[tuple[int, int]], phases: _Phases, source: int) -> Table:
    rows = blank(EVENTS, len(stalls))
    rows["kind"], rows["source"] = EventKind.STALL, source
    rows["host_ns"] = [at_ns for at_ns, _ in stalls]
    rows["value"] = [for_ns for _, for_ns in stalls]
    rows["phase"] = phases.places_at("host_ns", rows["host_ns"])
    return rows


def _merged(machine: Table, others: Table) -> Table:
    """Return all events in order of (guest) time; the machine's keep the order in which it logged them."""
    events = np.concatenate([machine, others])
    time = np.where(events["guest_ns"] != UNKNOWN, events["guest_ns"], events["host_ns"])
    if len(machine):
        time[: len(machine)] = np.maximum.accumulate(time[: len(machine)])
    return events[np.argsort(time, kind="stable")]
