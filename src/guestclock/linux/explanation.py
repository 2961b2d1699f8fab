"""An explained kernel message, and what the rules that make them share."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from guestclock.linux.clock_facts import VIA1, Known
from guestclock.verdict.quantities import count, duration

TSC = "tsc"


class Level(StrEnum):
    """How bad a message is."""

    FAULT = "fault"  # a clock did what a clock must not do
    RISK = "risk"  # it may have; or the kernel could not tell
    NOTE = "note"  # information


@dataclass(frozen=True)
class Explanation:
    """One message explained.

    ``cycles`` and ``time_ns``: by how much the clock was off, signed, None where the message does not tell;
    ``suspect``: the clock to look at; ``advice``: what to do.
    """

    kind: str
    level: Level
    suspect: str | None
    what: str
    advice: str = ""
    cycles: int | None = None
    time_ns: int | None = None
    line: int = 0
    text: str = ""

    def at(self, line: int, text: str) -> "Explanation":
        """Return the same for a place in a log."""
        return replace(self, line=line, text=text)


Rule = Callable[[re.Match[str], Known], Explanation | None]


def advice_for(clock: str) -> str:
    """Return what to do about a clock that went back."""
    if clock == VIA1:
        return (
            "T1's counter and the count of ticks disagreed: an emulated 6522 that sets its flag before it"
            " reloads, or a host that stalled the guest between two reads"
        )
    if clock.startswith(TSC):
        return "the CPUs' TSCs disagree, or a hypervisor moved one: use another clocksource"
    return "compare it with another clocksource"


def took(known: Known, clock: str, cycles: int) -> str:
    """Return cycles of a clock in words, with their time where the frequency is known."""
    time_ns = known.time_ns(clock, abs(cycles))
    words = count(abs(cycles), "cycle")
    return words if time_ns is None else f"{words} ({duration(time_ns)})"


def compiled(*rules: tuple[str, Rule]) -> tuple[tuple[re.Pattern[str], Rule], ...]:
    """Return rules with their patterns compiled."""
    return tuple((re.compile(pattern), rule) for pattern, rule in rules)
