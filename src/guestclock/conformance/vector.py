"""A vector: one short experiment with a 6522, and what it has to show.

It starts at power-up, in cycle 0, with every input pin high.  What the counters, the latches and the
shift register hold then is chance, so a vector loads what it reads.  Steps name only the cycles in
which something happens.  Within one cycle things come in this order::

    pins change, reset │ check of the first half │ read │ check of the second half │ write

because a read shows its effect on a pin in the second half of its cycle, and a write takes effect from
the next cycle.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from guestclock.chips.registers import (
    ACR,
    ACR_T1_PB7,
    ACR_T2_PULSES,
    IFR,
    ORB,
    SR,
    T1CH,
    T1CL,
    T2CH,
    T2CL,
)

CHIPS = ("nmos", "cmos")

FEATURES = ("calibration", "t1", "t2", "pb6", "pb7", "ifr", "port", "reset", "sr", "ca", "cb", "latch")
"""What vectors are about, in the order of a report."""

OPTIONAL = ("reset", "pins", "irq", "half", "sr", "ca", "cb", "latch")
"""What a target may lack: pulling RES, pins of the ports, the level of the IRQ pin, levels within a cycle,
and these features of the chip."""

GRADES = ("recorded-several", "recorded", "data-sheet", "contested", "model", "unstated")
"""How well a vector's fact is known; ``unstated`` is what files without that word have."""

PORTS = ("pa", "pb")
INPUTS = (*PORTS, "ca1", "ca2", "cb1", "cb2")
OUTPUTS = ("irq", *PORTS, "pb7", "ca2", "cb1", "cb2")


class Write(NamedTuple):
    """The CPU writes; it takes effect from the next cycle."""

    cycle: int
    register: int
    value: int


class Read(NamedTuple):
    """The CPU reads.  No value: any will do; two: contested.  Bits outside the mask do not matter."""

    cycle: int
    register: int
    values: tuple[int, ...] = ()
    mask: int = 0xFF


class Drive(NamedTuple):
    """A pin, or a whole port, is driven from outside, from that cycle on."""

    cycle: int
    pin: str
    level: int


class Reset(NamedTuple):
    """RES is pulled in that cycle."""

    cycle: int


class Check(NamedTuple):
    """A pin, or a whole port, has a level in that half-cycle; half-cycle h belongs to cycle h // 2."""

    half: int
    pin: str
    values: tuple[int, ...] = ()
    mask: int = 0xFF


Step = Write | Read | Drive | Reset | Check


@dataclass(frozen=True)
class Vector:
    """An experiment, and why its outcome is believed.

    ``fact`` is a number of ``docs/6522.md``; ``hardware_run`` says who has run this very vector on
    which chip, and is None until somebody has.
    """

    name: str
    steps: tuple[Step, ...]
    feature: str
    fact: int | None = None
    claim: str = ""
    grade: str = "unstated"
    source: str = ""
    chips: tuple[str, ...] = CHIPS
    hardware_run: str | None = None


def place(step: Step) -> int:
    """Return a number that orders steps in time: eight to a cycle."""
    if isinstance(step, Check):
        return 4 * step.half + (1 if step.half % 2 == 0 else 2)
    return 8 * step.cycle + {Drive: 0, Reset: 0, Read: 4, Write: 7}[type(step)]


def cycle_of(step: Step) -> int:
    """Return the cycle in which a step happens."""
    return step.half // 2 if isinstance(step, Check) else step.cycle


class Order:
    """Watches that steps come in the order of time, with one bus access a cycle at most."""

    def __init__(self) -> None:
        self._place = -1
        self._access_cycle = -1

    def accept(self, step: Step) -> None:
        """Take the next step; raises ValueError if it cannot come now."""
        cycle = cycle_of(step)
        if isinstance(step, Read | Write):
            if cycle <= self._access_cycle:
                raise ValueError(
                    f"cycle {cycle} is not after cycle {self._access_cycle}: one bus access per φ2 cycle"
                )
            self._access_cycle = cycle
        if place(step) < self._place:
            raise ValueError(
                f"a step of cycle {cycle} comes too late: within a cycle pins change first,"
                " then come the first half, a read, the second half, a write"
            )
        self._place = place(step)


def observed(steps: Iterable[Step]) -> list[Read | Check]:
    """Return the steps that a target answers, in their order."""
    return [step for step in steps if isinstance(step, Read | Check)]


def needs(vector: Vector) -> frozenset[str]:
    """Return what a target must have, of :data:`OPTIONAL`, for the vector to say anything about it."""
    found = {vector.feature} & set(OPTIONAL)
    for step in vector.steps:
        if isinstance(step, Reset):
            found.add("reset")
        elif isinstance(step, Drive):
            found.add(_pin_need(step.pin))
        elif isinstance(step, Check):
            found.add(_pin_need(step.pin))
            if step.half % 2 == 0:
                found.add("half")
    return frozenset(found)


def _pin_need(pin: str) -> str:
    return pin if pin == "irq" else "pins" if pin in (*PORTS, "pb7") else pin[:2]


def guess_feature(steps: Sequence[Step]) -> str:
    """Return what accesses without further words are about.

    The first of these that applies: the shift register's value is read; pulses are counted; PB7 is read as
    the timer's output; a timer's counter or flag is read.
    """
    acr = 0
    for step in steps:
        if isinstance(step, Write) and step.register == ACR:
            acr |= step.value
    read = {step.register for step in steps if isinstance(step, Read) and step.values}
    loaded = {step.register for step in steps if isinstance(step, Write)}
    if SR in read:
        return "sr"
    if acr & ACR_T2_PULSES and read & {T2CL, T2CH}:
        return "pb6"
    if acr & ACR_T1_PB7 and ORB in read:
        return "pb7"
    if read & {T2CL, T2CH} and not read & {T1CL, T1CH}:
        return "t2"
    if IFR in read and T2CH in loaded and T1CH not in loaded:
        return "t2"
    if read & {T1CL, T1CH} or T1CH in loaded:
        return "t1"
    return "ifr" if IFR in read else "port"
