# cython: annotation_typing=False, cdivision=True
# ruff: noqa: F405
"""The 6522's shift register in closed form: any number of clock ticks costs the same.

A bit takes two ticks: the shift clock CB1 falls, then it rises.  Bits leave for CB2 on the fall and are
taken from CB2 on the rise, which also counts them.  In modes 1, 2, 4, 5 and 6 the chip ticks, by T2 or by
φ2; in modes 0, 3 and 7 edges on CB1 from outside do.  "Fact n" cites ``docs/6522.md``.
"""

from typing import Any

import cython

if not cython.compiled:  # Compiled, these names are C constants: see via_constants.pxd.
    from guestclock.chips.registers import *  # noqa: F403


class ShiftRegister:
    """The register, its bit counter, and what it drives.  ``mode`` is ACR's field, where it stands there."""

    def __init__(self) -> None:
        self.value = 0
        self.mode = SR_DISABLED
        self.bits = 0  # counted of the present byte
        self.busy = False  # from an access to the eighth bit after it
        self.clock = 1  # CB1, where the chip drives it
        self.data = 1  # CB2, where the chip drives it: the bit that left last
        self.ready = 0  # the first cycle in which a tick may act
        # The chip's own ticks to come act in the cycles due, due + period, ...; see clock_with.
        self.due = NEVER
        self.period = NEVER

    def drives_cb1(self) -> bool:
        """Tell whether CB1 is an output, the shift clock."""
        return self.mode & SR_IN_CB1 != SR_IN_CB1 and self.mode != SR_DISABLED

    def clocked_by_t2(self) -> bool:
        """Tell whether T2 makes the ticks."""
        return self.mode in (SR_IN_T2, SR_OUT_FREE, SR_OUT_T2)

    def runs(self) -> bool:
        """Tell whether the next tick of the chip's own clock moves it."""
        return self.mode == SR_OUT_FREE or (self.busy and self.drives_cb1())

    # ------------------------------------------------------------------ accesses

    def access(self, ready: int) -> None:
        """Read or write the register; ticks may act from cycle ``ready`` on (facts 17, 19)."""
        if self.mode in (SR_DISABLED, SR_OUT_FREE):
            return
        if self.drives_cb1() and self.busy:
            return
        self.busy = True
        self.bits = 0
        self.ready = ready

    def enter(self, mode: int) -> None:
        """Change the mode."""
        self.mode = mode
        if mode == SR_DISABLED:
            self.busy = False
            self.bits = 0
        if not self.runs():
            self.clock = 1

    def clock_with(self, due: int, period: int) -> None:
        """Set when the next ticks act; a period of NEVER says that only one is in sight."""
        self.due = due
        self.period = period

    # ------------------------------------------------------------------ time passes

    def catch_up(self, now: int, cb2: bool) -> bool:
        """Let the ticks act from ``due`` to now, CB2 being at that level; tell whether a byte is done."""
        return self._tick((now - self.due) // self.period + 1, cb2)

    def _tick(self, ticks: int, cb2: bool) -> bool:
        if self.mode != SR_OUT_FREE:
            ticks = min(ticks, self._ticks_to_flag())
        rises = (ticks + 1 - self.clock) >> 1
        falls = ticks - rises
        if ticks & 1:
            self.clock = 1 - self.clock
        if self.mode & SR_OUT_FREE:
            self._rotate(falls)
        else:
            self._shift_in(rises, cb2)
        return self.mode != SR_OUT_FREE and self._count(rises)

    def cb1_moves(self, level: bool, cb2: bool) -> bool:
        """Let CB1 from outside change to the level; tell whether a byte is done and says so (fact 19)."""
        if not level:
            if self.mode == SR_OUT_CB1:
                self._rotate(1)
            return False
        if self.mode != SR_OUT_CB1:
            self._shift_in(1, cb2)
        return self.mode != SR_DISABLED and self._count(1)

    def _count(self, bits: int) -> bool:
        self.bits += bits
        if self.bits < 8:
            return False
        self.bits = 0
        self.busy = False
        return True

    def _shift_in(self, bits: int, cb2: bool) -> None:
        self.value = (self.value << bits) & 0xFF
        if cb2:
            self.value |= (1 << bits) - 1

    def _rotate(self, bits: int) -> None:
        if bits:
            self.value = ((self.value << (bits & 7)) | (self.value >> (8 - (bits & 7)))) & 0xFF
            self.data = self.value & 1

    # ------------------------------------------------------------------ what comes

    def cb1_completes(self, level: bool) -> bool:
        """Tell whether CB1 from outside, changing to the level, completes a byte."""
        return level and self.bits == 7 and self.mode != SR_DISABLED and not self.drives_cb1()

    def cb1_changes_data(self, level: bool) -> bool:
        """Tell whether CB1 from outside, changing to the level, changes CB2."""
        return self.mode == SR_OUT_CB1 and not level and self.value >> 7 != self.data

    def flag_cycle(self) -> int:
        """Return the cycle in which the chip's clock next completes a byte, or NEVER."""
        if not self.busy or self.mode == SR_OUT_FREE:
            return NEVER
        return self._cycle_of_tick(self._ticks_to_flag())

    def data_cycle(self) -> int:
        """Return the cycle in which the chip's clock next changes CB2, or NEVER."""
        left = 8
        if self.mode != SR_OUT_FREE:
            left = 8 - self.bits - (1 - self.clock)
        ones = self.value if self.data else ~self.value
        for bit in range(left):
            if not ones & (0x80 >> bit):
                return self._cycle_of_tick(2 * bit + 1 + (1 - self.clock))
        return NEVER

    def _ticks_to_flag(self) -> int:
        return 2 * (8 - self.bits) - (1 - self.clock)

    def _cycle_of_tick(self, ticks: int) -> int:
        if self.due == NEVER or (ticks > 1 and self.period == NEVER):
            return NEVER
        return self.due + (ticks - 1) * self.period

    # ------------------------------------------------------------------ state

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        return {name: getattr(self, name) for name in STATE}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state that :meth:`snapshot` returned."""
        for name in STATE:
            setattr(self, name, state[name])


STATE = ("value", "mode", "bits", "busy", "clock", "data", "ready", "due", "period")
