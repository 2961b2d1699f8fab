# cython: annotation_typing=False, cdivision=True
# ruff: noqa: F405
"""Timer 2 of the 6522 in closed form: it counts cycles or falls of PB6, and may clock the shift register.

"Fact n" cites ``docs/6522.md``.
"""

from typing import Any

import cython

if not cython.compiled:  # Compiled, these names are C constants: see via_constants.pxd.
    from guestclock.chips.registers import *  # noqa: F403

# Fact 20: neither counter nor latch is zero at power-up.  Which values they hold is chance.
POWER_UP_COUNT = 0xFFFF


class Timer2:
    """The counter, the latch of its low byte, its modes, and PB6.

    The counter shows (``base`` - now) mod 65536, or ``base`` while PB6 clocks it (``pulses``).
    ``low_zero``: the cycle in which the low byte shows 0, kept while the timer clocks the shift register
    (``clocks_sr``).  ``loaded``: the cycle in which the low byte last came from the latch; ``reloaded``: the
    same, because it had passed zero.  ``borrowed``: whether it last passed zero, kept while PB6 clocks it.
    ``due``: the cycle in which it next does something else than count down.
    """

    def __init__(self) -> None:
        self.latch = POWER_UP_COUNT & 0xFF
        self.base = POWER_UP_COUNT
        self.low_zero = 0
        self.loaded = 0
        self.reloaded = -1
        self.borrowed = False
        self.armed = False
        self.flag_half = -1
        self.pulses = self.clocks_sr = False
        # PB6 in cycle pb6_cycle and in the one before; whether its fall then waits to be counted.
        self.pb6 = self.pb6_before = 1
        self.pb6_cycle = 0
        self.pulse_waits = False
        self.due = NEVER

    # ------------------------------------------------------------------ what it shows and what comes

    def count(self, now: int) -> int:
        """Return what the counter shows."""
        if self.pulses:
            return self.base & 0xFFFF
        return (self.base - now) & 0xFFFF

    def _high(self) -> int:
        """Return how many more times the low byte passes zero before the timeout."""
        return ((self.base - self.low_zero) >> 8) & 0xFF

    def timeout(self, now: int) -> int:
        """Return the cycle in which the flag can next be read, or NEVER if nothing waits to set it."""
        if not self.armed:
            return NEVER
        if self.pulses:
            return self.pb6_cycle + 1 if self.pulse_waits and self.base == 0 else NEVER
        if self.clocks_sr:
            return self.low_zero + 1 + self._high() * (self.latch + 2)
        return now + self.count(now) + 1

    def next_tick(self, earliest: int) -> int:
        """Return the first cycle from ``earliest`` on that follows a reload of the low byte, or NEVER.

        ``earliest`` is one or two cycles ahead.  In such a cycle the shift register's clock ticks (fact 18).
        """
        if self.reloaded + 1 >= earliest:
            return self.reloaded + 1
        if self.pulses:
            return self.pb6_cycle + 2 if self.pulse_waits and self.borrowed else NEVER
        return self.low_zero + 3

    # ------------------------------------------------------------------ what is done to it

    def disarm(self) -> None:
        """Let no timeout set the flag until the next load."""
        self.armed = False
        if not self.pulses and not self.clocks_sr:
            self.due = NEVER

    def load(self, high: int, now: int) -> None:
        """Show the high byte written in the cycle before and the latch (T2CH), and be armed."""
        self._start((high << 8) | self.latch, False, now)
        self.loaded = now
        self.reloaded = -1
        self.armed = True
        self._schedule(now)

    def set_modes(self, pulses: bool, clocks_sr: bool, now: int) -> None:
        """Change the modes in the current cycle; the count stays (facts 10, 13)."""
        count = self.count(now)
        borrowed = self._low_byte_borrowed(now)
        self.pulses = pulses
        self.clocks_sr = clocks_sr
        self._start(count, borrowed, now)
        self.pulse_waits = False
        self._schedule(now)

    def pb6_is(self, level: int, now: int) -> None:
        """Compare PB6 with the cycle before: a fall is counted in the next cycle (fact 14)."""
        if self.pb6_cycle != now:
            self.pb6_cycle = now
            self.pb6_before = self.pb6
        self.pb6 = level
        self.pulse_waits = self.pb6_before != 0 and level == 0
        self._schedule(now)

    def _start(self, count: int, borrowed: bool, now: int) -> None:
        """Show the count in this cycle and go on from there in the modes that are set."""
        self.borrowed = borrowed
        self.base = count
        if not self.pulses:
            self.base += now
            self.low_zero = now - 1 if borrowed else now + (count & 0xFF)

    def _low_byte_borrowed(self, now: int) -> bool:
        """Tell whether the low byte passed zero in the step to this cycle."""
        if self.pulses:
            return self.borrowed
        return self.count(now) & 0xFF == 0xFF and now != self.loaded

    # ------------------------------------------------------------------ time passes

    def _schedule(self, now: int) -> None:
        if self.pulses:
            self.due = self.pb6_cycle + 1 if self.pulse_waits else NEVER
        elif self.clocks_sr:
            self.due = self.low_zero + (1 if self.armed and self._high() == 0 else 2)
        else:
            self.due = self.timeout(now)

    def catch_up(self, now: int) -> bool:
        """Let time pass to a cycle from ``due`` on; tell whether the flag was set."""
        if self.pulses:
            raised = self._counts_pulse()
        elif self.clocks_sr:
            raised = self._low_byte_reloads(now)
        else:
            raised = self._times_out(self.due)
        self._schedule(now)
        return raised

    def _times_out(self, cycle: int) -> bool:
        if not self.armed:
            return False
        self.flag_half = 2 * cycle - 1
        self.armed = False
        return True

    def _counts_pulse(self) -> bool:
        self.pulse_waits = False
        if self.borrowed and self.clocks_sr:
            self.base = (self.base & 0xFF00) | self.latch
            self.borrowed = False
            self.reloaded = self.pb6_cycle + 1
            return False
        self.base = (self.base - 1) & 0xFFFF
        self.borrowed = self.base & 0xFF == 0xFF
        return self.base == 0xFFFF and self._times_out(self.pb6_cycle + 1)

    def _low_byte_reloads(self, now: int) -> bool:
        """Fact 16: the low byte reloads from its latch after xxFF; one flag when both bytes are through."""
        period = self.latch + 2
        passed = (now - self.low_zero - 1) // period + 1
        high = self._high()
        raised = passed > high and self._times_out(self.low_zero + 1 + high * period)
        reloads = passed
        if now == self.low_zero + 1 + (passed - 1) * period:
            reloads -= 1
        if reloads:
            self.low_zero += reloads * period
            self.base += reloads * (period - 0x100)
            self.loaded = self.reloaded = self.low_zero - self.latch
        return raised

    # ------------------------------------------------------------------ state

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        return {name: getattr(self, name) for name in STATE}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state that :meth:`snapshot` returned."""
        for name in STATE:
            setattr(self, name, state[name])


STATE = (
    "latch", "base", "low_zero", "loaded", "reloaded", "borrowed", "armed", "flag_half",
    "pulses", "clocks_sr", "pb6", "pb6_before", "pb6_cycle", "pulse_waits", "due",
)  # fmt: skip
