"""CA2 and CB2 as outputs: handshakes, pulses, levels."""

from collections.abc import Iterator

from guestclock.chips.registers import IFR, IFR_CA1, IFR_CA2, ORA, ORA_NO_HANDSHAKE, PCR
from guestclock.conformance.programs.builder import Program
from guestclock.conformance.programs.lines import (
    ACCESS,
    C1_EDGES,
    EDGE,
    HANDSHAKE,
    HIGH,
    LOW,
    PULSE,
    A,
    Port,
    access,
    line_program,
)


def programs(port: Port) -> Iterator[Program]:
    """Yield the programs of a port."""
    yield from _handshake(port)
    yield from _handshake_ends(port)
    yield from _pulse(port)
    yield from _manual(port)


def port_a() -> Iterator[Program]:
    """Yield those that only port A has: reads as handshakes, and register F, which is none."""
    yield from _register_f()
    yield _read_while_low()


def _kinds(port: Port) -> dict[str, bool]:
    """Return the accesses, and whether each is a handshake of the port's (fact 23)."""
    return {"read": port.reads, "write": True}


def _handshake(port: Port) -> Iterator[Program]:
    for kind, shakes in _kinds(port).items():
        for edge, sense in C1_EDGES.items():
            claim = f"{port.c2.upper()} falls after the {kind} and rises with {port.c1.upper()}'s active edge"
            program = line_program(
                port,
                f"handshake.{kind}.{edge}",
                HANDSHAKE | sense,
                claim if shakes else f"a {kind} is no handshake",
                23,
            )
            program.check(2 * (ACCESS - 1) + 1, port.c2, 1)
            access(program, port, ACCESS, kind)
            low = int(not shakes)
            program.check(2 * (ACCESS + 1) + 1, port.c2, low)
            program.check(2 * (ACCESS + 29) + 1, port.c2, low)
            program.drive(ACCESS + 30, port.c1, 0)
            program.check(2 * (ACCESS + 39) + 1, port.c2, low if sense else 1)
            program.drive(ACCESS + 40, port.c1, 1)
            program.check(2 * (ACCESS + 45) + 1, port.c2, 1)
            yield program
    program = line_program(
        port, "handshake.again", HANDSHAKE, "a second access before the answer changes nothing", 23
    )
    for at in (ACCESS, ACCESS + 10):
        access(program, port, at, "write")
        program.check(2 * (at + 5) + 1, port.c2, 0)
    program.drive(ACCESS + 20, port.c1, 0)
    program.check(2 * (ACCESS + 22) + 1, port.c2, 1)
    access(program, port, ACCESS + 30, "write")
    program.check(2 * (ACCESS + 32) + 1, port.c2, 0)
    yield program
    program = line_program(
        port,
        "handshake.cycle",
        HANDSHAKE,
        "C2 falls with the cycle after the access, rises with the one after the edge",
        23,
        grade="model",
    )
    access(program, port, ACCESS, "write")
    program.check(2 * ACCESS + 1, port.c2, 1)
    program.check(2 * (ACCESS + 1), port.c2, 0)
    program.drive(ACCESS + 20, port.c1, 0)
    program.check(2 * (ACCESS + 20) + 1, port.c2, 0)
    program.check(2 * (ACCESS + 21), port.c2, 1)
    yield program
    program = line_program(
        port, "handshake.data-first", HANDSHAKE, "the port shows the value written when C2 is low", 23
    )
    program.write(1, port.direction, 0xFF)
    access(program, port, ACCESS, "write")
    program.check(2 * (ACCESS + 1), port.pins, 0x3C)
    program.check(2 * (ACCESS + 1) + 1, port.c2, 0)
    yield program


