"""Vectors that a 6502 can run: it needs four cycles for an access, and some between two.

What happens before a timer is started may as well happen earlier, and a register that keeps its value may
be read later.  A vector is moved so, and kept if our stepwise chip still shows the same in every read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import T1CH, T2CH
from guestclock.conformance.targets import OurChip, run_on
from guestclock.conformance.vector import Read, Vector, Write

BEFORE_WRITE_CYCLES = 6
"""LDA #value, STA register: the access is the last cycle."""

BEFORE_READ_CYCLES = 4
"""LDA register: the access is the last cycle."""

AFTER_READ_CYCLES = 4
"""STA result."""

Access = Read | Write


def gap_cycles(before: Access, access: Access) -> int:
    """Return how many cycles a 6502 needs from one access to the next."""
    after = AFTER_READ_CYCLES if isinstance(before, Read) else 0
    return after + (BEFORE_READ_CYCLES if isinstance(access, Read) else BEFORE_WRITE_CYCLES)


def possible(gap: int, least: int) -> bool:
    """Tell whether instructions can fill a gap: none takes one cycle."""
    return gap >= least and gap != least + 1


def retimed(vector: Vector) -> Vector | None:
    """Return the vector as a 6502 can run it, or None if that is not the same experiment."""
    accesses = [step for step in vector.steps if isinstance(step, Read | Write)]
    starts = [
        index
        for index, step in enumerate(accesses)
        if isinstance(step, Write) and step.register in (T1CH, T2CH)
    ]
    if len(accesses) != len(vector.steps) or not starts:
        return None
    moved = _moved(accesses, starts[0])
    steps = tuple(step._replace(cycle=cycle) for step, cycle in zip(accesses, moved, strict=True))
    found = replace(vector, steps=steps)
    same = run_on(OurChip(Mos6522Stepwise()), found) == run_on(OurChip(Mos6522Stepwise()), vector)
    return found if same else None


def _moved(accesses: Sequence[Access], start: int) -> list[int]:
    """Return new cycles: tight before a timer starts; after it as given, or as soon after as can be."""
    cycles = [0]
    for index in range(1, len(accesses)):
        least = gap_cycles(accesses[index - 1], accesses[index])
        gap = accesses[index].cycle - accesses[index - 1].cycle
        if index > start:
            gap = accesses[index].cycle - accesses[start].cycle - (cycles[index - 1] - cycles[start])
            while not possible(gap, least):
                gap += 1
        else:
            gap = least
        cycles.append(cycles[-1] + gap)
    return cycles


def runnable(vectors: Iterable[Vector]) -> list[Vector]:
    """Return those of the vectors that a 6502 can run, retimed."""
    return [found for vector in vectors if (found := retimed(vector)) is not None]
