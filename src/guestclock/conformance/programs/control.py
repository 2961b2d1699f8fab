"""The control lines CA1, CA2, CB1 and CB2: edges, flags, handshakes, pulses."""

from collections.abc import Iterator
from dataclasses import dataclass

from guestclock.chips.registers import (
    DDRA,
    DDRB,
    IER,
    IER_SET,
    IFR,
    IFR_ANY,
    IFR_CA1,
    IFR_CA2,
    IFR_CB1,
    IFR_CB2,
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    PCR,
)
from guestclock.conformance.programs.builder import Program

EDGE = 20
ACCESS = 40
"""The cycle of the access that a program is about."""


@dataclass(frozen=True)
class Port:
    """A port's names; ``shift``: where PCR has its half; ``reads``: whether a read is a handshake."""

    feature: str
    data: int
    direction: int
    shift: int
    c1_flag: int
    c2_flag: int
    reads: bool

    @property
    def c1(self) -> str:
        """The pin of the edges."""
        return f"{self.feature}1"

    @property
    def c2(self) -> str:
        """The pin that is input or output."""
        return f"{self.feature}2"

    @property
    def pins(self) -> str:
        """The port's pins."""
        return f"p{self.feature[1]}"


A = Port("ca", ORA, DDRA, 0, IFR_CA1, IFR_CA2, reads=True)
B = Port("cb", ORB, DDRB, 4, IFR_CB1, IFR_CB2, reads=False)

C1_EDGES = {"falling": 0, "rising": 1}
C2_INPUTS = {"falling": 0, "independent-falling": 2, "rising": 4, "independent-rising": 6}
HANDSHAKE, PULSE, LOW, HIGH = 8, 10, 12, 14
"""A half of PCR: bit 0 is C1's active edge, the others C2's mode."""


def ca() -> Iterator[Program]:
    """Yield the programs of port A."""
    yield from _programs(A)
    yield from _register_f()


def cb() -> Iterator[Program]:
    """Yield the programs of port B."""
    yield from _programs(B)


def _programs(port: Port) -> Iterator[Program]:
    yield from _c1_edges(port)
    yield from _c2_edges(port)
    yield from _cleared(port)
    yield from _handshake(port)
    yield from _handshake_ends(port)
    yield from _pulse(port)
    yield from _manual(port)


def _program(
    port: Port, name: str, half: int, claim: str, fact: int | None = None, *, grade: str = ""
) -> Program:
    program = Program(f"{port.feature}.{name}", fact, claim, grade)
    program.write(0, PCR, half << port.shift)
    return program


def _active(program: Program, port: Port, half: int, at: int) -> None:
    """Let C1 have its active edge in that cycle, having the other one ten cycles before if need be."""
    level = half & 1
    if level:
        program.drive(at - 10, port.c1, 0)
    program.drive(at, port.c1, level)


# ---------------------------------------------------------------------- edges


def _c1_edges(port: Port) -> Iterator[Program]:
    for name, half in C1_EDGES.items():
        program = _program(
            port,
            f"1-{name}-edge",
            half,
            f"the {name} edge of {port.c1.upper()} sets its flag, the other does not",
        )
        for number, level in enumerate((0, 1)):
            at = EDGE + 20 * number
            program.drive(at, port.c1, level)
            flag = port.c1_flag if level == half else 0
            program.read(at + 5, IFR, flag)
            program.write(at + 6, IFR, port.c1_flag)
            program.read(at + 8, IFR, 0)
        yield program
        program = _program(
            port,
            f"1-{name}-shows-in-c+1",
            half,
            "an edge in c: the flag reads 1 first in c + 1",
            grade="model",
        )
        _active(program, port, half, EDGE)
        program.read(EDGE, IFR, 0)
        program.read(EDGE + 1, IFR, port.c1_flag)
        yield program
        program = _program(
            port,
            f"1-{name}-irq-pin",
            half,
            "the IRQ pin falls in the middle of the edge's cycle",
            grade="model",
        )
        program.write(1, IER, IER_SET | port.c1_flag)
        _active(program, port, half, EDGE)
        program.check(2 * EDGE, "irq", 1)
        program.check(2 * EDGE + 1, "irq", 0)
        program.read(EDGE + 1, IFR, IFR_ANY | port.c1_flag)
        yield program
    program = _program(
        port, "1-edge-sense-changes", 0, "a change of the active edge in PCR is no edge", grade="data-sheet"
    )
    for number, half in enumerate((1, 0, 1)):
        program.write(10 + 4 * number, PCR, half << port.shift)
    program.read(30, IFR, 0)
    yield program


