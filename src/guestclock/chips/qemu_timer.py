"""The two timers of QEMU's VIA: counts and times of flags as QEMU computes them.

A timer is loaded with ``count`` at ``load_ns`` and counts φ2 cycles, floored, from that instant.  There
are two ways to its flag:

- *computed ahead* (``FLAG_AT_ZERO``, all of QEMU): each update computes ``next_ns``, when the count will
  be 0 again; whoever comes by later sets the flag, be it a register access or the alarm.
- *one state* (patch 8 of the 2021 series): the flag is set when the counter is seen to have reloaded.

The alarm is the host timer that sets flags on its own; ``alarm_ns`` is NEVER while it is not set.
"""

from dataclasses import dataclass
from enum import IntEnum

from guestclock.chips.qemu_deviations import Deviation
from guestclock.chips.registers import NEVER

PHI2_HZ = 783_360
NS_PER_S = 1_000_000_000


class Progress(IntEnum):
    """How far a timer of the one-state kind has come since it was loaded or last reloaded."""

    COUNTING = 0
    FLAG_SET = 1
    FLAG_CLEARED = 2


@dataclass
class Timer:
    """The state of one timer; ``flag`` is its bit in IFR and IER."""

    flag: int
    reloads: bool
    latch: int = 0xFFFF
    count: int = 0
    load_ns: int = 0
    next_ns: int = NEVER
    alarm_ns: int = NEVER
    progress: Progress = Progress.COUNTING
    moved_cycles: int = 0
    """Cycles by which reloads have moved the load on, beyond ``load_ns``."""
    spinning: bool = False
    """The alarm goes off all the time, to no effect before somebody clears the flag (one state)."""
    done: bool = False
    """Timed out, and not to do so again before it is loaded (computed ahead)."""

    def load(self, count: int, now_ns: int) -> None:
        """Count down from ``count`` from this instant."""
        self.load_ns = now_ns
        self.count = count
        self.moved_cycles = 0
        self.progress = Progress.COUNTING
        self.done = False

    def elapsed(self, now_ns: int) -> int:
        """Return the whole cycles since the load."""
        return (now_ns - self.load_ns) * PHI2_HZ // NS_PER_S - self.moved_cycles


class Arithmetic:
    """What a set of deviations makes of a timer's state."""

    def __init__(self, deviations: Deviation) -> None:
        """Take the set."""
        has = {member: member in deviations for member in Deviation}
        self._reload_gap = 1 if has[Deviation.SHORT_RELOAD] else 2
        self.ahead = has[Deviation.FLAG_AT_ZERO]
        self._floored = has[Deviation.EXPIRY_FLOORED]
        self._live_latch = has[Deviation.LATCH_MOVES_COUNT]
        self._load_floored = has[Deviation.LOAD_FLOORED]

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
        beyond = timer.elapsed(now_ns) - timer.count - self._reload_gap
        if timer.elapsed(now_ns) > timer.count + 1:
            whole = beyond // (timer.latch + 2) * (timer.latch + 2)
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
        product = (cycles + timer.moved_cycles) * NS_PER_S
        return timer.load_ns + (product // PHI2_HZ if self._floored else -(-product // PHI2_HZ))

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
            cycles = timer.count + 2 + beyond // (timer.latch + 2) * (timer.latch + 2)
            if self._load_floored:
                timer.load_ns += cycles * NS_PER_S // PHI2_HZ
            else:
                timer.moved_cycles += cycles
            timer.count = timer.latch
        return True
