"""T2 counting pulses on PB6."""

from collections.abc import Iterator

from guestclock.chips.registers import (
    ACR,
    ACR_T2_PULSES,
    DDRB,
    IER,
    IER_SET,
    IFR,
    IFR_T2,
    ORB,
    PB6,
    SR_OUT_T2,
    T2CH,
    T2CL,
)
from guestclock.conformance.programs.builder import LOAD, T2, Program, t2_count, timeout

LOW, HIGH = 0xFF & ~PB6, 0xFF
EDGE = 30
"""The cycle in which PB6 falls."""


def programs() -> Iterator[Program]:
    """Yield the programs in the order of the facts."""
    yield from _switching()
    yield from _own_outputs()
    yield from _pins()
    yield from _with_shifting()


def _pulses(name: str, claim: str, count: int, grade: str = "", fact: int = 14) -> Program:
    """Return a program in which T2 counts pulses from ``count``."""
    program = Program(f"pb6.{name}", fact, claim, grade)
    program.write(0, ACR, ACR_T2_PULSES)
    program.load(T2, count)
    return program


def _switching() -> Iterator[Program]:
    program = Program("pb6.acr5-set", 13, "ACR5 set: one more decrement, then T2 stands still")
    program.load(T2, 0x40)
    program.write(LOAD + 11, ACR, ACR_T2_PULSES)
    for k in (12, 13, 500):
        program.read(LOAD + k, T2CL, t2_count(0x40, 12))
    yield program
    program = _pulses("acr5-cleared", "ACR5 cleared in c: the first decrement shows in c + 2", 0x40, fact=13)
    program.write(50, ACR, 0)
    for after in (1, 2, 3):
        program.read(50 + after, T2CL, 0x40 - (after - 1))
    yield program
    program = _pulses("load-reads-back", "T2CH written in pulse mode reads back exactly", 0x0140)
    program.read(LOAD + 1, T2CL, 0x40)
    program.read(LOAD + 2, T2CH, 0x01)
    program.read(900, T2CL, 0x40)
    yield program


def _own_outputs() -> Iterator[Program]:
    program = Program("pb6.own-orb-counts", 14, "a fall of PB6 that the chip's own ORB makes counts")
    program.write(0, ACR, ACR_T2_PULSES)
    program.write(1, ORB, PB6)
    program.write(2, DDRB, PB6)
    program.load(T2, 9)
    for number in range(3):
        program.write(EDGE + 20 * number, ORB, 0)
        program.read(EDGE + 20 * number + 5, T2CL, 9 - number - 1)
        program.write(EDGE + 20 * number + 10, ORB, PB6)
        program.read(EDGE + 20 * number + 15, T2CL, 9 - number - 1)
    yield program
    program = Program("pb6.own-ddrb-counts", 14, "so does one made by DDRB, ORB6 being 0")
    program.write(0, ACR, ACR_T2_PULSES)
    program.write(1, ORB, 0)
    program.load(T2, 9)
    program.write(EDGE, DDRB, PB6)
    program.read(EDGE + 5, T2CL, 8)
    program.write(EDGE + 10, DDRB, 0)
    program.read(EDGE + 15, T2CL, 8)
    yield program
    program = Program(
        "pb6.own-orb-count-shows",
        14,
        "ORB written in c: PB6 falls in c + 1, the count shows in c + 2",
        "model",
    )
    program.write(0, ACR, ACR_T2_PULSES)
    program.write(1, ORB, PB6)
    program.write(2, DDRB, PB6)
    program.load(T2, 9)
    program.write(EDGE, ORB, 0)
    program.read(EDGE + 1, T2CL, 9)
    program.read(EDGE + 2, T2CL, 8)
    yield program