def _c2_edges(port: Port) -> Iterator[Program]:
    for name, half in C2_INPUTS.items():
        active = half >> 2 & 1
        program = _program(
            port,
            f"2-{name}-edge",
            half,
            f"as {name} input {port.c2.upper()} sets its flag by that edge alone",
        )
        for number, level in enumerate((0, 1)):
            at = EDGE + 20 * number
            program.drive(at, port.c2, level)
            program.read(at + 5, IFR, port.c2_flag if level == active else 0)
            program.write(at + 6, IFR, port.c2_flag)
            program.read(at + 8, IFR, 0)
        yield program
    program = _program(
        port, "2-edge-shows-in-c+1", 0, "an edge in c: the flag reads 1 first in c + 1", grade="model"
    )
    program.drive(EDGE, port.c2, 0)
    program.read(EDGE, IFR, 0)
    program.read(EDGE + 1, IFR, port.c2_flag)
    yield program
    for name, half in (("handshake", HANDSHAKE), ("pulse", PULSE), ("low", LOW), ("high", HIGH)):
        program = _program(
            port, f"2-{name}-hears-nothing", half, "as an output it sets no flag", grade="data-sheet"
        )
        program.drive(EDGE, port.c2, 0)
        program.drive(EDGE + 10, port.c2, 1)
        program.read(EDGE + 15, IFR, 0)
        yield program


# ---------------------------------------------------------------------- flags


def _access(program: Program, port: Port, at: int, kind: str) -> None:
    if kind == "read":
        program.touch(at, port.data)
    else:
        program.write(at, port.data, 0x3C)


def _cleared(port: Port) -> Iterator[Program]:
    for kind in ("read", "write"):
        program = _program(
            port, f"1-cleared-by-{kind}", 0, f"a {kind} of the data register clears the flag of C1", 25
        )
        program.drive(EDGE, port.c1, 0)
        program.read(EDGE + 5, IFR, port.c1_flag)
        _access(program, port, ACCESS, kind)
        program.read(ACCESS + 1, IFR, 0)
        yield program
        for name, half in C2_INPUTS.items():
            stays = name.startswith("independent")
            program = _program(
                port,
                f"2-{name}.{kind}",
                half,
                f"a {kind} of the data register {'leaves' if stays else 'clears'} the flag of C2",
                25,
            )
            program.drive(EDGE - 10, port.c2, 0)
            program.drive(EDGE, port.c2, 1)
            program.read(EDGE + 5, IFR, port.c2_flag)
            _access(program, port, ACCESS, kind)
            program.read(ACCESS + 1, IFR, port.c2_flag if stays else 0)
            yield program
    other = B if port is A else A
    program = _program(
        port, "flags-and-the-other-port", 0, "an access to the other port clears none of the flags", 25
    )
    program.drive(EDGE, port.c1, 0)
    program.drive(EDGE, port.c2, 0)
    for kind, at in (("read", ACCESS), ("write", ACCESS + 1)):
        _access(program, other, at, kind)
    program.read(ACCESS + 2, IFR, port.c1_flag | port.c2_flag)
    yield program


# ---------------------------------------------------------------------- C2 as an output


def _kinds(port: Port) -> dict[str, bool]:
    """Return the accesses, and whether each is a handshake of the port's (fact 23)."""
    return {"read": port.reads, "write": True}