def _handshake_ends(port: Port) -> Iterator[Program]:
    """Yield what nobody has recorded: accesses, edges and writes of PCR that come together."""
    program = line_program(
        port,
        "handshake.edge-with-access",
        HANDSHAKE,
        "an access in the cycle of the edge wins",
        23,
        grade="model",
    )
    for at in (ACCESS, ACCESS + 20):
        access(program, port, at, "write")
    program.drive(ACCESS + 20, port.c1, 0)
    program.check(2 * (ACCESS + 25) + 1, port.c2, 0)
    program.drive(ACCESS + 30, port.c1, 1)
    program.drive(ACCESS + 40, port.c1, 0)
    program.check(2 * (ACCESS + 42) + 1, port.c2, 1)
    yield program
    program = line_program(
        port,
        "handshake.access-before-edge",
        HANDSHAKE,
        "an edge in the next cycle ends it",
        23,
        grade="model",
    )
    access(program, port, ACCESS, "write")
    program.drive(ACCESS + 1, port.c1, 0)
    for later, level in ((1, 0), (2, 1), (9, 1)):
        program.check(2 * (ACCESS + later) + 1, port.c2, level)
    yield program
    program = line_program(
        port, "handshake.mode-left", HANDSHAKE, "another mode of C2 ends it for good", 23, grade="model"
    )
    access(program, port, ACCESS, "write")
    program.check(2 * (ACCESS + 3) + 1, port.c2, 0)
    program.write(ACCESS + 5, PCR, PULSE << port.shift)
    program.check(2 * (ACCESS + 6) + 1, port.c2, 1)
    program.write(ACCESS + 10, PCR, HANDSHAKE << port.shift)
    program.check(2 * (ACCESS + 12) + 1, port.c2, 1)
    yield program
    program = line_program(
        port,
        "handshake.pcr-again",
        HANDSHAKE,
        "PCR written with the same mode of C2 leaves it low",
        23,
        grade="model",
    )
    access(program, port, ACCESS, "write")
    for number, half in enumerate((HANDSHAKE, HANDSHAKE | 1)):
        program.write(ACCESS + 5 + 5 * number, PCR, half << port.shift)
        program.check(2 * (ACCESS + 7 + 5 * number) + 1, port.c2, 0)
    yield program
    program = line_program(
        port,
        "handshake.access-with-pcr",
        0,
        "an access before the mode is entered starts nothing",
        23,
        grade="model",
    )
    access(program, port, ACCESS, "write")
    program.write(ACCESS + 1, PCR, HANDSHAKE << port.shift)
    program.check(2 * (ACCESS + 3) + 1, port.c2, 1)
    yield program
    program = line_program(
        port, "pulse.two-in-a-row", PULSE, "accesses in two cycles in a row: low for two", 23, grade="model"
    )
    for at in (ACCESS, ACCESS + 1):
        access(program, port, at, "write")
    for later, level in ((1, 0), (2, 0), (3, 1)):
        program.check(2 * (ACCESS + later) + 1, port.c2, level)
    yield program


def _pulse(port: Port) -> Iterator[Program]:
    for kind, shakes in _kinds(port).items():
        program = line_program(
            port,
            f"pulse.{kind}",
            PULSE,
            f"{port.c2.upper()} is low for one cycle after the {kind}"
            if shakes
            else f"a {kind} gives no pulse",
            23,
        )
        access(program, port, ACCESS, kind)
        program.check(2 * ACCESS + 1, port.c2, 1)
        program.check(2 * (ACCESS + 1) + 1, port.c2, int(not shakes))
        program.check(2 * (ACCESS + 2) + 1, port.c2, 1)
        program.check(2 * (ACCESS + 30) + 1, port.c2, 1)
        yield program
    program = line_program(
        port, "pulse.exactly", PULSE, "low from the start of a cycle to its end", 23, grade="model"
    )
    access(program, port, ACCESS, "write")
    for half, level in ((1, 1), (2, 0), (3, 0), (4, 1)):
        program.check(2 * ACCESS + half, port.c2, level)
    yield program
    program = line_program(
        port, "pulse.every-access", PULSE, "each access gives a pulse, whatever C1 does", 23
    )
    for number in range(4):
        at = ACCESS + 10 * number
        access(program, port, at, "write")
        program.check(2 * (at + 1) + 1, port.c2, 0)
        program.check(2 * (at + 2) + 1, port.c2, 1)
        program.drive(at + 4, port.c1, number & 1)
    yield program


def _manual(port: Port) -> Iterator[Program]:
    program = line_program(
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
        access(program, port, at + 5, "write")
        program.check(2 * (at + 6) + 1, port.c2, level)
    yield program


def _read_while_low() -> Program:
    program = line_program(
        A, "handshake.read-while-low", HANDSHAKE, "a second read leaves CA2 low throughout", 23, grade="model"
    )
    for at in (ACCESS, ACCESS + 10):
        program.touch(at, ORA)
    for half in (1, 2, 3):
        program.check(2 * (ACCESS + 10) + half, "ca2", 0)
    return program


def _register_f() -> Iterator[Program]:
    for kind in ("read", "write"):
        for name, half in (("handshake", HANDSHAKE), ("pulse", PULSE)):
            program = line_program(
                A, f"register-f.{name}.{kind}", half, f"a {kind} of register F is no handshake", 23
            )
            _f(program, kind)
            for later in (1, 2, 9):
                program.check(2 * (ACCESS + later) + 1, "ca2", 1)
            yield program
        program = line_program(
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
