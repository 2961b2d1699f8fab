"""The program of a machine with a 6502: it does the runs one after the other and keeps what they showed."""

from collections.abc import Sequence
from dataclasses import dataclass

from guestclock.chips.registers import (
    ACR,
    DDRA,
    DDRB,
    IER,
    IFR,
    ORA_NO_HANDSHAKE,
    ORB,
    PCR,
    T1CH,
    T1CL,
    T2CH,
    T2CL,
)
from guestclock.conformance.capture.clocks import Clock
from guestclock.conformance.capture.code6502 import (
    ADC_IMM,
    ADC_ZP,
    AND_IMM,
    BCC,
    BNE,
    CLC,
    CLI,
    CMP_IMM,
    CPX_IMM,
    INX,
    JMP,
    JSR,
    LDA_ABS,
    LDA_ABS_X,
    LDA_IMM,
    LDA_ZP,
    LDX_IMM,
    LSR_A,
    ORA_IMM,
    PHA,
    PLA,
    RTI,
    RTS,
    SEI,
    STA_ABS,
    STA_ZP,
    TXA,
    Code,
    delays,
    wait,
)
from guestclock.conformance.capture.evidence import FINGERPRINT_BYTES, fingerprint
from guestclock.conformance.capture.runs import Op, Run, extra_cycles

RESULTS_MOST = 255 - FINGERPRINT_BYTES
"""The printing loop counts in one byte."""

PREPARE = (
    (IER, 0x7F), (PCR, 0), (ACR, 0), (DDRB, 0), (ORB, 0),
    (T1CL, 0), (T1CH, 0), (T2CL, 0), (T2CH, 0), (ORA_NO_HANDSHAKE, 0xFF), (IFR, 0x7F),
)  # fmt: skip
"""Writes that leave a 6522 as a run expects it without RES: no flags, no enables, both timers run out."""


@dataclass(frozen=True)
class Body:
    """Where a program lies and what is around it.

    ``scratch`` and the byte after it belong to the program, in page zero.  ``interrupt_vector`` is what the
    ROM jumps through for an interrupt, having pushed ``pushed`` bytes more than the CPU does.
    """

    origin: int
    end: int
    via: int
    clock: Clock
    scratch: int
    interrupt_vector: int
    pushed: int = 0

    @property
    def irq_seen(self) -> int:
        """The byte of page zero that an interrupt clears."""
        return self.scratch + 1


def begin(code: Code) -> None:
    """Add what lies before a program's own beginning: the loops, which may not cross a page."""
    code.absolute(JMP, "begin")
    delays(code)
    code.label("begin")


def catch_interrupts(code: Code, body: Body) -> None:
    """Add code that puts the program's handler in the place of the system's."""
    for byte in (0, 1):
        code.absolute(LDA_ABS, body.interrupt_vector + byte)
        code.absolute(STA_ABS, f"old vector {byte}")
        code.absolute(LDA_ABS, f"new vector {byte}")
        code.absolute(STA_ABS, body.interrupt_vector + byte)


def release_interrupts(code: Code, body: Body) -> None:
    """Add code that leaves the chip without flags and enables, and puts the system's handler back."""
    code.op(LDA_IMM, 0)
    code.absolute(JSR, "prepare")
    for byte in (0, 1):
        code.absolute(LDA_ABS, f"old vector {byte}")
        code.absolute(STA_ABS, body.interrupt_vector + byte)


def experiments(code: Code, body: Body, runs: Sequence[Run]) -> None:
    """Add code that does the runs, one after the other."""
    stored = FINGERPRINT_BYTES
    for run in runs:
        code.op(LDA_IMM, run.outputs_a)
        code.absolute(JSR, "prepare")
        last: Op | None = None
        for op in run.ops:
            if last is not None:
                wait(code, body.scratch, extra_cycles(last, op, body.clock))
            _operation(code, body, op)
            if op.gives:
                code.absolute(STA_ABS, f"result{stored}")
                stored += 1
            last = op
    assert stored <= RESULTS_MOST + FINGERPRINT_BYTES, "the printing loop counts in one byte"


def _operation(code: Code, body: Body, op: Op) -> None:
    if op.kind == "write":
        code.op(LDA_IMM, op.value)
        code.absolute(STA_ABS, body.via + op.register)
    elif op.kind == "read":
        code.absolute(LDA_ABS, body.via + op.register)
    else:  # between CLI and SEI the CPU looks at its pin once, in the first cycle of SEI
        code.op(CLI)
        code.op(SEI)
        code.op(LDA_ZP, body.irq_seen)


def subroutines(code: Code, body: Body) -> None:
    """Add what comes before each run, its argument in A, and what an interrupt does."""
    code.label("prepare")
    code.op(PHA)
    code.op(LDA_IMM, 1)
    code.op(STA_ZP, body.irq_seen)
    for register, value in PREPARE:
        code.op(LDA_IMM, value)
        code.absolute(STA_ABS, body.via + register)
    code.op(PLA)
    code.absolute(STA_ABS, body.via + DDRA)
    code.op(RTS)
    code.label("interrupt")
    code.op(LDA_IMM, 0)
    code.op(STA_ZP, body.irq_seen)
    for _ in range(body.pushed):
        code.op(PLA)
    code.op(RTI)
    target = code.address("interrupt")
    for byte in (0, 1):
        code.label(f"new vector {byte}")
        code.op(target >> 8 * byte & 0xFF)
        code.label(f"old vector {byte}")
        code.op(0)


def results_bytes(runs: Sequence[Run]) -> int:
    """Return how many bytes of results a program has, its fingerprint counted."""
    return FINGERPRINT_BYTES + sum(run.results for run in runs)


def results(code: Code, runs: Sequence[Run]) -> None:
    """Add room for what the runs show, behind their fingerprint."""
    mark = fingerprint(runs)
    for number in range(results_bytes(runs)):
        code.label(f"result{number}")
        code.op(mark[number] if number < FINGERPRINT_BYTES else 0)


@dataclass(frozen=True)
class Printing:
    """How a ROM prints.

    ``character``: its routine for one; ``a_line``: how many bytes go on a line, a power of two;
    ``upper_bit``: 80 (hexadecimal) where characters have it set.
    """

    character: int
    a_line: int
    upper_bit: int = 0


def print_results(code: Code, body: Body, count: int, printing: Printing) -> None:
    """Add code that prints so many results in hexadecimal, and their sum, and returns."""
    code.op(LDA_IMM, 0)
    code.op(STA_ZP, body.scratch)
    code.op(LDX_IMM, 0)
    code.label("next")
    code.op(TXA)
    code.op(AND_IMM, printing.a_line - 1)
    code.branch(BNE, "same line")
    code.op(LDA_IMM, 13 | printing.upper_bit)
    code.absolute(JSR, printing.character)
    code.label("same line")
    code.absolute(LDA_ABS_X, "result0")
    code.op(CLC)
    code.op(ADC_ZP, body.scratch)
    code.op(STA_ZP, body.scratch)
    code.absolute(LDA_ABS_X, "result0")
    code.absolute(JSR, "hexadecimal")
    code.op(INX)
    code.op(CPX_IMM, count)
    code.branch(BNE, "next")
    code.op(LDA_ZP, body.scratch)
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
    code.op(ORA_IMM, printing.upper_bit)
    code.absolute(JMP, printing.character)
