# cython: annotation_typing=False, cdivision=True
"""The two timers of QEMU's VIA: counts and times of flags as QEMU computes them.

A timer is loaded with ``count`` at ``load_ns`` and counts φ2 cycles, floored, from that instant.  There
are two ways to its flag:

- *computed ahead* (``FLAG_AT_ZERO``, all of QEMU): each update computes ``next_ns``, when the count will
  be 0 again; whoever comes by later sets the flag, be it a register access or the alarm.
- *one state* (patch 8 of the 2021 series): the flag is set when the counter is seen to have reloaded.

The alarm is the host timer that sets flags on its own; ``alarm_ns`` is NEVER while it is not set.
"""

from typing import Any

import cython

from guestclock.chips.qemu_deviations import Deviation

PHI2_HZ = 783_360
NS_PER_S = 1_000_000_000

if not cython.compiled:  # C constants: see qemu_timer.pxd.
    from guestclock.chips.registers import NEVER

    # PHI2_HZ / NS_PER_S, reduced.
    GROUP_CYCLES = 306
    GROUP_NS = 390_625

    # How far a timer of the one-state kind has come since it was loaded or last reloaded.
    COUNTING = 0
    FLAG_SET = 1
    FLAG_CLEARED = 2


def cycles_in(ns: int) -> int:
    """Return the whole φ2 cycles in a span of ns, not negative.

    Whole groups are split off first, here and below: no product exceeds 64 bits before the time itself does.

    >>> cycles_in(NS_PER_S), cycles_in(1276), cycles_in(1277)
    (783360, 0, 1)
    """
    groups = ns // GROUP_NS
    return groups * GROUP_CYCLES + (ns - groups * GROUP_NS) * GROUP_CYCLES // GROUP_NS


def cycles_begun(ns: int) -> int:
    """Return the most cycles whose :func:`last_ns` has come after a span of ns, not negative.

    >>> cycles_begun(1275), cycles_begun(1276)
    (0, 1)
    """
    groups = ns // GROUP_NS
    return groups * GROUP_CYCLES + ((ns - groups * GROUP_NS + 1) * GROUP_CYCLES - 1) // GROUP_NS


def last_ns(cycles: int) -> int:
    """Return the last whole ns of which so many cycles, not negative, are not yet over, or just are.

    >>> last_ns(1)  # of 1276.55
    1276
    """
    groups = cycles // GROUP_CYCLES
    return groups * GROUP_NS + (cycles - groups * GROUP_CYCLES) * GROUP_NS // GROUP_CYCLES


def first_ns(cycles: int) -> int:
    """Return the first whole ns at which so many cycles, not negative, are over.

    >>> first_ns(1)
    1277
    """
    groups = cycles // GROUP_CYCLES
    return (
        groups * GROUP_NS + ((cycles - groups * GROUP_CYCLES) * GROUP_NS + GROUP_CYCLES - 1) // GROUP_CYCLES
    )


