"""The interrupt flag and enable registers."""

from collections.abc import Iterator

from guestclock.chips.registers import (
    ACR,
    ACR_T1_FREE_RUN,
    IER,
    IER_SET,
    IFR,
    IFR_ANY,
    IFR_T1,
    IFR_T2,
    T1CH,
    T1CL,
    T1LH,
    T2CH,
    T2CL,
)
from guestclock.conformance.programs.builder import LOAD, T1, T2, Program, timeout

BOTH = IFR_T1 | IFR_T2
SET = 30
"""A cycle in which both timers have long set their flags."""


def programs() -> Iterator[Program]:
    """Yield the programs in the order of the facts."""
    yield from _enable()
    yield from _any()
    yield from _writes()
    yield _pin()
    yield from _pin_released()
    yield _pin_when_read()


def _both_set(name: str, fact: int, claim: str, grade: str = "") -> Program:
    """Return a program in which both timers' flags are set in cycle SET."""
    program = Program(f"ifr.{name}", fact, claim, grade)
    program.load(T2, 2, 6)
    program.load(T1, 2, LOAD)
    program.read(SET, IFR, BOTH)
    return program


def _enable() -> Iterator[Program]:
    program = Program("ifr.ier-bit-7", 21, "IER reads with bit 7 set")
    program.read(0, IER, 0x80)
    yield program
    program = Program("ifr.ier-set-and-clear", 21, "bit 7 of a value says whether its ones enable or disable")
    enabled = 0
    for number, value in enumerate((0x85, 0x04, 0xE0, 0x01, 0x80, 0x00, 0xFF, 0x2A, 0x7F)):
        enabled = enabled | value & 0x7F if value & IER_SET else enabled & ~value
        program.write(2 * number, IER, value)
        program.read(2 * number + 1, IER, enabled | 0x80)
    yield program


def _any() -> Iterator[Program]:
    for enabled in (0, IFR_T1, IFR_T2, BOTH, 0x1F):
        program = _both_set(f"any.ier-{enabled:02x}", 21, "IFR7 is 1 when a flag is set and enabled")
        program.write(SET + 1, IER, IER_SET | enabled)
        program.read(SET + 2, IFR, BOTH | (IFR_ANY if enabled & BOTH else 0))
        program.write(SET + 3, IER, enabled)
        program.read(SET + 4, IFR, BOTH)
        yield program


def _writes() -> Iterator[Program]:
    for value in (0x00, 0x80, 0x1F, IFR_T1, IFR_T2, BOTH, 0xFF):
        program = _both_set(f"write-{value:02x}", 22, "each 1 written clears its flag; bit 7 clears nothing")
        program.write(SET + 1, IFR, value)
        program.read(SET + 2, IFR, BOTH & ~value)
        yield program


def _pin() -> Program:
    program = _both_set("pin", 21, "the IRQ pin is low while a flag is set and enabled", "data-sheet")
    program.check(2 * SET + 1, "irq", 1)
    program.write(SET + 1, IER, IER_SET | BOTH)
    program.check(2 * (SET + 3) + 1, "irq", 0)
    program.write(SET + 4, IFR, IFR_T1)
    program.check(2 * (SET + 6) + 1, "irq", 0)
    program.write(SET + 7, IFR, IFR_T2)
    program.check(2 * (SET + 9) + 1, "irq", 1)
    return program


CLEARING = {
    "read-t1cl": (T1, T1CL, None),
    "write-t1ch": (T1, T1CH, 1),
    "write-t1lh": (T1, T1LH, 1),
    "read-t2cl": (T2, T2CL, None),
    "write-t2ch": (T2, T2CH, 1),
}


def _pin_released() -> Iterator[Program]:
    """What clears a flag releases the pin."""
    count = 40
    at = timeout(count) + 5
    for name, (timer, register, value) in CLEARING.items():
        claim = f"the IRQ pin goes high with {timer.name}'s flag"
        program = Program(f"ifr.pin-released.{name}", 6, claim, "data-sheet")
        program.write(0, ACR, ACR_T1_FREE_RUN)
        program.write(1, IER, IER_SET | timer.flag)
        program.load(timer, count)
        program.check(2 * at - 1, "irq", 0)
        if value is None:
            program.touch(at, register)
        else:
            program.write(at, register, value)
        program.check(2 * (at + 2) + 1, "irq", 1)
        yield program


def _pin_when_read() -> Program:
    program = Program("ifr.pin-low-when-bit-7-reads-1", 21, "the IRQ pin is IFR7, turned round", "data-sheet")
    program.write(0, IER, IER_SET | IFR_T1)
    program.load(T1, 5)
    program.read(SET, IFR, IFR_ANY | IFR_T1)
    program.check(2 * (SET + 1) + 1, "irq", 0)
    return program
