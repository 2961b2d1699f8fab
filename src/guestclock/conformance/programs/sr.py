"""The shift register in its eight modes."""

from collections.abc import Iterator

from guestclock.chips.registers import ACR, IER, IER_SET, IFR, IFR_ANY, IFR_SR, SR
from guestclock.conformance.programs.builder import LOAD, T2, Program

DISABLED, IN_T2, IN_PHI2, IN_CB1, OUT_FREE, OUT_T2, OUT_PHI2, OUT_CB1 = range(0, 0x20, 4)
"""Modes as ACR has them."""
NAMES = {
    DISABLED: "disabled", IN_T2: "in-t2", IN_PHI2: "in-phi2", IN_CB1: "in-cb1",
    OUT_FREE: "out-free", OUT_T2: "out-t2", OUT_PHI2: "out-phi2", OUT_CB1: "out-cb1",
}  # fmt: skip

START = 10
"""The cycle of the access that starts a byte: r of fact 17."""
HALF_BITS = 16
COUNTS = (0, 1, 2, 5, 0x20, 0xFF)
"""What T2's latch holds: half a bit is so many cycles and two."""


def rotated(value: int, bits: int) -> int:
    """Return a byte rotated to the left, as it is shifted out.

    >>> f"{rotated(0xA5, 1):02x}"
    '4b'
    """
    bits %= 8
    return (value << bits | value >> (8 - bits)) & 0xFF


def ones(value: int, bits: int) -> int:
    """Return a byte into which so many ones were shifted."""
    return (value << bits | (1 << bits) - 1) & 0xFF


def phi2_edge(half_bit: int, start: int = START) -> int:
    """Return the cycle that first shows a half-bit clocked by φ2: 0 the first fall, 15 the last rise."""
    return start + 2 + half_bit


def t2_edge(half_bit: int, count: int, at: int = LOAD) -> int:
    """Return the same, clocked by T2: one cycle after a reload of its low byte (facts 16, 18).

    T2CH was written in cycle ``at``; all reloads count from there on.
    """
    reload = at + count + 3 + half_bit * (count + 2)
    return reload + 1


def programs() -> Iterator[Program]:
    """Yield the programs in the order of the facts."""
    yield from _phi2_out()
    yield from _phi2_in()
    yield from _phi2_flag()
    yield from _phi2_restarts()
    yield from _phi2_pins()
    yield from _t2_out()
    yield from _t2_in()
    yield from _t2_flag()
    yield from _t2_pins()
    yield from _free()
    yield from _disabled()
    yield from _external()
    yield from _modes()


def _in_mode(mode: int, name: str, fact: int | None, claim: str, grade: str = "") -> Program:
    program = Program(f"sr.{NAMES[mode]}.{name}", fact, claim, grade)
    program.write(0, ACR, mode)
    return program


# ---------------------------------------------------------------------- clocked by φ2


