"""The shift register of the step-by-step 6522.

A bit takes two half-bits: the clock CB1 falls, then it rises.  Bits move out, to CB2, on the fall, and in,
from CB2, on the rise, which also counts them.
"""

DISABLED, IN_T2, IN_PHI2, IN_CB1, OUT_FREE, OUT_T2, OUT_PHI2, OUT_CB1 = range(8)
BY_T2 = {IN_T2, OUT_FREE, OUT_T2}
BY_PHI2 = {IN_PHI2, OUT_PHI2}
BY_CB1 = {DISABLED, IN_CB1, OUT_CB1}


class StepwiseShifter:
    """The shift register in one cycle.  ``mode`` is ACR's field, 0 to 7."""

    def __init__(self) -> None:
        self.value = 0
        self.bits = 0  # of the byte, so far
        self.busy = False  # between an access and the eighth bit after it
        self.starts = False  # with the next cycle
        self.clock = 1  # CB1, where the chip drives it
        self.data = 1  # CB2, where the chip drives it: the bit that went out last

    def access(self, mode: int) -> None:
        """Read or write the register in this cycle: in most modes that starts a byte."""
        if mode in {IN_CB1, OUT_CB1}:
            self.busy = True
            self.bits = 0
        elif mode not in {DISABLED, OUT_FREE} and not self.busy:
            self.starts = True

    def edge(self, mode: int, t2_reloaded: bool, cb1_moves: int) -> int:
        """Return what the shift clock does with the next cycle: 1 rises, -1 falls, 0 stays.

        ``cb1_moves`` is the same of CB1 in this cycle, as driven from outside.
        """
        if mode in BY_CB1:
            return cb1_moves
        ticks = t2_reloaded if mode in BY_T2 else True
        if ticks and (self.busy or mode == OUT_FREE):
            return -1 if self.clock else 1
        return 0

    def completes(self, mode: int, t2_reloaded: bool, cb1_moves: int) -> bool:
        """Tell whether the eighth bit is counted with the next cycle."""
        if self.bits < 7 or mode in {DISABLED, OUT_FREE}:
            return False
        return self.edge(mode, t2_reloaded, cb1_moves) > 0

    def step(self, mode: int, t2_reloaded: bool, cb1_moves: int, cb2: int) -> None:
        """Go to the next cycle."""
        edge = self.edge(mode, t2_reloaded, cb1_moves)
        if edge and mode not in BY_CB1:
            self.clock = int(edge > 0)
        if edge < 0 and mode >= OUT_FREE:
            self.data = self.value >> 7
            self.value = self.value << 1 & 0xFF | self.data
        if edge > 0 and mode < OUT_FREE:
            self.value = self.value << 1 & 0xFF | cb2
        if edge > 0 and mode not in {DISABLED, OUT_FREE}:
            self.bits += 1
        if self.bits == 8:
            self.bits = 0
            self.busy = False
        if self.starts:
            self.starts = False
            self.busy = True
            self.bits = 0

    def enter(self, mode: int) -> None:
        """Change to the mode in this cycle."""
        if mode == DISABLED:
            self.busy = self.starts = False
            self.bits = 0
        if mode in BY_CB1 or not (self.busy or mode == OUT_FREE):
            self.clock = 1