class Timer:
    """The state of one timer; ``flag`` is its bit in IFR and IER.

    ``moved_cycles``
        cycles by which reloads have moved the load on, beyond ``load_ns``.
    ``passed``
        periods that ended before the moved load.
    ``spinning``
        the alarm goes off all the time, to no effect before somebody clears the flag (one state).
    ``done``
        timed out, and not to do so again before it is loaded (computed ahead).
    """

    def __init__(self, flag: int, reloads: bool) -> None:
        """Take the flag, and whether the counter reloads from the latch: T1's does."""
        self.flag = flag
        self.reloads = reloads
        self.latch = 0xFFFF
        self.count = 0
        self.load_ns = 0
        self.next_ns = NEVER
        self.alarm_ns = NEVER
        self.progress = COUNTING
        self.moved_cycles = 0
        self.passed = 0
        self.spinning = False
        self.done = False

    def load(self, count: int, now_ns: int) -> None:
        """Count down from ``count`` from this instant."""
        self.load_ns = now_ns
        self.count = count
        self.moved_cycles = 0
        self.passed = 0
        self.progress = COUNTING
        self.done = False

    def elapsed(self, now_ns: int) -> int:
        """Return the whole cycles since the load; none before it, of an alarm that comes late."""
        return cycles_in(max(now_ns - self.load_ns, 0)) - self.moved_cycles

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        return {name: int(getattr(self, name)) for name in TIMER_STATE}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state that :meth:`snapshot` returned."""
        for name in TIMER_STATE:
            setattr(self, name, state[name])


TIMER_STATE = (
    "latch", "count", "progress", "load_ns", "next_ns", "alarm_ns", "moved_cycles", "passed",
    "spinning", "done",
)  # fmt: skip


class Arithmetic:
    """What a set of deviations makes of a timer's state."""

    def __init__(self, deviations: Deviation) -> None:
        """Take the set."""
        self._reload_gap = 1 if Deviation.SHORT_RELOAD in deviations else 2
        self.ahead = Deviation.FLAG_AT_ZERO in deviations
        self._floored = Deviation.EXPIRY_FLOORED in deviations
        self._live_latch = Deviation.LATCH_MOVES_COUNT in deviations
        self._load_floored = Deviation.LOAD_FLOORED in deviations

    def countdown(self, timer: Timer, cycles: int) -> int:
        """Return the count so many cycles after the load, as a timer that reloads has it."""
        if cycles <= timer.count + 1:
            return (timer.count - cycles) & 0xFFFF
        since_reload = cycles - timer.count - self._reload_gap
        return (timer.latch - since_reload % (timer.latch + 2)) & 0xFFFF

    def counter(self, timer: Timer, now_ns: int) -> int:
        """Return what the counter's registers show."""
        cycles = timer.elapsed(now_ns)
        if timer.reloads:
            return self.countdown(timer, cycles)
        return (timer.count - cycles) & 0xFFFF

    def settle_latch(self, timer: Timer, now_ns: int) -> None:
        """Before the latch changes: make the running period one of its own, so that its count stays."""
        if self._live_latch or not timer.reloads:
            return
        elapsed = timer.elapsed(now_ns)
        if elapsed > timer.count + 1:
            timer.passed = self.periods(timer, now_ns)
            whole = elapsed - timer.count - self._reload_gap
            whole -= whole % (timer.latch + 2)
            timer.moved_cycles += timer.count + self._reload_gap + whole
            timer.count = timer.latch

    # ------------------------------------------------------------------ computed ahead

    def next_flag_ns(self, timer: Timer, now_ns: int) -> int:
        """Return when the count will next be 0, seen from now; both timers as if they reloaded."""
        cycles = timer.elapsed(now_ns)
        count = self.countdown(timer, cycles)
        if count == 0xFFFF:
            ahead = timer.latch + 1
        elif count == 0:
            ahead = timer.latch + 2
        else:
            ahead = count
        return max(self._start_ns(timer, cycles + ahead), now_ns + 1)

    def _start_ns(self, timer: Timer, cycles: int) -> int:
        """Return when so many cycles after the load are over: as an alarm has it, floored or not."""
        if self._floored:
            return timer.load_ns + last_ns(cycles + timer.moved_cycles)
        return self._cycle_ns(timer, cycles)

    def _cycle_ns(self, timer: Timer, cycles: int) -> int:
        """Return the first instant at which so many cycles after the load are over."""
        return timer.load_ns + first_ns(cycles + timer.moved_cycles)

    # ------------------------------------------------------------------ one state

    def reload_ns(self, timer: Timer) -> int:
        """Return when the counter will reload, or would have if it has not."""
        return self._start_ns(timer, timer.count + 2)

    def has_reloaded(self, timer: Timer, now_ns: int) -> bool:
        """Tell whether the counter has passed zero and the cycle after it; T1 then goes on from its latch."""
        beyond = timer.elapsed(now_ns) - timer.count - 2
        if beyond < 0:
            return False
        if timer.reloads:
            periods = beyond // (timer.latch + 2)
            cycles = timer.count + 2 + periods * (timer.latch + 2)
            timer.passed += 1 + periods
            if self._load_floored:
                timer.load_ns += last_ns(cycles)
            else:
                timer.moved_cycles += cycles
            timer.count = timer.latch
        return True

    # ------------------------------------------------------------------ truth

    # A period ends where the flag belongs: with count 0 computed ahead, with the reload in one state.  The
    # flag itself may come later, or not at all, but never before.

    def _flag_elapsed(self, timer: Timer, now_ns: int) -> int:
        """Return the cycles since the load at whose ends flags may have been set by now."""
        if self.ahead and self._floored:
            return cycles_begun(max(now_ns - timer.load_ns, 0)) - timer.moved_cycles
        return timer.elapsed(now_ns)

    def _flag_ns(self, timer: Timer, cycles: int) -> int:
        """Return the first instant that has so many of these cycles."""
        return self._start_ns(timer, cycles) if self.ahead else self._cycle_ns(timer, cycles)

    def _first_period(self, timer: Timer) -> int:
        """Return the cycle after the load in which the first period ends."""
        return timer.count if self.ahead else timer.count + 2

    def _later_periods(self, timer: Timer) -> int:
        """Return the cycle from which the later periods count: a short reload brings them forward.

        From a latch of 0 it goes to FFFF at once: that 0 is left out.
        """
        if not self.ahead:
            return timer.count + 2
        if timer.latch == 0 and self._reload_gap == 1:
            return timer.count + 1
        return timer.count + self._reload_gap - 2

    def _whole_periods(self, timer: Timer, cycles: int) -> int:
        """Return how many of the later periods have ended so many cycles after the load."""
        return max(cycles - self._later_periods(timer), 0) // (timer.latch + 2)

    def periods(self, timer: Timer, now_ns: int) -> int:
        """Return how many periods of a timer that reloads have ended since it was loaded."""
        cycles = self._flag_elapsed(timer, now_ns)
        if cycles < self._first_period(timer):
            return timer.passed
        return timer.passed + 1 + self._whole_periods(timer, cycles)

    def last_period_ns(self, timer: Timer, now_ns: int) -> int:
        """Return the instant at which the last of :meth:`periods` ended, if one did since the moved load."""
        cycles = self._flag_elapsed(timer, now_ns)
        period = self._whole_periods(timer, cycles)
        if period == 0:
            return self._flag_ns(timer, self._first_period(timer))
        return self._flag_ns(timer, self._later_periods(timer) + period * (timer.latch + 2))

    def next_period_ns(self, timer: Timer, now_ns: int) -> int:
        """Return the instant at which the next period will end."""
        cycles = self._flag_elapsed(timer, now_ns)
        if cycles < self._first_period(timer):
            return self._flag_ns(timer, self._first_period(timer))
        period = self._whole_periods(timer, cycles) + 1
        return self._flag_ns(timer, self._later_periods(timer) + period * (timer.latch + 2))