def _handshake(port: Port) -> Iterator[Program]:
    for kind, shakes in _kinds(port).items():
        for edge, sense in C1_EDGES.items():
            claim = f"{port.c2.upper()} falls after the {kind} and rises with {port.c1.upper()}'s active edge"
            program = _program(
                port,
                f"handshake.{kind}.{edge}",
                HANDSHAKE | sense,
                claim if shakes else f"a {kind} is no handshake",
                23,
            )
            program.check(2 * (ACCESS - 1) + 1, port.c2, 1)
            _access(program, port, ACCESS, kind)
            low = int(not shakes)
            program.check(2 * (ACCESS + 1) + 1, port.c2, low)
            program.check(2 * (ACCESS + 29) + 1, port.c2, low)
            program.drive(ACCESS + 30, port.c1, 0)
            program.check(2 * (ACCESS + 39) + 1, port.c2, low if sense else 1)
            program.drive(ACCESS + 40, port.c1, 1)
            program.check(2 * (ACCESS + 45) + 1, port.c2, 1)
            yield program
    program = _program(
        port, "handshake.again", HANDSHAKE, "a second access before the answer changes nothing", 23
    )
    for at in (ACCESS, ACCESS + 10):
        _access(program, port, at, "write")
        program.check(2 * (at + 5) + 1, port.c2, 0)
    program.drive(ACCESS + 20, port.c1, 0)
    program.check(2 * (ACCESS + 22) + 1, port.c2, 1)
    _access(program, port, ACCESS + 30, "write")
    program.check(2 * (ACCESS + 32) + 1, port.c2, 0)
    yield program
    program = _program(
        port,
        "handshake.cycle",
        HANDSHAKE,
        "C2 falls with the cycle after the access, rises with the one after the edge",
        23,
        grade="model",
    )
    _access(program, port, ACCESS, "write")
    program.check(2 * ACCESS + 1, port.c2, 1)
    program.check(2 * (ACCESS + 1), port.c2, 0)
    program.drive(ACCESS + 20, port.c1, 0)
    program.check(2 * (ACCESS + 20) + 1, port.c2, 0)
    program.check(2 * (ACCESS + 21), port.c2, 1)
    yield program
    program = _program(
        port, "handshake.data-first", HANDSHAKE, "the port shows the value written when C2 is low", 23
    )
    program.write(1, port.direction, 0xFF)
    _access(program, port, ACCESS, "write")
    program.check(2 * (ACCESS + 1), port.pins, 0x3C)
    program.check(2 * (ACCESS + 1) + 1, port.c2, 0)
    yield program


def _handshake_ends(port: Port) -> Iterator[Program]:
    """Yield what nobody has recorded: accesses, edges and writes of PCR that come together."""
    program = _program(
        port,
        "handshake.edge-with-access",
        HANDSHAKE,
        "an access in the cycle of the edge wins",
        23,
        grade="model",
    )
    for at in (ACCESS, ACCESS + 20):
        _access(program, port, at, "write")
    program.drive(ACCESS + 20, port.c1, 0)
    program.check(2 * (ACCESS + 25) + 1, port.c2, 0)
    program.drive(ACCESS + 30, port.c1, 1)
    program.drive(ACCESS + 40, port.c1, 0)
    program.check(2 * (ACCESS + 42) + 1, port.c2, 1)
    yield program
    program = _program(
        port,
        "handshake.access-before-edge",
        HANDSHAKE,
        "an edge in the next cycle ends it",
        23,
        grade="model",
    )
    _access(program, port, ACCESS, "write")
    program.drive(ACCESS + 1, port.c1, 0)
    for later, level in ((1, 0), (2, 1), (9, 1)):
        program.check(2 * (ACCESS + later) + 1, port.c2, level)
    yield program
    program = _program(
        port, "handshake.mode-left", HANDSHAKE, "another mode of C2 ends it for good", 23, grade="model"
    )
    _access(program, port, ACCESS, "write")
    program.check(2 * (ACCESS + 3) + 1, port.c2, 0)
    program.write(ACCESS + 5, PCR, PULSE << port.shift)
    program.check(2 * (ACCESS + 6) + 1, port.c2, 1)
    program.write(ACCESS + 10, PCR, HANDSHAKE << port.shift)
    program.check(2 * (ACCESS + 12) + 1, port.c2, 1)
    yield program
    program = _program(
        port,
        "handshake.pcr-again",
        HANDSHAKE,
        "PCR written with the same mode of C2 leaves it low",
        23,
        grade="model",
    )
    _access(program, port, ACCESS, "write")
    for number, half in enumerate((HANDSHAKE, HANDSHAKE | 1)):
        program.write(ACCESS + 5 + 5 * number, PCR, half << port.shift)
        program.check(2 * (ACCESS + 7 + 5 * number) + 1, port.c2, 0)
    yield program
    program = _program(
        port,
        "handshake.access-with-pcr",
        0,
        "an access before the mode is entered starts nothing",
        23,
        grade="model",
    )
    _access(program, port, ACCESS, "write")
    program.write(ACCESS + 1, PCR, HANDSHAKE << port.shift)
    program.check(2 * (ACCESS + 3) + 1, port.c2, 1)
    yield program
    program = _program(
        port, "pulse.two-in-a-row", PULSE, "accesses in two cycles in a row: low for two", 23, grade="model"
    )
    for at in (ACCESS, ACCESS + 1):
        _access(program, port, at, "write")
    for later, level in ((1, 0), (2, 0), (3, 1)):
        program.check(2 * (ACCESS + later) + 1, port.c2, level)
    yield program


