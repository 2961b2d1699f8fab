# cython: annotation_typing=False, cdivision=True
# ruff: noqa: F405
"""Timer 1 of the 6522 in closed form: any number of reload periods costs one division.

"Fact n" cites ``docs/6522.md``.
"""

from typing import Any

import cython

if not cython.compiled:  # Compiled, these names are C constants: see via_constants.pxd.
    from guestclock.chips.registers import *  # noqa: F403

# Fact 20: neither counter nor latch is zero at power-up.  Which values they hold is chance.
POWER_UP_COUNT = 0xFFFF


class Timer1:
    """The counter, its latch, and what a timeout does.

    The counter shows (``zero`` - now) mod 65536 up to the cycle ``zero`` + 1, in which it has passed zero;
    ``timed_out`` says that this cycle has come and been dealt with.  ``output`` is what PB7 shows while
    ACR gives it to the timer.  ``flag_half`` is the half-cycle in which the flag was last set.
    """

    def __init__(self) -> None:
        self.latch = POWER_UP_COUNT
        self.zero = POWER_UP_COUNT
        self.timed_out = False
        self.armed = False
        self.underflows = 0
        self.flag_half = -1
        self.output = True

    def load(self, now: int, acr: int) -> None:
        """Write T1CH in the current cycle: from the next on the counter counts down from its latch."""
        self.zero = now + 1 + self.latch
        self.timed_out = False
        self.armed = True
        if acr & ACR_T1_PB7:
            self.output = False

    def acr_written(self, acr: int, timed_out: bool) -> None:
        """Change the modes; ``timed_out`` tells whether the write fell into the timeout's cycle (fact 9)."""
        if timed_out and not acr & ACR_T1_FREE_RUN:
            self.armed = False
        if not acr & ACR_T1_PB7:
            self.output = True  # fact 15

    def catch_up(self, now: int, acr: int) -> bool:
        """Let time pass to a cycle beyond ``zero``; tell whether the flag was set."""
        raised = False
        if not self.timed_out:
            raised = self._times_out(1, acr)
            if now == self.zero + 1:
                self.timed_out = True
                return raised
        # The cycle of the timeout is over: what ACR6 says now decides on the next (facts 9, 10),
        # and the latch as it is now is the next count (facts 2, 11).
        if not acr & ACR_T1_FREE_RUN:
            self.armed = False
        period = self.latch + 2
        self.zero += period
        self.timed_out = False
        if now > self.zero:
            whole_periods = 0
            if now - self.zero > period:
                whole_periods = (now - self.zero - 1) // period
                self.zero += whole_periods * period
            raised = self._times_out(whole_periods + 1, acr) or raised
            self.timed_out = now == self.zero + 1
            if not self.timed_out:
                self.zero += period
        return raised

    def _times_out(self, times: int, acr: int) -> bool:
        """Count timeouts, the last of them half a cycle into the cycle ``zero``; tell whether they count."""
        self.underflows += times
        if not self.armed:
            return False
        self.flag_half = 2 * self.zero + 1
        if acr & ACR_T1_PB7 and times & 1:
            self.output = not self.output
        return True

    def next_half(self, now: int, acr: int) -> int:
        """Return the half-cycle of the next armed timeout after the current cycle, or NEVER."""
        if not self.armed:
            return NEVER
        if now < self.zero:
            return 2 * self.zero + 1
        if not acr & ACR_T1_FREE_RUN:
            return NEVER
        return 2 * (self.zero + self.latch + 2) + 1

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        return {name: getattr(self, name) for name in STATE}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state that :meth:`snapshot` returned."""
        for name in STATE:
            setattr(self, name, state[name])


STATE = ("latch", "zero", "timed_out", "armed", "underflows", "flag_half", "output")