def _phi2_out() -> Iterator[Program]:
    for value in (0x01, 0x80, 0xA5, 0x3C):
        program = _in_mode(
            OUT_PHI2, f"rotates.{value:02x}", 17, "written in r, SR rotates in r + 2, r + 4, ..., r + 16"
        )
        program.write(START, SR, value)
        for cycle in range(START + 1, phi2_edge(15)):
            program.read(cycle, SR, rotated(value, (cycle - START) // 2))
        yield program
    program = _in_mode(DISABLED, "then-out-phi2-by-a-read", 17, "a read of SR in r starts a byte as well")
    program.write(3, SR, 0x4D)
    program.write(5, ACR, OUT_PHI2)
    program.read(START, SR, 0x4D)
    program.read(START + 1, SR, 0x4D)
    program.read(START + 2, SR, rotated(0x4D, 1))
    program.read(START + 9, SR, rotated(0x4D, 4))
    program.read(phi2_edge(15), IFR, IFR_SR)
    yield program
    program = _in_mode(OUT_PHI2, "stops-after-a-byte", 17, "after eight bits SR stands still")
    program.write(START, SR, 0x71)
    program.read(START + 60, SR, 0x71)
    yield program


def _phi2_in() -> Iterator[Program]:
    program = _in_mode(IN_PHI2, "shifts-ones", 17, "CB2 being 1, ones come in r + 3, r + 5, ..., r + 17")
    program.write(START, SR, 0)
    for cycle in range(START + 1, phi2_edge(15)):
        program.read(cycle, SR, ones(0, (cycle - START - 1) // 2))
    yield program
    for pattern in (0x00, 0x55, 0xA5, 0xE1):
        program = _in_mode(
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


def _phi2_flag() -> Iterator[Program]:
    for mode in (IN_PHI2, OUT_PHI2):
        for access in ("write", "read"):
            program = _in_mode(
                mode, f"flag-at-r+17.{access}", 17, f"{access} in r: IFR2 reads 0 in r + 16 and 1 in r + 17"
            )
            if access == "write":
                program.write(START, SR, 0x5A)
            else:
                program.touch(START, SR)
            program.read(phi2_edge(15) - 1, IFR, 0)
            program.read(phi2_edge(15), IFR, IFR_SR)
            yield program
    program = _in_mode(OUT_PHI2, "irq-pin", 17, "the IRQ pin falls half a cycle before IFR2 shows", "model")
    program.write(1, IER, IER_SET | IFR_SR)
    program.write(START, SR, 0x5A)
    program.check(2 * phi2_edge(15) - 2, "irq", 1)
    program.check(2 * phi2_edge(15) - 1, "irq", 0)
    program.read(phi2_edge(15), IFR, IFR_ANY | IFR_SR)
    yield program


def _phi2_restarts() -> Iterator[Program]:
    for mode in (IN_PHI2, OUT_PHI2):
        for later in (1, 2, 5, 8, 15):
            program = _in_mode(
                mode, f"read-in-r+{later}", 17, "an access in mid-transfer does not start the byte anew"
            )
            program.write(START, SR, 0x5A)
            program.touch(START + later, SR)
            program.read(phi2_edge(15) - 1, IFR, 0)
            program.read(phi2_edge(15), IFR, IFR_SR)
            yield program
        program = _in_mode(mode, "read-in-r+16", 17, "nor does one in the cycle before the flag", "model")
        program.write(START, SR, 0x5A)
        program.touch(START + 16, SR)
        program.read(START + 17, IFR, IFR_SR)
        program.read(START + 60, IFR, IFR_SR)
        yield program
        for later in (17, 18, 40):
            program = _in_mode(
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
    program = _in_mode(
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
    program = _in_mode(OUT_PHI2, "ifr-write-clears", 22, "a 1 written to IFR clears IFR2 and starts nothing")
    program.write(START, SR, 0x5A)
    program.write(START + 20, IFR, IFR_SR)
    program.read(START + 21, IFR, 0)
    program.read(START + 60, IFR, 0)
    yield program


def _phi2_pins() -> Iterator[Program]:
    for mode in (IN_PHI2, OUT_PHI2):
        program = _in_mode(
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
        program = _in_mode(
            OUT_PHI2, f"cb2-shows-bits.{value:02x}", 17, "CB2 shows the bits, the highest first", "data-sheet"
        )
        program.write(START, SR, value)
        for half_bit in range(HALF_BITS):
            program.check(2 * phi2_edge(half_bit) + 1, "cb2", value >> (7 - half_bit // 2) & 1)
        yield program
    program = _in_mode(
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


# ---------------------------------------------------------------------- clocked by T2


def _by_t2(mode: int, name: str, count: int, claim: str, fact: int = 18, *, grade: str = "") -> Program:
    """Return a program in which T2 is started in LOAD and the mode comes into force before it passes 0."""
    program = Program(f"sr.{NAMES[mode]}.{name}.n{count}", fact, claim, grade)
    program.load(T2, count)
    program.write(LOAD + 1, ACR, mode)
    return program


def _t2_out() -> Iterator[Program]:
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


def _t2_in() -> Iterator[Program]:
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


def _t2_flag() -> Iterator[Program]:
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


def _t2_pins() -> Iterator[Program]:
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


# ---------------------------------------------------------------------- clocked by CB1


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
    program = _in_mode(DISABLED, "no-flag", 19, "in mode 0 CB1 shifts CB2 in, but IFR2 stays 0")
    program.write(1, SR, 0)
    pattern = 0x9C
    for bit in range(8):
        _pulse(program, FIRST + PULSE * bit, pattern >> (7 - bit) & 1)
    program.read(FIRST + PULSE * 8, IFR, 0, IFR_SR)
    program.read(FIRST + PULSE * 8 + 1, SR, pattern)
    yield program
    program = _in_mode(DISABLED, "each-rise-shifts", 19, "each rise of CB1 shifts, a fall does not")
    program.write(1, SR, 0xF0)
    for bit in range(4):
        _pulse(program, FIRST + PULSE * bit, 0)
        program.read(FIRST + PULSE * bit + 8, SR, 0xF0 << bit & 0xFF)
        program.read(FIRST + PULSE * bit + 15, SR, 0xF0 << bit + 1 & 0xFF)
    yield program
    program = _in_mode(DISABLED, "rise-shows-in-c+1", 19, "CB1 rises in c: SR has shifted in c + 1", "model")
    program.write(1, SR, 0)
    program.drive(FIRST, "cb1", 0)
    program.drive(FIRST + 10, "cb1", 1)
    program.read(FIRST + 10, SR, 0)
    program.read(FIRST + 11, SR, 1)
    yield program
    program = _in_mode(OUT_PHI2, "left-for-mode-0", 19, "mode 0 holds IFR2 at 0")
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
        program = _in_mode(
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
        program = _in_mode(
            mode, "access-counts-anew", 19, "an access to SR begins to count eight pulses anew"
        )
        program.write(1, SR, pattern)
        for bit in range(11):
            _pulse(program, FIRST + PULSE * bit)
            if bit == 2:
                program.touch(FIRST + PULSE * bit + 15, SR)
        program.read(FIRST + PULSE * 9 + 17, IFR, 0, IFR_SR)
        program.read(FIRST + PULSE * 10 + 17, IFR, IFR_SR, IFR_SR)
        yield program
    for mode in (IN_CB1, OUT_CB1):
        program = _in_mode(
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
    program = _in_mode(IN_CB1, "shifts-cb2", 19, "each rise of CB1 shifts CB2 in, also after the eighth")
    program.write(1, SR, 0)
    stream = 0b1011_0010_1101
    for bit in range(12):
        _pulse(program, FIRST + PULSE * bit, stream >> (11 - bit) & 1)
        if bit in {7, 11}:
            program.read(FIRST + PULSE * bit + 15, SR, stream >> (11 - bit) & 0xFF)
    yield program
    program = _in_mode(OUT_CB1, "cb2-shows-bits", 19, "each fall of CB1 brings a bit to CB2, round and round")
    program.write(1, SR, pattern)
    for bit in range(12):
        _pulse(program, FIRST + PULSE * bit)
        program.check(2 * (FIRST + PULSE * bit + 3) + 1, "cb2", pattern >> (7 - bit % 8) & 1)
        program.check(2 * (FIRST + PULSE * bit + 15) + 1, "cb2", pattern >> (7 - bit % 8) & 1)
    yield program
    program = _in_mode(OUT_CB1, "fall-shows-in-c+1", 19, "CB1 falls in c: SR has shifted in c + 1", "model")
    program.write(1, SR, 0x81)
    program.drive(FIRST, "cb1", 0)
    program.read(FIRST, SR, 0x81)
    program.read(FIRST + 1, SR, 0x03)
    yield program


# ---------------------------------------------------------------------- from mode to mode


def _modes() -> Iterator[Program]:
    program = _in_mode(
        OUT_PHI2, "left-in-mid-transfer", None, "mode 0 in mid-transfer: SR stands still", "model"
    )
    program.write(START, SR, 0xD2)
    program.write(START + 6, ACR, DISABLED)
    program.read(START + 8, SR, rotated(0xD2, 3))
    program.read(START + 40, SR, rotated(0xD2, 3))
    program.write(START + 41, ACR, OUT_PHI2)
    program.read(START + 60, IFR, 0)
    yield program
    for mode in (IN_PHI2, OUT_PHI2, IN_T2, OUT_T2):
        program = _in_mode(
            mode, "needs-an-access", 17, "without an access nothing is shifted and no flag comes"
        )
        program.load(T2, 3)
        program.read(LOAD + 300, IFR, 0, IFR_SR)
        yield program
    program = _in_mode(
        DISABLED, "access-starts-nothing", None, "in mode 0 an access starts nothing", "data-sheet"
    )
    program.write(START, SR, 0x99)
    program.read(START + 40, SR, 0x99)
    program.read(START + 41, IFR, 0)
    yield program
