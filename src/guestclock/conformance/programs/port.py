"""The ports' data and direction registers, without handshakes and latches."""

from collections.abc import Iterator

from guestclock.chips.registers import DDRA, DDRB, ORA, ORA_NO_HANDSHAKE, ORB
from guestclock.conformance.programs.builder import Program

PORTS = {"a": (ORA, DDRA), "b": (ORB, DDRB)}
PATTERNS = (0x00, 0xFF, 0x0F, 0xA5)


def programs() -> Iterator[Program]:
    """Yield the programs of each port."""
    for port, registers in PORTS.items():
        yield _directions(port, *registers)
        yield _pulled_up(port, *registers)
        yield _driven(port, *registers)
        yield _outputs(port, *registers)
    yield _without_handshake()
    yield from _loaded_pins()


def _directions(port: str, _data: int, direction: int) -> Program:
    program = Program(f"port.{port}.direction-reads-back", 26, "a direction register reads what was written")
    for number, value in enumerate(PATTERNS):
        program.write(2 * number, direction, value)
        program.read(2 * number + 1, direction, value)
    return program


def _pulled_up(port: str, data: int, direction: int) -> Program:
    program = Program(f"port.{port}.inputs-read-1", 26, "outputs read as driven, inputs as their pins: high")
    program.write(0, direction, 0x0F)
    for number, value in enumerate(PATTERNS):
        program.write(2 + 2 * number, data, value)
        program.read(3 + 2 * number, data, value | 0xF0)
    return program


def _driven(port: str, data: int, direction: int) -> Program:
    program = Program(
        f"port.{port}.inputs-read-pins", 26, "inputs read their pins, from the cycle of a change on"
    )
    program.write(0, direction, 0xF0)
    program.write(1, data, 0x5A)
    for number, level in enumerate(PATTERNS):
        at = 10 + 5 * number
        program.drive(at, f"p{port}", level)
        program.read(at + 2, data, 0x50 | level & 0x0F, 0x0F if port == "a" else 0xFF)
    return program


def _outputs(port: str, data: int, direction: int) -> Program:
    program = Program(f"port.{port}.outputs", 26, "pins show the data register where the direction is 1")
    program.write(0, data, 0xA5)
    program.check(2 * 2 + 1, f"p{port}", 0xFF)
    program.write(3, direction, 0xFF)
    program.check(2 * 5 + 1, f"p{port}", 0xA5)
    program.write(6, direction, 0x0F)
    program.check(2 * 8 + 1, f"p{port}", 0xF5)
    return program


def _without_handshake() -> Program:
    program = Program("port.a.register-f", 26, "register F is register 1 without the handshake")
    program.write(0, DDRA, 0xFF)
    program.write(1, ORA_NO_HANDSHAKE, 0x5A)
    program.read(2, ORA, 0x5A)
    program.write(3, ORA, 0xC3)
    program.read(4, ORA_NO_HANDSHAKE, 0xC3)
    return program


def _loaded_pins() -> Iterator[Program]:
    """IRB's outputs read ORB whatever is wired to the pins."""
    program = Program("port.b.outputs-read-orb", 26, "IRB shows ORB where the pin is an output")
    program.write(0, DDRB, 0xF0)
    program.write(1, ORB, 0xA0)
    program.drive(5, "pb", 0x55)
    program.read(6, ORB, 0xA5)
    yield program
