"""Recorded or hand-written register accesses, as text, and their replay on a chip.

``T name`` starts a vector, ``E`` ends it; between them a line an access: cycle (decimal), ``r`` or
``w``, register and value (hexadecimal; ``-`` for a read whose value does not matter).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise


class Access(NamedTuple):
    cycle: int
    is_write: bool
    register: int
    value: int | None


class Vector(NamedTuple):
    name: str
    accesses: list[Access]


def read_vectors(path: Path) -> Iterator[Vector]:
    for line in path.read_text().splitlines():
        words = line.partition("#")[0].split()
        match words:
            case []:
                pass
            case ["T", name]:
                vector = Vector(name, [])
            case ["E"]:
                yield vector
            case [cycle, "r" | "w" as kind, register, value]:
                number = None if value == "-" else int(value, 16)
                vector.accesses.append(Access(int(cycle), kind == "w", int(register, 16), number))
            case _:
                raise ValueError(f"{path}: not a line of a vector: {line!r}")


def replay(vector: Vector, chip: Mos6522 | Mos6522Stepwise) -> int:
    """Check every read of the vector; return how many values were checked."""
    checked = 0
    for access in vector.accesses:
        if access.is_write:
            assert access.value is not None
            chip.write(access.register, access.value, access.cycle)
            continue
        got = chip.read(access.register, access.cycle)
        if access.value is not None:
            checked += 1
            assert got == access.value, (
                f"{vector.name}: cycle {access.cycle}, register {access.register:X}: "
                f"{got:02x} instead of {access.value:02x}"
            )
    return checked
