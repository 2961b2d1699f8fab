"""The watchdog's verdict on a clocksource, in several lines: ``clocksource_watchdog()`` of Linux 6.1.

    timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is too large:
                          'hpet' wd_nsec: 499999000 wd_now: 1c9c380 wd_last: 16e3600 mask: ffffffff
                          'tsc' cs_nsec: 612000000 cs_now: 9a7ec80 cs_last: 5f5e100 mask: ffffffffffffffff
                          'tsc' is current clocksource.

Before 5.13 the two lines have no ``_nsec``; since 6.2 a line tells the skew as well.
"""

import re
from dataclasses import dataclass, replace

from guestclock.linux.clock_facts import Known
from guestclock.linux.explanation import Explanation, Level, took
from guestclock.verdict.quantities import duration, rate, times

INTERVAL_NS = 500_000_000
"""WATCHDOG_INTERVAL: what both clocks should have advanced by, or a little more."""
_NEAR = 0.1
_WRAP_NEAR = 0.02

_HEAD = re.compile(r"Marking clocksource '(?P<clock>[^']+)' as unstable because the skew is too large")
_SIDE = re.compile(
    r"'(?P<clock>[^']+)' (?:(?:wd|cs)_nsec: (?P<ns>-?\d+) )?(?P<side>wd|cs)_now: (?P<now>[0-9a-f]+)"
    r" (?:wd|cs)_last: (?P<last>[0-9a-f]+) mask: (?P<mask>[0-9a-f]+)"
)
_TAIL = re.compile(r"is current clocksource\.|No current clocksource\.|Clocksource '[^']+' skewed -?\d+ ns")


@dataclass(frozen=True)
class Side:
    """One of the two clocks over the interval."""

    clock: str
    cycles: int
    """What it advanced by, modulo its mask; negative if it went back."""
    ns: int | None
    mask: int

    def wrap_ns(self) -> float | None:
        """Return after how long this clock starts anew, by what its cycles and its time say."""
        return None if not self.ns or self.cycles <= 0 else (self.mask + 1) * self.ns / self.cycles


@dataclass
class WatchdogBlock:
    """The lines of one verdict, as they come."""

    clock: str
    line: int
    text: str
    sides: dict[str, re.Match[str]]

    @classmethod
    def begun_by(cls, line: str, number: int) -> "WatchdogBlock | None":
        """Return a new block if this line is a first one."""
        match = _HEAD.search(line)
        return cls(match["clock"], number, line, {}) if match else None

    def takes(self, line: str) -> bool:
        """Take a line if it belongs to the block."""
        if match := _SIDE.search(line):
            self.sides[match["side"]] = match
            return True
        return _TAIL.search(line) is not None

    def explanation(self, known: Known) -> Explanation:
        """Return what the block says."""
        if len(self.sides) < 2:
            what = f"The watchdog gave {self.clock} up; the lines with its figures are missing."
            return Explanation("unstable", Level.FAULT, self.clock, what).at(self.line, self.text)
        watchdog, checked = (_side(self.sides[name], known) for name in ("wd", "cs"))
        return replace(_compare(watchdog, checked, known), line=self.line, text=self.text)


def _side(match: re.Match[str], known: Known) -> Side:
    mask = int(match["mask"], 16)
    cycles = (int(match["now"], 16) - int(match["last"], 16)) & mask
    if match["side"] == "cs" and mask + 1 - cycles < mask >> 3:
        cycles -= mask + 1  # timekeeping_get_delta(): so near to a wrap, it went back
    ns = int(match["ns"]) if match["ns"] else known.time_ns(match["clock"], cycles)
    return Side(match["clock"], cycles, ns, mask)


def _compare(watchdog: Side, checked: Side, known: Known) -> Explanation:
    if checked.cycles < 0:
        return Explanation(
            "went back",
            Level.FAULT,
            checked.clock,
            f"{checked.clock} went back by {took(known, checked.clock, checked.cycles)} between two checks.",
            "the guest was moved or resumed with another TSC, or two CPUs disagree",
            checked.cycles,
            known.time_ns(checked.clock, checked.cycles),
        )
    if watchdog.ns is None or checked.ns is None:
        return Explanation(
            "unstable",
            Level.FAULT,
            checked.clock,
            f"{checked.clock} advanced {checked.cycles:,} cycles while {watchdog.clock} advanced"
            f" {watchdog.cycles:,}; this log does not tell how fast both are.",
        )
    skew_ns = checked.ns - watchdog.ns
    suspect, why = _suspect(watchdog, checked, skew_ns)
    share = f", {rate(skew_ns / watchdog.ns * 1e6)}" if watchdog.ns > 0 else ""
    return Explanation(
        "unstable",
        Level.FAULT,
        suspect,
        f"{checked.clock} advanced {checked.cycles:,} cycles = {duration(checked.ns)} while {watchdog.clock}"
        f" advanced {watchdog.cycles:,} = {duration(watchdog.ns)}: {duration(skew_ns)}{share}.",
        why,
        _in_cycles(checked, skew_ns),
        skew_ns,
    )


def _in_cycles(checked: Side, skew_ns: int) -> int | None:
    """Return the skew in cycles of the clock that was checked."""
    return round(skew_ns * checked.cycles / checked.ns) if checked.ns else None


def _suspect(watchdog: Side, checked: Side, skew_ns: int) -> tuple[str | None, str]:
    """Return which clock to suspect, and why."""
    wrap_ns = watchdog.wrap_ns()
    wraps = skew_ns / wrap_ns if wrap_ns else 0.0
    if wrap_ns and wraps > 0.5 and abs(wraps - round(wraps)) < _WRAP_NEAR:
        return watchdog.clock, (
            f"{watchdog.clock} wraps every {duration(round(wrap_ns))} and did so {times(round(wraps))}"
            f" between two checks: the check came late, and {checked.clock} is not to blame"
        )
    watchdog_good, checked_good = (
        abs(side.ns / INTERVAL_NS - 1) < _NEAR for side in (watchdog, checked) if side.ns is not None
    )
    if checked_good and not watchdog_good:
        return watchdog.clock, (
            f"the check comes every 500 ms, which is what {checked.clock} saw: {watchdog.clock} is wrong"
        )
    if watchdog_good:
        return checked.clock, f"the check comes every 500 ms, which is what {watchdog.clock} saw"
    return checked.clock, (
        f"neither saw 500 ms, so the check came late; the kernel blames {checked.clock}, but it may be either"
    )
