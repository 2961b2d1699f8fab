"""The shift register clocked by CB1 from outside, also in mode 0."""

from collections.abc import Iterator

from guestclock.chips.registers import ACR, IER, IER_SET, IFR, IFR_ANY, IFR_SR, SR
from guestclock.conformance.programs.builder import Program
from guestclock.conformance.programs.shifting import DISABLED, IN_CB1, OUT_CB1, OUT_PHI2, START, in_mode


def programs() -> Iterator[Program]:
    """Yield the programs in the order of the facts."""
    yield from _disabled()
    yield from _external()


def _pulse(program: Program, at: int, data: int | None = None) -> None:
    """Let CB1 fall, CB2 change five cycles on, and CB1 rise after ten."""
    program.drive(at, "cb1", 0)
    if data is not None:
        program.drive(at + 5, "cb2", data)
    program.drive(at + 10, "cb1", 1)


PULSE = 20
FIRST = 30
"""Pulses on CB1 come every 20 cycles from cycle 30 on; CB1 rises ten cycles into each."""


def _disabled() -> Iterator[Program]:
    program = in_mode(DISABLED, "no-flag", 19, "in mode 0 CB1 shifts CB2 in, but IFR2 stays 0")
    program.write(1, SR, 0)
    pattern = 0x9C
    for bit in range(8):
        _pulse(program, FIRST + PULSE * bit, pattern >> (7 - bit) & 1)
    program.read(FIRST + PULSE * 8, IFR, 0, IFR_SR)
    program.read(FIRST + PULSE * 8 + 1, SR, pattern)
    yield program
    program = in_mode(DISABLED, "each-rise-shifts", 19, "each rise of CB1 shifts, a fall does not")
    program.write(1, SR, 0xF0)
    for bit in range(4):
        _pulse(program, FIRST + PULSE * bit, 0)
        program.read(FIRST + PULSE * bit + 8, SR, 0xF0 << bit & 0xFF)
        program.read(FIRST + PULSE * bit + 15, SR, 0xF0 << bit + 1 & 0xFF)
    yield program
    program = in_mode(DISABLED, "rise-shows-in-c+1", 19, "CB1 rises in c: SR has shifted in c + 1", "model")
    program.write(1, SR, 0)
    program.drive(FIRST, "cb1", 0)
    program.drive(FIRST + 10, "cb1", 1)
    program.read(FIRST + 10, SR, 0)
    program.read(FIRST + 11, SR, 1)
    yield program
    program = in_mode(OUT_PHI2, "left-for-mode-0", 19, "mode 0 holds IFR2 at 0")
    program.write(START, SR, 0x5A)
    program.read(START + 20, IFR, IFR_SR)
    program.write(START + 21, ACR, DISABLED)
    program.read(START + 23, IFR, 0)
    program.write(START + 24, ACR, OUT_PHI2)
    program.read(START + 26, IFR, 0)
    yield program


def _external() -> Iterator[Program]:
    pattern = 0x6D
    for mode in (IN_CB1, OUT_CB1):
        program = in_mode(
            mode, "flag-after-8", 19, "IFR2 comes with the eighth pulse, and every eight pulses on"
        )
        program.write(1, SR, pattern)
        for bit in range(16):
            _pulse(program, FIRST + PULSE * bit)
            flag = IFR_SR if bit in {7, 15} else 0
            program.read(FIRST + PULSE * bit + 15, IFR, flag, IFR_SR)
            if flag:
                program.write(FIRST + PULSE * bit + 16, IFR, IFR_SR)
        yield program
        program = in_mode(mode, "access-counts-anew", 19, "an access to SR begins to count eight pulses anew")
        program.write(1, SR, pattern)
        for bit in range(11):
            _pulse(program, FIRST + PULSE * bit)
            if bit == 2:
                program.touch(FIRST + PULSE * bit + 15, SR)
        program.read(FIRST + PULSE * 9 + 17, IFR, 0, IFR_SR)
        program.read(FIRST + PULSE * 10 + 17, IFR, IFR_SR, IFR_SR)
        yield program
    for mode in (IN_CB1, OUT_CB1):
        program = in_mode(
            mode, "irq-pin", 19, "the IRQ pin falls in the middle of the cycle of the eighth rise", "model"
        )
        program.write(1, SR, pattern)
        program.write(2, IER, IER_SET | IFR_SR)
        for bit in range(8):
            _pulse(program, FIRST + PULSE * bit)
        rise = FIRST + PULSE * 7 + 10
        program.check(2 * rise, "irq", 1)
        program.check(2 * rise + 1, "irq", 0)
        program.read(rise + 1, IFR, IFR_ANY | IFR_SR, IFR_ANY | IFR_SR)
        yield program
    program = in_mode(IN_CB1, "shifts-cb2", 19, "each rise of CB1 shifts CB2 in, also after the eighth")
    program.write(1, SR, 0)
    stream = 0b1011_0010_1101
    for bit in range(12):
        _pulse(program, FIRST + PULSE * bit, stream >> (11 - bit) & 1)
        if bit in {7, 11}:
            program.read(FIRST + PULSE * bit + 15, SR, stream >> (11 - bit) & 0xFF)
    yield program
    program = in_mode(OUT_CB1, "cb2-shows-bits", 19, "each fall of CB1 brings a bit to CB2, round and round")
    program.write(1, SR, pattern)
    for bit in range(12):
        _pulse(program, FIRST + PULSE * bit)
        program.check(2 * (FIRST + PULSE * bit + 3) + 1, "cb2", pattern >> (7 - bit % 8) & 1)
        program.check(2 * (FIRST + PULSE * bit + 15) + 1, "cb2", pattern >> (7 - bit % 8) & 1)
    yield program
    program = in_mode(OUT_CB1, "fall-shows-in-c+1", 19, "CB1 falls in c: SR has shifted in c + 1", "model")
    program.write(1, SR, 0x81)
    program.drive(FIRST, "cb1", 0)
    program.read(FIRST, SR, 0x81)
    program.read(FIRST + 1, SR, 0x03)
    yield program