def _pins() -> Iterator[Program]:
    program = _pulses("falls-count", "falling edges count, rising ones do not", 9, "data-sheet")
    for number in range(4):
        program.drive(EDGE + 20 * number, "pb", LOW)
        program.read(EDGE + 20 * number + 5, T2CL, 9 - number - 1)
        program.drive(EDGE + 20 * number + 10, "pb", HIGH)
        program.read(EDGE + 20 * number + 15, T2CL, 9 - number - 1)
    yield program
    program = _pulses("fall-shows-in-c+1", "PB6 falls in c: the count shows in c + 1", 9, "model")
    program.drive(EDGE, "pb", LOW)
    program.read(EDGE, T2CL, 9)
    program.read(EDGE + 1, T2CL, 8)
    yield program
    program = _pulses("other-pins", "the other pins of port B count nothing", 9, "data-sheet")
    program.drive(EDGE, "pb", PB6)
    program.read(EDGE + 5, T2CL, 9)
    yield program
    program = _pulses(
        "output-pin", "a PB6 that the chip drives high hears no pulse from outside", 9, "data-sheet"
    )
    program.write(1, ORB, PB6)
    program.write(2, DDRB, PB6)
    program.drive(EDGE, "pb", LOW)
    program.read(EDGE + 5, T2CL, 9)
    yield program
    program = _pulses("flag", "the pulse that passes zero sets IFR5, once", 1, "data-sheet")
    for number, flag in enumerate((0, IFR_T2, IFR_T2)):
        program.drive(EDGE + 20 * number, "pb", LOW)
        program.read(EDGE + 20 * number + 5, IFR, flag)
        program.drive(EDGE + 20 * number + 10, "pb", HIGH)
    yield program
    program = _pulses("pin", "the IRQ pin falls half a cycle before the count shows", 0, "model")
    program.write(1, IER, IER_SET | IFR_T2)
    program.drive(EDGE, "pb", LOW)
    program.check(2 * EDGE, "irq", 1)
    program.check(2 * EDGE + 1, "irq", 0)
    program.read(EDGE + 1, IFR, 0x80 | IFR_T2)
    program.read(EDGE + 2, T2CH, 0xFF)
    yield program
    program = Program("pb6.timer-mode", 14, "in timer mode pulses change nothing", "data-sheet")
    program.load(T2, 100)
    program.drive(EDGE, "pb", LOW)
    program.drive(EDGE + 10, "pb", HIGH)
    program.read(EDGE + 20, T2CL, t2_count(100, EDGE + 20 - LOAD))
    yield program


def _with_shifting() -> Iterator[Program]:
    """Yield what T2 does where it counts pulses and clocks the shift register: nobody has recorded it."""
    program = Program(
        "pb6.with-sr.load-after-xxff", 16, "T2CH written when xxFF shows: no reload is due", "model"
    )
    program.write(0, ACR, SR_OUT_T2 | ACR_T2_PULSES)
    program.load(T2, 0)
    program.drive(EDGE, "pb", LOW)
    program.drive(EDGE + 5, "pb", HIGH)
    program.read(EDGE + 7, T2CL, 0xFF)
    program.load(T2, 5, EDGE + 10)
    program.drive(EDGE + 20, "pb", LOW)
    program.read(EDGE + 25, T2CL, 4)
    yield program
    program = Program(
        "pb6.with-sr.entered-at-xxff", 16, "pulses begin where xxFF shows: the first reloads", "model"
    )
    program.load(T2, 3)
    program.write(LOAD + 1, ACR, SR_OUT_T2)
    program.write(timeout(3) - 1, ACR, SR_OUT_T2 | ACR_T2_PULSES)
    program.read(timeout(3) + 2, T2CL, 0xFF)
    program.drive(EDGE, "pb", LOW)
    program.read(EDGE + 5, T2CL, 3)
    yield program
    program = Program(
        "pb6.with-sr.left-at-loaded-ff", 16, "a low byte FF that was loaded counts to FE", "model"
    )
    program.write(0, ACR, ACR_T2_PULSES)
    program.load(T2, 0x02FF)
    program.write(EDGE, ACR, SR_OUT_T2)
    program.read(EDGE + 1, T2CL, 0xFF)
    program.read(EDGE + 2, T2CL, 0xFE)
    yield program
    program = Program(
        "pb6.with-sr.reload", 16, "the pulse after xxFF brings the latch as it then is", "model"
    )
    program.write(0, ACR, SR_OUT_T2 | ACR_T2_PULSES)
    program.load(T2, 0x0200)
    program.write(EDGE - 5, T2CL, 0x5A)
    for number, count in enumerate((0x01FF, 0x015A, 0x0159)):
        fall = EDGE + 20 * number
        program.drive(fall, "pb", LOW)
        program.read(fall + 4, IFR, 0)
        program.read(fall + 5, T2CL, count & 0xFF)
        program.read(fall + 6, T2CH, count >> 8)
        program.drive(fall + 10, "pb", HIGH)
    yield program
