"""The shift register in its eight modes."""

from collections.abc import Iterator

from guestclock.chips.registers import ACR, IER, IER_SET, IFR, IFR_ANY, IFR_SR, SR
from guestclock.conformance.programs import sr_cb1, sr_phi2, sr_t2
from guestclock.conformance.programs.builder import LOAD, T2, Program
from guestclock.conformance.programs.shifting import (
    DISABLED,
    IN_PHI2,
    IN_T2,
    OUT_FREE,
    OUT_PHI2,
    OUT_T2,
    START,
    in_mode,
    rotated,
)
from guestclock.conformance.programs.sr_t2 import t2_edge


def programs() -> Iterator[Program]:
    """Yield the programs of each clock, and those that change it."""
    yield from sr_phi2.programs()
    yield from sr_t2.programs()
    yield from sr_cb1.programs()
    yield from _modes()


def _modes() -> Iterator[Program]:
    program = in_mode(
        OUT_PHI2, "left-in-mid-transfer", None, "mode 0 in mid-transfer: SR stands still", "model"
    )
    program.write(START, SR, 0xD2)
    program.write(START + 6, ACR, DISABLED)
    program.read(START + 8, SR, rotated(0xD2, 3))
    program.read(START + 40, SR, rotated(0xD2, 3))
    program.write(START + 41, ACR, OUT_PHI2)
    program.read(START + 60, IFR, 0)
    yield program
    program = Program(
        "sr.out-free.entered-in-mid-transfer", 18, "mode 4 entered in mid-transfer: no flag comes", "model"
    )
    program.load(T2, 5)
    program.write(LOAD + 1, ACR, OUT_T2)
    program.write(LOAD + 2, SR, 0x5A)
    program.write(LOAD + 3, IER, IER_SET | IFR_SR)
    program.write(t2_edge(4, 5) + 1, ACR, OUT_FREE)
    program.read(t2_edge(40, 5), IFR, 0, IFR_SR | IFR_ANY)
    program.check(2 * t2_edge(41, 5), "irq", 1)
    yield program
    for mode in (IN_PHI2, OUT_PHI2, IN_T2, OUT_T2):
        program = in_mode(
            mode, "needs-an-access", 17, "without an access nothing is shifted and no flag comes"
        )
        program.load(T2, 3)
        program.read(LOAD + 300, IFR, 0, IFR_SR)
        yield program
    program = in_mode(
        DISABLED, "access-starts-nothing", None, "in mode 0 an access starts nothing", "data-sheet"
    )
    program.write(START, SR, 0x99)
    program.read(START + 40, SR, 0x99)
    program.read(START + 41, IFR, 0)
    yield program
