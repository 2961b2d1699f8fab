# cython: annotation_typing=False, cdivision=True
# ruff: noqa: F405
"""One port of the 6522 in closed form: eight pins, their input latch, and the control lines C1 and C2.

Both ports of the chip are one of these.  ``control`` is the port's half of PCR, port A's as it is and
port B's shifted down: bit 0 the active edge of C1, bits 1 to 3 the mode of C2.  A line that changes in a
cycle acts in the next; what a port remembers of it is the level in the cycle before.  "Fact n" cites
``docs/6522.md``.
"""

from typing import Any

import cython

if not cython.compiled:  # Compiled, these names are C constants: see via_constants.pxd.
    from guestclock.chips.registers import *  # noqa: F403


class ViaPort:
    """One port: what is in its registers, what drives its pins and lines, and when C2 is low."""

    def __init__(self) -> None:
        self.output = self.direction = 0
        self.pins = 0xFF  # as driven from outside, like the two lines
        self.latch = 0xFF
        # C1 and C2 in the cycle lines_cycle and in the one before; lines_wait: they differ, and act in
        # the cycle after it.
        self.c1 = self.c2 = self.c1_before = self.c2_before = 1
        self.lines_cycle = 0
        self.lines_wait = False
        self.control = 0
        # A handshake or a pulse holds C2 low in the cycles low_from to low_until - 1.
        self.low_from = self.low_until = 0
        self.accessed_cycle = -1

    # ------------------------------------------------------------------ pins

    def levels(self) -> int:
        """Return the levels of the pins: the chip's where it drives, else those from outside."""
        return (self.output & self.direction) | (self.pins & ~self.direction)

    def driven_levels(self) -> int:
        """Return what the chip drives; 1 where it does not drive."""
        return self.output | (~self.direction & 0xFF)

    # ------------------------------------------------------------------ control lines from outside

    def set_c1(self, level: int, now: int) -> None:
        """Drive C1 from outside, from the current cycle on."""
        self._lines_may_change(now)
        self.c1 = level != 0
        self.lines_wait = self.c1 != self.c1_before or self.c2 != self.c2_before

    def set_c2(self, level: int, now: int) -> None:
        """Drive C2 from outside, from the current cycle on."""
        self._lines_may_change(now)
        self.c2 = level != 0
        self.lines_wait = self.c1 != self.c1_before or self.c2 != self.c2_before

    def _lines_may_change(self, now: int) -> None:
        if self.lines_cycle != now:
            self.lines_cycle = now
            self.c1_before = self.c1
            self.c2_before = self.c2

    def edges(self) -> int:
        """Return the flags that waiting edges set: C1_EDGE and C2_EDGE, as PCR selects them."""
        flags = 0
        if self.c1 != self.c1_before and self.c1 == self.control & C1_RISING:
            flags = C1_EDGE
        rises = self.control & C2_RISING != 0
        if self.c2 != self.c2_before and self.c2 == rises and self.control & C2_HANDSHAKE == 0:
            flags |= C2_EDGE
        return flags

    def lines_acted(self, c1_edge: bool) -> None:
        """Take note that the lines' change has acted, in the cycle after it; C1's edge ends a handshake."""
        cycle = self.lines_cycle
        self.lines_wait = False
        if c1_edge and self.low_until == NEVER and self.low_from <= cycle != self.accessed_cycle:
            self.low_until = cycle + 1

    def acknowledged(self) -> int:
        """Return the flags that an access to the port's register clears (fact 25)."""
        mode = self.control & C2_MODE
        if mode in (C2_INDEPENDENT_FALLING, C2_INDEPENDENT_RISING):
            return C1_EDGE
        return C1_EDGE | C2_EDGE

    # ------------------------------------------------------------------ C2 as an output

    def access(self, now: int) -> None:
        """Start a handshake or a pulse in the next cycle, where C2 is set to one (fact 23)."""
        self.accessed_cycle = now
        if not self._c2_is_low(now):
            self.low_from = now + 1
        if self.control & C2_MODE == C2_HANDSHAKE:
            self.low_until = NEVER
        elif self.control & C2_MODE == C2_PULSE:
            self.low_until = now + 2

    def set_control(self, control: int, now: int) -> None:
        """Take over the port's half of PCR in the current cycle; another mode ends what C2 was at."""
        if (control ^ self.control) & C2_MODE:
            self.low_until = self.low_from = 0
        self.control = control

    def _c2_is_low(self, cycle: int) -> bool:
        return self.low_from <= cycle < self.low_until

    def c2_level(self, cycle: int) -> bool:
        """Tell whether C2 is high at the end of the cycle, which is the current one or that before."""
        mode = self.control & C2_MODE
        if mode < C2_HANDSHAKE:
            return self.c2 != 0
        if mode > C2_PULSE:
            return mode == C2_MODE
        return not self._c2_is_low(cycle)

    def next_c2_change(self, now: int, c1_edge: bool) -> int:
        """Return the cycle in which C2 next changes of itself, or NEVER."""
        mode = self.control & C2_MODE
        if mode not in (C2_HANDSHAKE, C2_PULSE):
            return NEVER
        if not self._c2_is_low(now):
            return self.low_from if now < self.low_from < self.low_until else NEVER
        if c1_edge and mode == C2_HANDSHAKE and self.accessed_cycle != now:
            return now + 1
        return self.low_until

    # ------------------------------------------------------------------ state

    def reset(self, now: int) -> None:
        """Clear the registers in the current cycle (fact 20)."""
        self.output = self.direction = 0
        self.set_control(0, now)

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        return {name: getattr(self, name) for name in STATE}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state that :meth:`snapshot` returned."""
        for name in STATE:
            setattr(self, name, state[name])


STATE = (
    "output", "direction", "pins", "latch",
    "c1", "c2", "c1_before", "c2_before", "lines_cycle", "lines_wait",
    "control", "low_from", "low_until", "accessed_cycle",
)  # fmt: skip