def _pulse(port: Port) -> Iterator[Program]:
    for kind, shakes in _kinds(port).items():
        program = _program(
            port,
            f"pulse.{kind}",
            PULSE,
            f"{port.c2.upper()} is low for one cycle after the {kind}"
            if shakes
            else f"a {kind} gives no pulse",
            23,
        )
        _access(program, port, ACCESS, kind)
        program.check(2 * ACCESS + 1, port.c2, 1)
        program.check(2 * (ACCESS + 1) + 1, port.c2, int(not shakes))
        program.check(2 * (ACCESS + 2) + 1, port.c2, 1)
        program.check(2 * (ACCESS + 30) + 1, port.c2, 1)
        yield program
    program = _program(
        port, "pulse.exactly", PULSE, "low from the start of a cycle to its end", 23, grade="model"
    )
    _access(program, port, ACCESS, "write")
    for half, level in ((1, 1), (2, 0), (3, 0), (4, 1)):
        program.check(2 * ACCESS + half, port.c2, level)
    yield program
    program = _program(port, "pulse.every-access", PULSE, "each access gives a pulse, whatever C1 does", 23)
    for number in range(4):
        at = ACCESS + 10 * number
        _access(program, port, at, "write")
        program.check(2 * (at + 1) + 1, port.c2, 0)
        program.check(2 * (at + 2) + 1, port.c2, 1)
        program.drive(at + 4, port.c1, number & 1)
    yield program


def _manual(port: Port) -> Iterator[Program]:
    program = _program(
        port,
        "2-manual",
        LOW,
        "modes 6 and 7 hold C2 low and high, accesses do not matter",
        grade="data-sheet",
    )
    for number, (half, level) in enumerate(((LOW, 0), (HIGH, 1), (LOW, 0))):
        at = 10 + 20 * number
        program.write(at, PCR, half << port.shift)
        program.check(2 * (at + 1) + 1, port.c2, level)
        _access(program, port, at + 5, "write")
        program.check(2 * (at + 6) + 1, port.c2, level)
    yield program


# ---------------------------------------------------------------------- register F


def _register_f() -> Iterator[Program]:
    for kind in ("read", "write"):
        for name, half in (("handshake", HANDSHAKE), ("pulse", PULSE)):
            program = _program(
                A, f"register-f.{name}.{kind}", half, f"a {kind} of register F is no handshake", 23
            )
            _f(program, kind)
            for later in (1, 2, 9):
                program.check(2 * (ACCESS + later) + 1, "ca2", 1)
            yield program
        program = _program(
            A, f"register-f.flags.{kind}", 0, f"a {kind} of register F leaves the flags alone", 23
        )
        program.drive(EDGE, "ca1", 0)
        program.drive(EDGE, "ca2", 0)
        _f(program, kind)
        program.read(ACCESS + 1, IFR, IFR_CA1 | IFR_CA2)
        yield program


def _f(program: Program, kind: str) -> None:
    if kind == "read":
        program.touch(ACCESS, ORA_NO_HANDSHAKE)
    else:
        program.write(ACCESS, ORA_NO_HANDSHAKE, 0x3C)
