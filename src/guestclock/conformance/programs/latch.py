"""Input latching of both ports."""

from collections.abc import Iterator

from guestclock.chips.registers import ACR, ACR_LATCH_A, ACR_LATCH_B, IFR, ORA_NO_HANDSHAKE, PCR
from guestclock.conformance.programs.builder import Program
from guestclock.conformance.programs.lines import C1_EDGES, A, B, Port

LATCHING = {A: ACR_LATCH_A, B: ACR_LATCH_B}
FIRST, SECOND = 0x5A, 0xC6
"""What the port's pins show before the edge, and some time after."""
EDGE = 30
LATER = 50
"""The cycle from which on the pins show the second value."""


def programs() -> Iterator[Program]:
    """Yield the programs of each port."""
    for port in (A, B):
        for name, sense in C1_EDGES.items():
            yield _holds(port, name, sense)
        yield _transparent(port)
        yield _not_enabled(port)
        yield _other_port(port)
        yield _opened_by_ifr(port)
        yield _second_edge(port)
        yield _moment(port)
        yield _enabled_late(port)
        yield _acr_again(port)
    yield _register_f()
    yield _outputs_b()


def _latched(port: Port, name: str, claim: str, grade: str = "", sense: int = 0) -> Program:
    """Return a program in which the pins change after an edge; latching is on."""
    program = Program(f"latch.{port.feature[1]}.{name}", 24, claim, grade)
    program.write(0, PCR, sense << port.shift)
    program.write(1, ACR, LATCHING[port])
    program.drive(10, port.pins, FIRST)
    if sense:
        program.drive(15, port.c1, 0)
    program.drive(EDGE, port.c1, sense)
    program.drive(LATER, port.pins, SECOND)
    return program


def _holds(port: Port, name: str, sense: int) -> Program:
    program = _latched(
        port,
        f"holds.{name}",
        "while the C1 flag is set reads show the pins as they were at the edge",
        sense=sense,
    )
    program.read(LATER + 5, port.data, FIRST)  # which clears the flag, so that
    program.read(LATER + 6, port.data, SECOND)
    return program


def _transparent(port: Port) -> Program:
    program = _latched(port, "transparent", "without the C1 flag reads show the pins, latching or not")
    program.read(12, port.data, FIRST)
    program.drive(14, port.pins, SECOND)
    program.read(16, port.data, SECOND)
    program.drive(20, port.pins, FIRST)
    program.read(LATER - 5, port.data, FIRST)
    program.drive(LATER + 5, port.pins, FIRST)
    program.read(LATER + 8, port.data, FIRST)
    return program


def _not_enabled(port: Port) -> Program:
    program = _latched(port, "not-enabled", "with latching off reads show the pins, flag or not")
    program.write(2, ACR, 0)
    program.read(LATER + 4, IFR, port.c1_flag)
    program.read(LATER + 5, port.data, SECOND)
    return program


def _other_port(port: Port) -> Program:
    program = _latched(port, "other-ports-bit", "the other port's bit of ACR does not latch this one")
    program.write(2, ACR, LATCHING[B if port is A else A])
    program.read(LATER + 5, port.data, SECOND)
    return program


def _opened_by_ifr(port: Port) -> Program:
    program = _latched(port, "opened-by-ifr", "clearing the flag by IFR opens the latch as well")
    program.write(LATER + 5, IFR, port.c1_flag)
    program.read(LATER + 7, port.data, SECOND)
    return program


def _second_edge(port: Port) -> Program:
    program = _latched(port, "second-edge", "an edge while the flag is set latches nothing new", "model")
    program.drive(LATER + 5, port.c1, 1)
    program.drive(LATER + 10, port.c1, 0)
    program.read(LATER + 15, port.data, FIRST)
    return program


def _moment(port: Port) -> Program:
    program = _latched(port, "moment", "what the pins show in the cycle of the edge is held", "model")
    program.drive(EDGE - 1, port.pins, 0x11)
    program.drive(EDGE, port.pins, 0x22)
    program.drive(EDGE + 1, port.pins, 0x33)
    program.read(EDGE + 5, port.data, 0x22)
    return program


def _enabled_late(port: Port) -> Program:
    program = _latched(port, "enabled-late", "enabled late, it holds what the pins then show", "model")
    program.write(2, ACR, 0)
    program.write(LATER + 5, ACR, LATCHING[port])
    program.drive(LATER + 10, port.pins, 0x33)
    program.read(LATER + 12, port.data, SECOND)
    return program


def _acr_again(port: Port) -> Program:
    program = _latched(port, "acr-again", "ACR written again leaves it closed", "model")
    program.write(LATER + 5, ACR, LATCHING[port])
    program.read(LATER + 7, port.data, FIRST)
    return program


def _register_f() -> Program:
    program = _latched(A, "register-f", "register F shows the latch and leaves it closed")
    for at in (LATER + 5, LATER + 6):
        program.read(at, ORA_NO_HANDSHAKE, FIRST)
    program.read(LATER + 7, A.data, FIRST)
    program.read(LATER + 8, ORA_NO_HANDSHAKE, SECOND)
    return program


def _outputs_b() -> Program:
    program = _latched(B, "outputs", "outputs read ORB, latched or not; inputs the latch")
    program.write(2, B.direction, 0xF0)
    program.write(3, B.data, 0x90)
    program.write(LATER - 5, B.direction, 0xF0)
    program.read(LATER + 5, B.data, 0x90 | FIRST & 0x0F)
    program.read(LATER + 6, B.data, 0x90 | SECOND & 0x0F)
    return program
