"""The shift register clocked by T2, for a byte or for ever."""

from collections.abc import Iterator

from guestclock.chips.registers import ACR, ACR_T2_PULSES, IFR, IFR_SR, PB6, SR
from guestclock.conformance.programs.builder import LOAD, T2, Program
from guestclock.conformance.programs.shifting import HALF_BITS, IN_T2, NAMES, OUT_FREE, OUT_T2, ones, rotated

COUNTS = (0, 1, 2, 5, 0x20, 0xFF)
"""What T2's latch holds: half a bit is so many cycles and two."""


def t2_edge(half_bit: int, count: int, at: int = LOAD) -> int:
    """Return the same, clocked by T2: one cycle after a reload of its low byte (facts 16, 18).

    T2CH was written in cycle ``at``; all reloads count from there on.
    """
    reload = at + count + 3 + half_bit * (count + 2)
    return reload + 1


def programs() -> Iterator[Program]:
    """Yield the programs in the order of the facts."""
    yield from _out()
    yield from _in()
    yield from _flag()
    yield from _pins()
    yield from _pulses()
    yield from _free()


def _by_t2(mode: int, name: str, count: int, claim: str, fact: int = 18, *, grade: str = "") -> Program:
    """Return a program in which T2 is started in LOAD and the mode comes into force before it passes 0."""
    program = Program(f"sr.{NAMES[mode]}.{name}.n{count}", fact, claim, grade)
    program.load(T2, count)
    program.write(LOAD + 1, ACR, mode)
    return program


def _out() -> Iterator[Program]:
    for count in COUNTS:
        program = _by_t2(
            OUT_T2, "rotates", count, "SR rotates one cycle after every other reload of T2's low byte"
        )
        program.write(LOAD + 2, SR, 0xA6)
        for bit in range(8):
            at = t2_edge(2 * bit, count)
            program.read(at - 1, SR, rotated(0xA6, bit))
            program.read(at, SR, rotated(0xA6, bit + 1))
        yield program
    program = _by_t2(OUT_T2, "starts-late", 5, "a byte begins with the first reload after the access")
    late = t2_edge(6, 5) + 1
    program.write(late, SR, 0x35)
    program.read(t2_edge(7, 5) - 1, SR, 0x35)
    program.read(t2_edge(7, 5), SR, rotated(0x35, 1))
    program.read(t2_edge(9, 5) - 1, SR, rotated(0x35, 1))
    program.read(t2_edge(9, 5), SR, rotated(0x35, 2))
    yield program
    program = _by_t2(
        OUT_T2, "new-count", 5, "T2CL written anew: the half-bit after the next reload has the new length"
    )
    program.write(LOAD + 2, SR, 0x96)
    change = t2_edge(2, 5) + 1
    program.write(change, T2.low, 9)
    reload = t2_edge(3, 5) - 1
    program.read(reload + 1, SR, rotated(0x96, 2))
    program.read(reload + 11, SR, rotated(0x96, 2))
    program.read(reload + 12, SR, rotated(0x96, 3))
    yield program


def _in() -> Iterator[Program]:
    for count in COUNTS:
        program = _by_t2(IN_T2, "shifts-ones", count, "a one comes in one cycle after every other reload")
        program.write(LOAD + 2, SR, 0)
        for bit in range(7):
            at = t2_edge(2 * bit + 1, count)
            program.read(at - 1, SR, ones(0, bit))
            program.read(at, SR, ones(0, bit + 1))
        yield program
    for pattern in (0x00, 0x4B, 0xB2):
        program = _by_t2(
            IN_T2,
            f"shifts-cb2.{pattern:02x}",
            5,
            "CB2 is shifted in, the first bit to be the highest",
            grade="data-sheet",
        )
        program.write(LOAD + 2, SR, 0xFF)
        for bit in range(8):
            program.drive(t2_edge(2 * bit, 5), "cb2", pattern >> (7 - bit) & 1)
        program.read(t2_edge(15, 5) + 3, SR, pattern)
        yield program


