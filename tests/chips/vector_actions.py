"""A vector as actions for two chips that must agree."""

from programs import Action

from guestclock.chips.mos6522 import TIMEOUT_BEATS
from guestclock.conformance.vector import Check, Drive, Read, Reset, Vector, Write, cycle_of

AFTER_CYCLES = 300
"""So long the chips go on after the last step."""

PIN_KINDS = {"pa": "pins_a", "pb": "pins_b"}


def every_beats(vector: Vector) -> tuple[int, ...]:
    """Return the values of ``timeout_beats`` that a vector says something about: each access, all, none."""
    others = (0x00, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x3F) if vector.fact in {7, 8} else ()
    return (TIMEOUT_BEATS, *others)


def actions(vector: Vector) -> list[tuple[int, Action]]:
    """Return what a vector does, each with its cycle; what it looks at is compared anyway."""
    found = []
    for step in vector.steps:
        match step:
            case Write(cycle, register, value):
                found.append((cycle, Action("", 0, "write", register, value)))
            case Read(cycle, register):
                found.append((cycle, Action("", 0, "read", register, 0)))
            case Drive(cycle, pin, level):
                found.append((cycle, Action("", 0, PIN_KINDS.get(pin, f"set_{pin}"), 0, level)))
            case Check():
                found.append((cycle_of(step), Action("", 0, "wait", 0, 0)))
            case Reset(cycle):
                found.append((cycle, Action("", 0, "reset", 0, 0)))
    return [*found, (found[-1][0] + AFTER_CYCLES, Action("", 0, "wait", 0, 0))]
