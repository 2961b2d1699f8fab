"""What programs of the shift register have in common: its modes, and what shifting does to a byte."""

from guestclock.chips.registers import ACR
from guestclock.conformance.programs.builder import Program

DISABLED, IN_T2, IN_PHI2, IN_CB1, OUT_FREE, OUT_T2, OUT_PHI2, OUT_CB1 = range(0, 0x20, 4)
"""Modes as ACR has them."""
NAMES = {
    DISABLED: "disabled", IN_T2: "in-t2", IN_PHI2: "in-phi2", IN_CB1: "in-cb1",
    OUT_FREE: "out-free", OUT_T2: "out-t2", OUT_PHI2: "out-phi2", OUT_CB1: "out-cb1",
}  # fmt: skip

START = 10
"""The cycle of the access that starts a byte: r of fact 17."""
HALF_BITS = 16


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


def in_mode(mode: int, name: str, fact: int | None, claim: str, grade: str = "") -> Program:
    """Return a program in a mode that comes into force with cycle 1."""
    program = Program(f"sr.{NAMES[mode]}.{name}", fact, claim, grade)
    program.write(0, ACR, mode)
    return program
