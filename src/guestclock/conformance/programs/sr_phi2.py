"""The shift register clocked by φ2."""

from collections.abc import Iterator

from guestclock.chips.registers import ACR, IER, IER_SET, IFR, IFR_ANY, IFR_SR, SR
from guestclock.conformance.programs.builder import Program
from guestclock.conformance.programs.shifting import (
    DISABLED,
    HALF_BITS,
    IN_PHI2,
    OUT_PHI2,
    START,
    in_mode,
    ones,
    rotated,
)


def phi2_edge(half_bit: int, start: int = START) -> int:
    """Return the cycle that first shows a half-bit clocked by φ2: 0 the first fall, 15 the last rise."""
    return start + 2 + half_bit


def programs() -> Iterator[Program]:
    """Yield the programs in the order of the facts."""
    yield from _out()
    yield from _in()
    yield from _flag()
    yield from _restarts()
    yield from _pins()


def _out() -> Iterator[Program]:
    for value in (0x01, 0x80, 0xA5, 0x3C):
        program = in_mode(
            OUT_PHI2, f"rotates.{value:02x}", 17, "written in r, SR rotates in r + 2, r + 4, ..., r + 16"
        )
        program.write(START, SR, value)
        for cycle in range(START + 1, phi2_edge(15)):
            program.read(cycle, SR, rotated(value, (cycle - START) // 2))
        yield program
    program = in_mode(DISABLED, "then-out-phi2-by-a-read", 17, "a read of SR in r starts a byte as well")
    program.write(3, SR, 0x4D)
    program.write(5, ACR, OUT_PHI2)
    program.read(START, SR, 0x4D)
    program.read(START + 1, SR, 0x4D)
    program.read(START + 2, SR, rotated(0x4D, 1))
    program.read(START + 9, SR, rotated(0x4D, 4))
    program.read(phi2_edge(15), IFR, IFR_SR)
    yield program
    program = in_mode(OUT_PHI2, "stops-after-a-byte", 17, "after eight bits SR stands still")
    program.write(START, SR, 0x71)
    program.read(START + 60, SR, 0x71)
    yield program


def _in() -> Iterator[Program]:
    program = in_mode(IN_PHI2, "shifts-ones", 17, "CB2 being 1, ones come in r + 3, r + 5, ..., r + 17")
    program.write(START, SR, 0)
    for cycle in range(START + 1, phi2_edge(15)):
        program.read(cycle, SR, ones(0, (cycle - START - 1) // 2))
    yield program
    for pattern in (0x00, 0x55, 0xA5, 0xE1):
        program = in_mode(
            IN_PHI2,
            f"shifts-cb2.{pattern:02x}",
            17,
            "CB2 is shifted in, the first bit to be the highest",
            "data-sheet",
        )
        program.write(START, SR, 0xFF)
        for bit in range(8):
            program.drive(phi2_edge(2 * bit) - 1, "cb2", pattern >> (7 - bit) & 1)
        program.drive(phi2_edge(15) + 1, "cb2", 1)
        program.read(phi2_edge(15) + 5, SR, pattern)
        yield program


def _flag() -> Iterator[Program]:
    for mode in (IN_PHI2, OUT_PHI2):
        for access in ("write", "read"):
            program = in_mode(
                mode, f"flag-at-r+17.{access}", 17, f"{access} in r: IFR2 reads 0 in r + 16 and 1 in r + 17"
            )
            if access == "write":
                program.write(START, SR, 0x5A)
            else:
                program.touch(START, SR)
            program.read(phi2_edge(15) - 1, IFR, 0)
            program.read(phi2_edge(15), IFR, IFR_SR)
            yield program
    program = in_mode(OUT_PHI2, "irq-pin", 17, "the IRQ pin falls half a cycle before IFR2 shows", "model")
    program.write(1, IER, IER_SET | IFR_SR)
    program.write(START, SR, 0x5A)
    program.check(2 * phi2_edge(15) - 2, "irq", 1)
    program.check(2 * phi2_edge(15) - 1, "irq", 0)
    program.read(phi2_edge(15), IFR, IFR_ANY | IFR_SR)
    yield program


def _restarts() -> Iterator[Program]:
    for mode in (IN_PHI2, OUT_PHI2):
        for later in (1, 2, 5, 8, 15):
            program = in_mode(
                mode, f"read-in-r+{later}", 17, "an access in mid-transfer does not start the byte anew"
            )
            program.write(START, SR, 0x5A)
            program.touch(START + later, SR)
            program.read(phi2_edge(15) - 1, IFR, 0)
            program.read(phi2_edge(15), IFR, IFR_SR)
            yield program
        program = in_mode(mode, "read-in-r+16", 17, "nor does one in the cycle before the flag", "model")
        program.write(START, SR, 0x5A)
        program.touch(START + 16, SR)
        program.read(START + 17, IFR, IFR_SR)
        program.read(START + 60, IFR, IFR_SR)
        yield program
        for later in (17, 18, 40):
            program = in_mode(
                mode,
                f"read-in-r+{later}-starts",
                17,
                "an access after the byte clears IFR2 and starts the next",
            )
            program.write(START, SR, 0x5A)
            program.touch(START + later, SR)
            program.read(START + later + 1, IFR, 0)
            program.read(phi2_edge(15, START + later) - 1, IFR, 0)
            program.read(phi2_edge(15, START + later), IFR, IFR_SR)
            yield program
    program = in_mode(
        OUT_PHI2,
        "write-in-mid-transfer",
        17,
        "a value written in mid-transfer goes on where the old one was",
        "model",
    )
    program.write(START, SR, 0x00)
    program.write(START + 4, SR, 0xC3)
    program.read(START + 5, SR, 0xC3)
    program.read(START + 6, SR, rotated(0xC3, 1))
    program.read(phi2_edge(15), IFR, IFR_SR)
    yield program
    program = in_mode(OUT_PHI2, "ifr-write-clears", 22, "a 1 written to IFR clears IFR2 and starts nothing")
    program.write(START, SR, 0x5A)
    program.write(START + 20, IFR, IFR_SR)
    program.read(START + 21, IFR, 0)
    program.read(START + 60, IFR, 0)
    yield program


def _pins() -> Iterator[Program]:
    for mode in (IN_PHI2, OUT_PHI2):
        program = in_mode(
            mode,
            "cb1-is-the-clock",
            17,
            "CB1 falls and rises with the half-bits, and rests high",
            "data-sheet",
        )
        program.write(START, SR, 0x5A)
        program.check(2 * (START + 1) + 1, "cb1", 1)
        for half_bit in range(HALF_BITS):
            program.check(2 * phi2_edge(half_bit) + 1, "cb1", half_bit & 1)
        program.check(2 * (phi2_edge(15) + 9) + 1, "cb1", 1)
        yield program
    for value in (0x5A, 0xE2):
        program = in_mode(
            OUT_PHI2, f"cb2-shows-bits.{value:02x}", 17, "CB2 shows the bits, the highest first", "data-sheet"
        )
        program.write(START, SR, value)
        for half_bit in range(HALF_BITS):
            program.check(2 * phi2_edge(half_bit) + 1, "cb2", value >> (7 - half_bit // 2) & 1)
        yield program
    program = in_mode(
        OUT_PHI2, "pins-change-with-the-cycle", 17, "CB1 and CB2 change with the start of a cycle", "model"
    )
    program.write(START, SR, 0x7F)
    for half in (2 * phi2_edge(0) - 1, 2 * phi2_edge(0)):
        program.check(half, "cb1", half % 2)
    program.check(2 * phi2_edge(0), "cb2", 0)
    program.check(2 * phi2_edge(1) - 1, "cb1", 0)
    program.check(2 * phi2_edge(1), "cb1", 1)
    program.check(2 * phi2_edge(2) - 1, "cb2", 0)
    program.check(2 * phi2_edge(2), "cb2", 1)
    yield program
