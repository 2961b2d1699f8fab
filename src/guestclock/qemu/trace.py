"""QEMU traces of a VIA, read once and in bounded memory.

>>> analysis = TraceAnalysis()
>>> analysis.feed(b"mos6522_read reg=0x5 [T1CH] val=0x10\\nmos6522_read reg=0x5 [T1CH] val=0x11\\n")
>>> analysis.end()
>>> analysis.figures().clock.backward_steps, analysis.figures().clock.worst_cycles
(1, -256)
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from guestclock.errors import BadInputError
from guestclock.qemu import trace_figures
from guestclock.qemu.trace_figures import TraceFigures
from guestclock.qemu.trace_gaps import KEYS, Gaps
from guestclock.qemu.trace_kinds import OUR_EVENTS, Kind
from guestclock.qemu.trace_lines import LineDecoder
from guestclock.qemu.trace_source import TraceSource
from guestclock.qemu.trace_storms import Storms
from guestclock.qemu.trace_t1 import T1Follower

SCHEMA = "guestclock.trace"
SCHEMA_VERSION = 1
NAMES_MAX = 1000
"""Of events of other devices, so many names are counted one by one."""
SHOWN_CHARS = 120
_MORE_NAMES = "(more names)"

Progress = Callable[[str, float], None]


class TraceAnalysis:
    """Takes a trace chunk by chunk; its figures can be had at any time."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.lines = 0
        self._decoder = LineDecoder()
        self._keys = np.zeros(KEYS, np.int64)
        self._others: Counter[str] = Counter()
        self._cut_short = ""
        self._first_damage: tuple[int, str] | None = None
        self._t1 = T1Follower()
        self._storms = Storms()
        self._gaps = Gaps()

    def feed(self, chunk: bytes) -> None:
        """Take whole lines: the chunk ends with a newline, or is empty."""
        at = 0
        while at < len(chunk):
            at = self._decoder.decode(chunk, at)
            self._rows(chunk)

    def _rows(self, chunk: bytes) -> None:
        columns, rows = self._decoder.columns, self._decoder.rows
        kinds = columns.kind[:rows]
        self._keys += np.bincount(kinds.astype(np.intp) * 16 + columns.reg[:rows], minlength=KEYS)
        for start in columns.start[:rows][kinds == Kind.OTHER]:
            self._name(_line_at(chunk, start).split(b" ", 1)[0].decode())
        if self._first_damage is None and (kinds == Kind.DAMAGED).any():
            row = int(np.argmax(kinds == Kind.DAMAGED))
            self._first_damage = self.lines + row + 1, _shown(_line_at(chunk, columns.start[row]))
        self._t1.feed(columns, rows, self.lines + 1)
        self._storms.feed(columns, rows)
        self._gaps.feed(columns, rows)
        self.lines += rows

    def _name(self, name: str) -> None:
        known = name in self._others or len(self._others) < NAMES_MAX
        self._others[name if known else _MORE_NAMES] += 1

    def end(self, cut_short: str = "") -> None:
        """Take the trace as ended: a clock read at its very end is whole.

        Args:
            cut_short: why it ended before its end, if it did.
        """
        self._t1.finish()
        self._cut_short = cut_short

    def figures(self) -> TraceFigures:
        """Return what the trace says so far."""
        by_key = self._keys.tolist()
        by_kind = self._keys.reshape(-1, 16).sum(axis=1).tolist()
        gaps = self._gaps
        damage = by_kind[Kind.DAMAGED], *(self._first_damage or (None, None)), self._cut_short or None
        return TraceFigures(
            lines=self.lines,
            events=trace_figures.events(by_kind, self._others),
            span_us=None if gaps.first_us is None else gaps.last_us - gaps.first_us,
            stamps_back=gaps.stamps_back,
            accesses=trace_figures.accesses(by_key, gaps),
            acknowledges=trace_figures.acknowledges(self._t1),
            recomputations=trace_figures.recomputations(self._storms),
            clock=trace_figures.clock(self._t1),
            damage=trace_figures.Damage(*damage),
        )


def _line_at(chunk: bytes, start: int) -> bytes:
    return chunk[start : chunk.index(b"\n", start)].rstrip(b"\r")


def _shown(line: bytes) -> str:
    """Return a damaged line for people: cut, and with everything unprintable escaped."""
    text = line[:SHOWN_CHARS].decode(errors="backslashreplace")
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return text + ("…" if len(line) > SHOWN_CHARS else "")


def analyse(source: TraceSource, progress: Progress = lambda _what, _share: None) -> TraceFigures:
    """Read a trace to its end and return its figures.

    Raises:
        BadInputError: it holds no event of a VIA; the message says what it holds.
    """
    analysis = TraceAnalysis()
    for chunk in source.chunks():
        analysis.feed(chunk)
        progress(f"reading {source.name}", source.share())
    analysis.end(source.cut_short)
    return _of_a_via(source.name, analysis.figures())


def watch(source: TraceSource, wait: Callable[[], bool]) -> Iterator[TraceFigures]:
    """Yield the figures of a growing trace: of what is there, and whenever more has come.

    ``wait`` lets time pass while nothing comes; the watch ends when it returns False.
    """
    analysis = TraceAnalysis()
    told = -1
    for chunk in source.grown(wait):
        analysis.feed(chunk)
        if not chunk and analysis.lines != told:
            told = analysis.lines
            yield analysis.figures()


def _of_a_via(name: str, figures: TraceFigures) -> TraceFigures:
    if any(event.startswith(OUR_EVENTS) for event in figures.events):
        return figures
    if not figures.events:
        damage = figures.damage
        why = f"; line {damage.first_line}: {damage.first_text}" if damage.lines else ""
        why += f"; the compressed file is damaged: {damage.cut_short}" if damage.cut_short else ""
        raise BadInputError(f"{name}: no event of QEMU's log trace backend in {figures.lines} lines{why}")
    found = ", ".join(f"{event} ({number})" for event, number in list(figures.events.items())[:5])
    more = ", …" if len(figures.events) > 5 else ""
    raise BadInputError(
        f"{name}: no mos6522_* or via1_* events, but {found}{more}; trace with -trace 'mos6522_*'"
    )


def as_json(figures: TraceFigures) -> dict[str, Any]:
    """Return the figures as plain data.

    Good is a trace in which no reconstructed clock read went back and no acknowledge came more than 20 ms
    after the one before.
    """
    good = not figures.clock.backward_steps and not figures.acknowledges.over_20_ms
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "good": good,
        "exit_status": int(not good),
        **asdict(figures),
    }
