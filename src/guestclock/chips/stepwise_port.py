"""One port of the step-by-step 6522: eight pins, their input latch, and the control lines C1 and C2.

Ports A and B differ in which accesses count as a handshake and in what a read shows; that is the chip's
business (:mod:`guestclock.chips.mos6522_stepwise`).  ``control`` is a port's half of PCR, port A's as it
is and port B's shifted down: bit 0 the active edge of C1, bits 1 to 3 the mode of C2.
"""

from guestclock.chips.registers import C1_EDGE, C2_EDGE

HANDSHAKE = 4
PULSE = 5


class StepwisePort:
    """One port, in one cycle."""

    def __init__(self) -> None:
        self.output = self.direction = 0
        self.pins = 0xFF  # as driven from outside, like the two lines
        self.c1 = self.c2 = 1
        self.c1_before = self.c2_before = 1  # in the cycle before
        self.latch = 0xFF  # the pins before the latch closed
        self.accessed = False  # in this cycle, as a handshake
        self.handshake_low = False
        self.pulse_low = False

    def levels(self) -> int:
        """Return the pins: the chip's level where it drives, else the one from outside."""
        return self.output & self.direction | self.pins & ~self.direction

    def stirs(self) -> bool:
        """Tell whether a line changes in this cycle, or C2 may with the next."""
        moves = self.c1 != self.c1_before or self.c2 != self.c2_before
        return moves or self.accessed or self.pulse_low

    def edges(self, control: int) -> int:
        """Return the flags that the lines' edges in this cycle set for the next: C1_EDGE and C2_EDGE."""
        if (self.c1, self.c2) == (self.c1_before, self.c2_before):
            return 0
        flags = 0
        if self.c1 != self.c1_before and self.c1 == control & 1:
            flags |= C1_EDGE
        if control >> 1 < HANDSHAKE and self.c2 != self.c2_before and self.c2 == control >> 2 & 1:
            flags |= C2_EDGE
        return flags

    def c2_level(self, control: int) -> int:
        """Return the level of C2 in this cycle (fact 23)."""
        mode = control >> 1
        if mode < HANDSHAKE:
            return self.c2
        if mode == HANDSHAKE:
            return int(not self.handshake_low)
        if mode == PULSE:
            return int(not self.pulse_low)
        return mode & 1

    def step(self, control: int, new_control: int, c1_edge: bool) -> None:
        """Go to the next cycle, where ``new_control`` is in force and C1's edge of this one acts."""
        mode, new_mode = control >> 1, new_control >> 1
        if self.accessed and mode == HANDSHAKE:
            self.handshake_low = True
        elif c1_edge:
            self.handshake_low = False
        self.pulse_low = self.accessed and mode == PULSE
        if new_mode != mode:
            self.handshake_low = self.pulse_low = False
        self.accessed = False
        self.c1_before, self.c2_before = self.c1, self.c2
