"""Reads what the x86 Linux guest says: lines of the protocol's form, with kinds of their own.

>>> parse_line("@gc using clocksource=hpet ok=1")
Using(clocksource='hpet', ok=True)
>>> parse_line("[    0.400000] Run /init as init process") is None
True
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from guestclock.guests.lines import PREFIX, Damaged


@dataclass(frozen=True, slots=True)
class Hello:
    """The guest has started; ``clock`` is the clocksource that its kernel chose."""

    version: int
    guest: str
    kernel: str
    clock: str
    cpus: int


@dataclass(frozen=True, slots=True)
class Using:
    """A clocksource is current now; ``ok`` unless the kernel did not take it."""

    clocksource: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """Batches of ``reads`` reads of a clock, in ns each; ``way`` is ``library`` or ``syscall``."""

    clocksource: str
    clock: str
    way: str
    reads: int
    batches_ns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Warp:
    """What one CPU saw: its reads against the latest that any CPU had read before."""

    clocksource: str
    clock: str
    cpu: int
    reads: int
    steps: int
    least_ns: int
    worst_ns: int
    sum_ns: int
    ahead_sum_ns: int
    ahead_least_ns: int
    ahead_most_ns: int


@dataclass(frozen=True, slots=True)
class Look:
    """CLOCK_MONOTONIC right before the line was sent."""

    clocksource: str
    mono_ns: int


@dataclass(frozen=True, slots=True)
class Bye:
    """Nothing follows but power-off."""


Line = Hello | Using | Cost | Warp | Look | Bye
KINDS: dict[str, type[Line]] = {
    "hello": Hello,
    "using": Using,
    "cost": Cost,
    "warp": Warp,
    "look": Look,
    "bye": Bye,
}
_LONGEST_NUMBER = 20


def _integer(word: str) -> int:
    digits = word.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(word) <= _LONGEST_NUMBER):
        raise ValueError(word)
    return int(word)


_CONVERT: dict[Any, Callable[[str], Any]] = {
    int: _integer,
    bool: lambda word: {"0": False, "1": True}[word],
    str: str,
    tuple[int, ...]: lambda word: tuple(_integer(part) for part in word.split(",")),
}


def parse_line(text: str) -> Line | Damaged | None:
    """Return what a console line without its end says; None if it is not of the protocol."""
    if not text.startswith(PREFIX):
        return None
    name, _, rest = text.removeprefix(PREFIX).partition(" ")
    words = rest.split()
    pairs = dict(word.partition("=")[::2] for word in words)
    kind = KINDS.get(name)
    try:
        if kind is None or len(pairs) != len(words) or set(pairs) != {field.name for field in fields(kind)}:
            return Damaged(text)
        return kind(**{field.name: _CONVERT[field.type](pairs[field.name]) for field in fields(kind)})
    except (ValueError, KeyError):
        return Damaged(text)
