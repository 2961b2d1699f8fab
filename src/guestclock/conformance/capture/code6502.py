"""6502 machine code that touches a 6522 in exactly given cycles."""

from collections.abc import Sequence

from guestclock.chips.registers import ACR, IER, IFR, T1CH, T1CL, T2CH, T2CL
from guestclock.conformance.capture.retiming import Access, gap_cycles
from guestclock.conformance.vector import Read, Vector, Write

# Mnemonics with their addressing, as the MOS programming manual of 1976 has them.
LDA_IMM, LDA_ABS, LDA_ABS_X, STA_ABS, STA_ZP = 0xA9, 0xAD, 0xBD, 0x8D, 0x85
ADC_ZP, ADC_IMM, AND_IMM, CMP_IMM, CPX_IMM, LDX_IMM = 0x65, 0x69, 0x29, 0xC9, 0xE0, 0xA2
JSR, JMP, RTS, BNE, BCC, BIT_ZP = 0x20, 0x4C, 0x60, 0xD0, 0x90, 0x24
SEI, CLI, CLC, NOP, TXA, INX, PHA, PLA, LSR_A, LDA_ZP = (
    0x78,
    0x58,
    0x18,
    0xEA,
    0x8A,
    0xE8,
    0x48,
    0x68,
    0x4A,
    0xA5,
)

SCRATCH = 0xFB
"""A byte of page zero that Commodore's BASIC leaves to programs."""

RESULTS_MOST = 255
PREPARE = ((IER, 0x7F), (ACR, 0), (T1CL, 0), (T1CH, 0), (T2CL, 0), (T2CH, 0), (ACR, 0), (IFR, 0x7F))
"""Writes that leave a 6522 as a vector expects it without RES: no flags, no enables, both timers run out."""


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

    def finish(self) -> bytes:
        """Return the bytes, every label filled in."""
        for at, label, relative in self._wanted:
            target = self._labels[label]
            if relative:
                self.bytes[at] = (target - (self.origin + at + 1)) & 0xFF
            else:
                self.bytes[at : at + 2] = bytes([target & 0xFF, target >> 8])
        return bytes(self.bytes)


def wait(code: Code, cycles: int) -> None:
    """Let 0, 2 or more cycles pass."""
    if cycles % 2:
        code.op(BIT_ZP, SCRATCH)
        cycles -= 3
    for _ in range(cycles // 2):
        code.op(NOP)


def experiments(code: Code, vectors: Sequence[Vector], via: int) -> int:
    """Add code that runs the vectors, one after the other; return how many results it stores."""
    stored = 0
    for vector in vectors:
        code.absolute(JSR, "prepare")
        before: Access | None = None
        for step in vector.steps:
            assert isinstance(step, Read | Write)
            if before is not None:
                wait(code, step.cycle - before.cycle - gap_cycles(before, step))
            if isinstance(step, Write):
                code.op(LDA_IMM, step.value)
                code.absolute(STA_ABS, via + step.register)
            else:
                code.absolute(LDA_ABS, via + step.register)
                code.absolute(STA_ABS, f"result{stored}")
                stored += 1
            before = step
    assert stored <= RESULTS_MOST, "the printing loop counts in one byte"
    return stored


def prepare(code: Code, via: int) -> None:
    """Add the subroutine that comes before each vector."""
    code.label("prepare")
    for register, value in PREPARE:
        code.op(LDA_IMM, value)
        code.absolute(STA_ABS, via + register)
    code.op(RTS)


def print_results(code: Code, count: int, print_character: int) -> None:
    """Add code that prints the results in hexadecimal, eight a line, and their sum; then the results."""
    code.op(LDA_IMM, 0)
    code.op(STA_ZP, SCRATCH)
    code.op(LDX_IMM, 0)
    code.label("next")
    code.op(TXA)
    code.op(AND_IMM, 7)
    code.branch(BNE, "same line")
    code.op(LDA_IMM, 13)
    code.absolute(JSR, print_character)
    code.label("same line")
    code.absolute(LDA_ABS_X, "result0")
    code.op(CLC)
    code.op(ADC_ZP, SCRATCH)
    code.op(STA_ZP, SCRATCH)
    code.absolute(LDA_ABS_X, "result0")
    code.absolute(JSR, "hexadecimal")
    code.op(INX)
    code.op(CPX_IMM, count)
    code.branch(BNE, "next")
    code.op(LDA_ZP, SCRATCH)
    code.label("hexadecimal")
    code.op(PHA)
    for _ in range(4):
        code.op(LSR_A)
    code.absolute(JSR, "digit")
    code.op(PLA)
    code.op(AND_IMM, 15)
    code.label("digit")
    code.op(CMP_IMM, 10)
    code.branch(BCC, "decimal")
    code.op(ADC_IMM, 6)  # and the carry that the comparison left
    code.label("decimal")
    code.op(ADC_IMM, 48)
    code.absolute(JMP, print_character)
    for number in range(count):
        code.label(f"result{number}")
        code.op(0)
