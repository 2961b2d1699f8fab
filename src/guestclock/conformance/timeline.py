"""A vector on the stepwise chip, cycle by cycle: for waveforms, and for what surrounds a fault."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.conformance.targets import OurChip
from guestclock.conformance.vector import Check, Drive, Read, Vector, Write, cycle_of

PINS = ("irq", "pa", "pb", "ca1", "ca2", "cb1", "cb2")

AFTER_CYCLES = 4
"""So much is shown after the last step."""


@dataclass(frozen=True)
class Moment:
    """One cycle.

    ``access`` is ``(kind, register, value)`` or None; ``pins`` are the levels in its first half and in its
    second, by the names of :data:`PINS`.
    """

    cycle: int
    access: tuple[str, int, int] | None
    t1: int
    t1_latch: int
    t2: int
    t2_latch: int
    ifr: int
    ier: int
    acr: int
    pcr: int
    sr: int
    pins: tuple[Mapping[str, int], Mapping[str, int]]


def moments(vector: Vector, variant: str = "nmos", last_cycle: int | None = None) -> Iterator[Moment]:
    """Yield every cycle of a vector, from 0 to some after its last step or to ``last_cycle``."""
    chip = Mos6522Stepwise(variant)
    steps = [step for step in vector.steps if not isinstance(step, Check)]
    end = max((cycle_of(step) for step in vector.steps), default=0) + AFTER_CYCLES
    upcoming = iter(steps)
    step = next(upcoming, None)
    for cycle in range((end if last_cycle is None else min(end, last_cycle)) + 1):
        access: Read | Write | None = None
        while step is not None and step.cycle == cycle:
            if isinstance(step, Read | Write):
                access = step
            elif isinstance(step, Drive):
                OurChip(chip).drive(step.pin, step.level, cycle)
            else:
                chip.reset(cycle)
            step = next(upcoming, None)
        yield _moment(chip, access, cycle)


def _moment(chip: Mos6522Stepwise, access: Read | Write | None, cycle: int) -> Moment:
    """Do the access of a cycle, the chip standing at it; return what the cycle showed."""
    pins = OurChip(chip)
    chip.advance(cycle)
    first = {pin: pins.level(pin, 2 * cycle) for pin in PINS}
    state = {
        "t1": chip.t1, "t1_latch": chip.t1_latch, "t2": chip.t2, "t2_latch": chip.t2_latch,
        "ifr": chip.ifr | (0x80 if chip.ifr & chip.ier else 0), "ier": chip.ier, "acr": chip.acr,
        "pcr": chip.pcr, "sr": chip.shifter.value,
    }  # fmt: skip
    done = ("r", access.register, chip.read(access.register, cycle)) if isinstance(access, Read) else None
    second = {pin: pins.level(pin, 2 * cycle + 1) for pin in PINS}
    if isinstance(access, Write):
        chip.write(access.register, access.value, cycle)
        done = ("w", access.register, access.value)
    return Moment(
        cycle,
        done,
        pins=(first, second),
        **state,
    )
