"""6502 machine code, and how to let an exact number of cycles pass in it."""

# Mnemonics with their addressing, as the MOS programming manual of 1976 has them.
LDA_IMM, LDA_ABS, LDA_ABS_X, LDA_ZP = 0xA9, 0xAD, 0xBD, 0xA5
STA_ABS, STA_ZP = 0x8D, 0x85
LDX_IMM, LDY_IMM, CPX_IMM, CMP_IMM = 0xA2, 0xA0, 0xE0, 0xC9
ADC_ZP, ADC_IMM, AND_IMM, ORA_IMM = 0x65, 0x69, 0x29, 0x09
JSR, JMP, RTS, RTI, BNE, BCC, BIT_ZP = 0x20, 0x4C, 0x60, 0x40, 0xD0, 0x90, 0x24
SEI, CLI, CLC, NOP, LSR_A = 0x78, 0x58, 0x18, 0xEA, 0x4A
TXA, INX, DEX, DEY, PHA, PLA, PHP, PLP = 0x8A, 0xE8, 0xCA, 0x88, 0x48, 0x68, 0x08, 0x28

SHORT_LOOP_CYCLES = 13
"""LDX #n, JSR, n rounds of DEX and BNE at 5 cycles each, the last 4, RTS: 13 + 5 n."""

LONG_LOOP_CYCLES = -1265
"""LDX #n, LDY #m, JSR, both loops, RTS: 1284 m + 5 n - 1265; a round of 256 takes 1279."""

ROUND_CYCLES = 5
LONG_ROUND_CYCLES = 1284
WORTH_A_LOOP_CYCLES = 24
LOOP_MOST = 256


class Code:
    """Bytes from an address on; labels may be used before they are placed."""

    def __init__(self, origin: int) -> None:
        self.origin = origin
        self.bytes = bytearray()
        self._labels: dict[str, int] = {}
        self._wanted: list[tuple[int, str, bool]] = []

    def op(self, opcode: int, *operands: int) -> None:
        """Add an instruction with the bytes of its operand."""
        self.bytes += bytes([opcode, *operands])

    def absolute(self, opcode: int, target: int | str) -> None:
        """Add an instruction with an address or a label."""
        if isinstance(target, str):
            self._wanted.append((len(self.bytes) + 1, target, False))
            target = 0
        self.op(opcode, target & 0xFF, target >> 8)

    def branch(self, opcode: int, label: str) -> None:
        """Add a branch to a label."""
        self._wanted.append((len(self.bytes) + 1, label, True))
        self.op(opcode, 0)

    def label(self, name: str) -> None:
        """Place a label here."""
        self._labels[name] = self.origin + len(self.bytes)

    def address(self, label: str) -> int:
        """Return where a label is that has been placed."""
        return self._labels[label]

    def finish(self) -> bytes:
        """Return the bytes, every label filled in."""
        for at, label, relative in self._wanted:
            target = self._labels[label]
            if relative:
                self.bytes[at] = (target - (self.origin + at + 1)) & 0xFF
            else:
                self.bytes[at : at + 2] = bytes([target & 0xFF, target >> 8])
        return bytes(self.bytes)


def delays(code: Code) -> None:
    """Add the loops of :func:`wait`; they lie within one page, where a branch taken costs three cycles."""
    begin = len(code.bytes) + code.origin
    for name, opcodes in (("short loop", (DEX,)), ("long loop", (DEX, DEY))):
        code.label(name)
        for opcode in opcodes:
            code.op(opcode)
            code.branch(BNE, name)
        code.op(RTS)
    assert begin >> 8 == (len(code.bytes) + code.origin) >> 8, "the loops cross a page"


def wait(code: Code, scratch: int, cycles: int) -> None:
    """Let 0, 2 or more cycles pass; X and Y may change.  ``scratch`` is a byte of page zero."""
    if cycles > SHORT_LOOP_CYCLES + ROUND_CYCLES * LOOP_MOST:
        outer = (cycles - LONG_LOOP_CYCLES - ROUND_CYCLES) // LONG_ROUND_CYCLES
        rounds, rest = _rounds(cycles - LONG_LOOP_CYCLES - LONG_ROUND_CYCLES * outer)
        code.op(LDX_IMM, rounds & 0xFF)
        code.op(LDY_IMM, outer)
        code.absolute(JSR, "long loop")
    elif cycles >= WORTH_A_LOOP_CYCLES:
        rounds, rest = _rounds(cycles - SHORT_LOOP_CYCLES)
        code.op(LDX_IMM, rounds & 0xFF)
        code.absolute(JSR, "short loop")
    else:
        rest = cycles
    if rest % 2:
        code.op(BIT_ZP, scratch)
        rest -= 3
    for _ in range(rest // 2):
        code.op(NOP)


def _rounds(cycles: int) -> tuple[int, int]:
    """Return how many rounds of a loop to do, and the rest: no instruction takes one cycle."""
    rounds, rest = divmod(cycles, ROUND_CYCLES)
    if rest == 1 or rounds > LOOP_MOST:
        rounds, rest = rounds - 1, rest + ROUND_CYCLES
    return rounds, rest
