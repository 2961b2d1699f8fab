"""The control lines CA1, CA2, CB1 and CB2: what programs about them have in common."""

from dataclasses import dataclass

from guestclock.chips.registers import DDRA, DDRB, IFR_CA1, IFR_CA2, IFR_CB1, IFR_CB2, ORA, ORB, PCR
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


def line_program(
    port: Port, name: str, half: int, claim: str, fact: int | None = None, *, grade: str = ""
) -> Program:
    """Return a program with a port's half of PCR as given, from cycle 1 on."""
    program = Program(f"{port.feature}.{name}", fact, claim, grade)
    program.write(0, PCR, half << port.shift)
    return program


def access(program: Program, port: Port, at: int, kind: str) -> None:
    """Read a port's data register, for the effect of it, or write it."""
    if kind == "read":
        program.touch(at, port.data)
    else:
        program.write(at, port.data, 0x3C)
