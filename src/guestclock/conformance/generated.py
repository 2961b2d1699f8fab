"""Random vectors, made when they are needed; what they expect is what our stepwise chip shows.

They reach corners that nobody thought of.  Nothing but our model vouches for them: where one fails and
the named vectors pass, either may be wrong.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import (
    ACR,
    ACR_LATCH_A,
    ACR_LATCH_B,
    ACR_T1_FREE_RUN,
    ACR_T1_PB7,
    ACR_T2_PULSES,
    DDRA,
    DDRB,
    IER,
    IFR,
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    PCR,
    SR,
    T1CH,
    T1CL,
    T1LH,
    T1LL,
    T2CH,
    T2CL,
)
from guestclock.conformance.targets import OurChip
from guestclock.conformance.vector import Check, Drive, Read, Step, Vector, Write
from guestclock.errors import BadInputError

ACCESSES = 8
LONGEST_GAP_CYCLES = 12
PREFIX = "generated"


@dataclass(frozen=True)
class Kind:
    """What vectors of a kind do; ``modes``: values of ACR; ``driven``: pins and their widths in bits."""

    claim: str
    read: tuple[int, ...]
    written: tuple[int, ...]
    modes: tuple[int, ...]
    driven: tuple[tuple[str, int], ...] = ()
    checked: tuple[str, ...] = ()


TIMERS = Kind(
    "random accesses to both timers",
    read=(T1CL, T1CH, T1LL, T2CL, T2CH, IFR, IFR, ORB),
    written=(T1CL, T1CH, T1LL, T1LH, T2CL, T2CH, IFR, IER, ACR, ACR),
    modes=tuple(
        t1 | pb7 | t2 for t1 in (0, ACR_T1_FREE_RUN) for pb7 in (0, ACR_T1_PB7) for t2 in (0, ACR_T2_PULSES)
    ),
)
SHIFTING = Kind(
    "random accesses to the shift register and its clocks",
    read=(SR, SR, IFR, IFR, T2CL),
    written=(SR, SR, ACR, T2CL, T2CH, IFR, PCR),
    modes=tuple(range(0, 0x20, 4)),
    driven=(("cb1", 1), ("cb1", 1), ("cb1", 1), ("cb2", 1)),
    checked=("cb1", "cb2", "irq"),
)
LINES = Kind(
    "random edges, handshakes and latches",
    read=(IFR, IFR, ORA, ORB, ORA_NO_HANDSHAKE, PCR),
    written=(PCR, PCR, ORA, ORB, ORA_NO_HANDSHAKE, DDRA, DDRB, IFR, IER, ACR),
    modes=(0, ACR_LATCH_A, ACR_LATCH_B, ACR_LATCH_A | ACR_LATCH_B),
    driven=(("ca1", 1), ("ca2", 1), ("cb1", 1), ("cb2", 1), ("pa", 8), ("pb", 8)),
    checked=("ca2", "cb2", "irq", "pa", "pb"),
)
KINDS = (TIMERS, TIMERS, SHIFTING, LINES)
"""By turns, so that one in two needs neither lines nor shifting."""


def generated(count: int, seed: int) -> Iterator[Vector]:
    """Yield ``count`` vectors; the same seed gives the same."""
    for index in range(count):
        yield one(seed, index)


def by_name(name: str) -> Vector:
    """Return the vector ``generated.SEED.INDEX``."""
    try:
        _, seed, index = name.split(".")
        return one(int(seed), int(index))
    except ValueError:
        raise BadInputError(f"{name!r}: such vectors are called {PREFIX}.SEED.INDEX") from None


def one(seed: int, index: int) -> Vector:
    """Return one vector, depending on nothing but seed and index."""
    rng = random.Random(seed * 1_000_003 + index)
    kind = KINDS[index % len(KINDS)]
    writer = _Writer(kind, rng)
    acr = rng.choice(kind.modes)
    writer.begin(acr)
    for _ in range(ACCESSES):
        writer.go_on()
    feature = "t2" if acr & ACR_T2_PULSES else "pb7" if acr & ACR_T1_PB7 else "t1"
    return Vector(
        f"{PREFIX}.{seed}.{index}",
        tuple(writer.steps),
        {SHIFTING.claim: "sr", LINES.claim: "latch"}.get(kind.claim, feature),
        claim=kind.claim,
        grade="model",
        source="our stepwise model",
    )


class _Writer:
    """Writes down what it does with a chip."""

    def __init__(self, kind: Kind, rng: random.Random) -> None:
        self._kind, self._rng = kind, rng
        self._chip = Mos6522Stepwise()
        self._pins = OurChip(self._chip)
        self._cycle = 0
        self.steps: list[Step] = []

    def begin(self, acr: int) -> None:
        """Load what a vector depends on: what it holds at power-up is chance."""
        rng = self._rng
        load = [(T1CL, rng.randrange(12)), (T2CL, rng.randrange(12)), (T1CH, 0), (T2CH, 0)]
        if self._kind is SHIFTING:
            load += [(SR, rng.randrange(256)), (IER, 0xA4), (ACR, acr)]
        elif self._kind is LINES:
            load = [(ACR, acr), (PCR, rng.randrange(256)), (IER, 0x9B)]
        else:
            load = [(ACR, acr), (IER, 0xE0), *load]
        for register, value in load:
            self._write(register, value)
            self._cycle += 1

    def go_on(self) -> None:
        """Let some cycles pass, then change a pin, look at one, or access a register."""
        rng, kind = self._rng, self._kind
        self._cycle += rng.randrange(LONGEST_GAP_CYCLES)
        self._chip.advance(self._cycle)
        if kind.driven and rng.random() < 0.6:
            pin, bits = rng.choice(kind.driven)
            level = rng.randrange(1 << bits)
            self._pins.drive(pin, level, self._cycle)
            self.steps.append(Drive(self._cycle, pin, level))
        is_write = rng.random() < 0.3
        register = rng.choice(kind.written if is_write else kind.read)
        # Fact 8 is contested: a vector that hangs on it would tell nothing.
        is_new = self._chip.t1_flag_is_new or self._chip.t2_flag_is_new
        if is_write and not (register == IFR and is_new):
            self._write(register, self._value(register))
        else:
            answer = self._chip.read(register, self._cycle)
            self.steps.append(Read(self._cycle, register, (answer,)))
            if kind.checked and rng.random() < 0.5:
                self._check(rng.choice(kind.checked), 2 * self._cycle + 1)
        self._cycle += 1

    def _check(self, pin: str, half: int) -> None:
        self.steps.append(Check(half, pin, (self._pins.level(pin, half),)))

    def _write(self, register: int, value: int) -> None:
        self._chip.write(register, value, self._cycle)
        self.steps.append(Write(self._cycle, register, value))

    def _value(self, register: int) -> int:
        rng = self._rng
        if register == ACR:
            return rng.choice(self._kind.modes)
        if register in (T1CH, T1LH, T2CH):
            return rng.choice((0, 0, 0, 1))
        return rng.randrange(16 if register in (T1CL, T1LL, T2CL) else 256)
