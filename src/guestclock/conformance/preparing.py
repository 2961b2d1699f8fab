"""Vectors for targets that cannot be powered up for each: writes before it bring the chip where it belongs.

Both timers are left with 65,536 cycles to go, so that nothing of theirs is seen in what follows.  A vector
is prepared so only if it then shows on a 6522 what it shows from power-up.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import (
    ACR,
    DDRA,
    DDRB,
    IER,
    IFR,
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    PCR,
    T1CH,
    T1CL,
    T2CH,
    T2CL,
)
from guestclock.conformance.targets import OurChip, run_on
from guestclock.conformance.vector import Check, Read, Step, Vector, Write

TIMERS = ((IER, 0x7F), (ACR, 0), (PCR, 0), (T1CL, 0xFF), (T1CH, 0xFF), (T2CL, 0xFF), (T2CH, 0xFF))
PORT_A = ((DDRA, 0xFF), (ORA, 0), (DDRA, 0))
# Harmless on Macintosh boards: the clock chip not selected, the ADB idle, the power left on.
PORT_B = ((DDRB, 0xFF), (ORB, 0x3C), (DDRB, 0))
FLAGS = ((IFR, 0x7F),)


@lru_cache(maxsize=4096)
def prepared(vector: Vector) -> Vector | None:
    """Return the vector with what prepares it before; None if that would be another experiment.

    Its reads and checks are the same, in the same order.
    """
    touched = {step.register for step in vector.steps if isinstance(step, Read | Write)}
    writes = [*TIMERS]
    writes += PORT_A if touched & {ORA, DDRA, ORA_NO_HANDSHAKE} else ()
    writes += PORT_B if touched & {ORB, DDRB} else ()
    writes += FLAGS
    found = replace(vector, steps=(*_written(writes), *(_later(step, len(writes)) for step in vector.steps)))
    same = run_on(OurChip(Mos6522Stepwise()), found) == run_on(OurChip(Mos6522Stepwise()), vector)
    return found if same else None


def _written(writes: Sequence[tuple[int, int]]) -> list[Step]:
    return [Write(cycle, register, value) for cycle, (register, value) in enumerate(writes)]


def _later(step: Step, cycles: int) -> Step:
    if isinstance(step, Check):
        return step._replace(half=step.half + 2 * cycles)
    return step._replace(cycle=step.cycle + cycles)
