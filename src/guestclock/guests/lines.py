"""Reads what guests say: the line protocol of ``docs/guest-protocol.md``.

>>> parse_line("@gc done id=1 name=calls calls=100000 mono_ns=91000000 ticks=14 backs=0")
Done(id=1, name='calls', calls=100000, mono_ns=91000000, ticks=14, backs=0)
>>> parse_line("[    0.400000] Run /init as init process") is None
True
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

PREFIX = "@gc "
VERSION = 1


@dataclass(frozen=True, slots=True)
class Hello:
    """A guest has started.  ``probe``: it found the probe port."""

    version: int
    guest: str
    clock: str
    clock_hz: int
    tick_hz: int
    probe: bool


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase begins."""

    id: int
    name: str
    amount: int


@dataclass(frozen=True, slots=True)
class Stamp:
    """One look at both clocks; ``ticks`` since the guest started, ``calls`` since the last stamp."""

    id: int
    seq: int
    mono_ns: int
    real_ns: int
    ticks: int
    calls: int


@dataclass(frozen=True, slots=True)
class Back:
    """A clock, ``mono`` or ``real``, stepped back."""

    id: int
    clock: str
    before_ns: int
    after_ns: int


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """``count`` deltas d of a clock with ``low_ns`` ≤ d < ``high_ns``."""

    id: int
    clock: str
    low_ns: int
    high_ns: int
    count: int
    sum_ns: int
    min_ns: int
    max_ns: int


@dataclass(frozen=True, slots=True)
class Cpu:
    """Ticks of a phase that found the measuring program at work, in user mode or in the kernel."""

    id: int
    user_ticks: int
    system_ticks: int


@dataclass(frozen=True, slots=True)
class TimingLine:
    """What the clock of a timing line, ``via1.ca1`` or ``via1.ca2``, says after ``count`` falls."""

    id: int
    clock: str
    count: int
    said_ns: int


@dataclass(frozen=True, slots=True)
class Done:
    """A phase has ended; ``mono_ns`` is its length, ``backs`` counts all backward steps of both clocks."""

    id: int
    name: str
    calls: int
    mono_ns: int
    ticks: int
    backs: int


@dataclass(frozen=True, slots=True)
class Echo:
    """A line that the guest took from its console."""

    text: str


@dataclass(frozen=True, slots=True)
class Check:
    """The result of an exercise; ``value`` is the same on every machine that works."""

    name: str
    ok: bool
    value: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A phase or a console line that the guest does not know."""

    name: str


@dataclass(frozen=True, slots=True)
class Fault:
    """The bare-metal guest met an exception that it does not expect."""

    vector: int
    pc: int


@dataclass(frozen=True, slots=True)
class Bye:
    """The guest switches its machine off."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A line that began like one of the protocol, but cannot be understood: another writer broke into it."""

    text: str


Line = (
    Hello
    | Phase
    | Stamp
    | Back
    | HistogramRow
    | TimingLine
    | Cpu
    | Done
    | Echo
    | Check
    | Refused
    | Fault
    | Bye
)

KINDS: dict[str, type[Line]] = {
    "hello": Hello,
    "phase": Phase,
    "stamp": Stamp,
    "back": Back,
    "hist": HistogramRow,
    "cpu": Cpu,
    "line": TimingLine,
    "done": Done,
    "echo": Echo,
    "check": Check,
    "refused": Refused,
    "fault": Fault,
    "bye": Bye,
}

# 64-bit integers have at most 19 digits; a limit keeps garbage from becoming a huge number.
_INTEGER = re.compile(r"-?[0-9]{1,19}|0x[0-9a-f]{1,16}")


def _integer(word: str) -> int:
    if not _INTEGER.fullmatch(word):
        raise ValueError(word)
    return int(word, 16) if word.startswith("0x") else int(word)


def _flag(word: str) -> bool:
    return {"0": False, "1": True}[word]


_CONVERT: dict[Any, Callable[[str], Any]] = {int: _integer, bool: _flag, str: str}


def _words(kind: type[Line], rest: str) -> dict[str, str]:
    """Split ``key=value`` words; raises `ValueError` unless the keys are the kind's, each once."""
    if kind in {Echo, Refused}:  # one value, which may hold blanks
        words = [rest.split("=", 1)]
    else:
        words = [word.split("=", 1) for word in rest.split(" ") if word]
    pairs = {word[0]: word[-1] for word in words if len(word) == 2}
    if len(pairs) != len(words) or set(pairs) != {field.name for field in fields(kind)}:
        raise ValueError(rest)
    return pairs


def parse_line(text: str) -> Line | Damaged | None:
    """Return what ``text``, a console line without its end, says; None if it is not of the protocol."""
    if not text.startswith(PREFIX):
        return None
    name, _, rest = text.removeprefix(PREFIX).partition(" ")
    kind = KINDS.get(name)
    if kind is None:
        return Damaged(text)
    try:
        pairs = _words(kind, rest)
        return kind(**{field.name: _CONVERT[field.type](pairs[field.name]) for field in fields(kind)})
    except (ValueError, KeyError):
        return Damaged(text)