def _flag() -> Iterator[Program]:
    for mode in (IN_T2, OUT_T2):
        for count in COUNTS:
            program = _by_t2(mode, "flag", count, "IFR2 comes with the 16th half-bit", fact=17)
            program.write(LOAD + 2, SR, 0x5A)
            program.read(t2_edge(15, count) - 1, IFR, 0, IFR_SR)
            program.read(t2_edge(15, count), IFR, IFR_SR, IFR_SR)
            yield program
        program = _by_t2(mode, "read-in-mid-transfer", 5, "an access in mid-transfer starts nothing", fact=17)
        program.write(LOAD + 2, SR, 0x5A)
        program.touch(t2_edge(6, 5) + 2, SR)
        program.read(t2_edge(15, 5) - 1, IFR, 0, IFR_SR)
        program.read(t2_edge(15, 5), IFR, IFR_SR, IFR_SR)
        yield program
        program = _by_t2(mode, "next-byte", 5, "an access after the byte starts the next", fact=17)
        program.write(LOAD + 2, SR, 0x5A)
        program.touch(t2_edge(15, 5) + 1, SR)
        program.read(t2_edge(31, 5) - 1, IFR, 0, IFR_SR)
        program.read(t2_edge(31, 5), IFR, IFR_SR, IFR_SR)
        yield program


def _pins() -> Iterator[Program]:
    for mode in (IN_T2, OUT_T2):
        for count in (0, 5):
            program = _by_t2(
                mode,
                "cb1-is-the-clock",
                count,
                "CB1 falls and rises one cycle after the reloads",
                grade="data-sheet",
            )
            program.write(LOAD + 2, SR, 0x5A)
            for half_bit in range(HALF_BITS):
                program.check(2 * t2_edge(half_bit, count) - 1, "cb1", 1 - half_bit & 1)
                program.check(2 * t2_edge(half_bit, count) + 1, "cb1", half_bit & 1)
            program.check(2 * (t2_edge(16, count) + 1) + 1, "cb1", 1)
            yield program
    program = _by_t2(OUT_T2, "cb2-shows-bits", 5, "CB2 shows the bits, the highest first", grade="data-sheet")
    program.write(LOAD + 2, SR, 0xB1)
    for half_bit in range(HALF_BITS):
        program.check(2 * t2_edge(half_bit, 5) + 1, "cb2", 0xB1 >> (7 - half_bit // 2) & 1)
    yield program


def _pulses() -> Iterator[Program]:
    """T2 counts pulses on PB6 and clocks the shift register: a pulse reloads its low byte after xxFF."""
    program = Program(
        "sr.out-t2.by-pulses", 18, "the pulse that reloads T2 moves CB1 in the second cycle after", "model"
    )
    program.write(0, ACR, OUT_T2 | ACR_T2_PULSES)
    program.load(T2, 0)
    program.write(LOAD + 2, SR, 0x2F)
    for half_bit in range(6):
        for fall in (30 + 40 * half_bit, 50 + 40 * half_bit):  # xxFF, then the latch
            program.drive(fall, "pb", 0xFF & ~PB6)
            program.drive(fall + 10, "pb", 0xFF)
        program.check(2 * (fall + 1) + 1, "cb1", 1 - half_bit & 1)
        program.check(2 * (fall + 2), "cb1", half_bit & 1)
        program.read(fall + 5, SR, rotated(0x2F, half_bit // 2 + 1))
    yield program


def _free() -> Iterator[Program]:
    for count in COUNTS:
        program = Program(
            f"sr.out-free.rotates.n{count}",
            18,
            "in mode 4 SR rotates for ever, two reloads a bit, without a flag",
        )
        program.write(3, SR, 0xA6)
        program.load(T2, count)
        program.write(LOAD + 1, ACR, OUT_FREE)
        for bit in (0, 1, 2, 7, 8, 15, 40):
            at = t2_edge(2 * bit, count)
            program.read(at - 1, SR, rotated(0xA6, bit))
            program.read(at, SR, rotated(0xA6, bit + 1))
        program.read(t2_edge(82, count) + 1, IFR, 0, IFR_SR)
        yield program
    program = Program("sr.out-free.pins", 18, "CB1 and CB2 go on without end", "data-sheet")
    program.write(3, SR, 0x2D)
    program.load(T2, 3)
    program.write(LOAD + 1, ACR, OUT_FREE)
    for half_bit in range(3 * HALF_BITS):
        program.check(2 * t2_edge(half_bit, 3) + 1, "cb1", half_bit & 1)
        program.check(2 * t2_edge(half_bit, 3) + 3, "cb2", 0x2D >> (7 - half_bit // 2 % 8) & 1)
    yield program
