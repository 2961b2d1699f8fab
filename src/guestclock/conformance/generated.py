"""Random vectors, made when they are needed; what they expect is what our stepwise chip shows.

They reach corners that nobody thought of.  Nothing but our model vouches for them: where one fails and
the named vectors pass, either may be wrong.
"""

import random
from collections.abc import Iterator

from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import (
    ACR,
    ACR_T1_FREE_RUN,
    ACR_T1_PB7,
    ACR_T2_PULSES,
    IER,
    IFR,
    ORB,
    T1CH,
    T1CL,
    T1LH,
    T1LL,
    T2CH,
    T2CL,
)
from guestclock.conformance.vector import Read, Step, Vector, Write
from guestclock.errors import BadInputError

ACCESSES = 8
LONGEST_GAP_CYCLES = 12
READ = (T1CL, T1CH, T1LL, T2CL, T2CH, IFR, IFR, ORB)
WRITTEN = (T1CL, T1CH, T1LL, T1LH, T2CL, T2CH, IFR, IER, ACR, ACR)
MODES = tuple(
    t1 | pb7 | t2 for t1 in (0, ACR_T1_FREE_RUN) for pb7 in (0, ACR_T1_PB7) for t2 in (0, ACR_T2_PULSES)
)
PREFIX = "generated"


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
    chip = Mos6522Stepwise()
    steps: list[Step] = []
    acr = rng.choice(MODES)
    cycle = 0
    load = [(T1CL, rng.randrange(12)), (T2CL, rng.randrange(12)), (T1CH, 0), (T2CH, 0)]
    for register, value in [(ACR, acr), (IER, 0xE0), *load]:
        chip.write(register, value, cycle)
        steps.append(Write(cycle, register, value))
        cycle += 1
    for _ in range(ACCESSES):
        cycle += rng.randrange(LONGEST_GAP_CYCLES)
        chip.advance(cycle)
        steps.append(_access(chip, rng, cycle))
        cycle += 1
    return Vector(
        f"{PREFIX}.{seed}.{index}",
        tuple(steps),
        "t2" if acr & ACR_T2_PULSES else "pb7" if acr & ACR_T1_PB7 else "t1",
        claim="random accesses to both timers",
        grade="model",
        source="our stepwise model",
    )


def _access(chip: Mos6522Stepwise, rng: random.Random, cycle: int) -> Step:
    is_write = rng.random() < 0.3
    register = rng.choice(WRITTEN) if is_write else rng.choice(READ)
    # Fact 8 is contested: a vector that hangs on it would tell nothing.
    if is_write and not (register == IFR and (chip.t1_flag_is_new or chip.t2_flag_is_new)):
        value = rng.choice(MODES) if register == ACR else _value(register, rng)
        chip.write(register, value, cycle)
        return Write(cycle, register, value)
    return Read(cycle, register, (chip.read(register, cycle),))


def _value(register: int, rng: random.Random) -> int:
    if register in (T1CH, T1LH, T2CH):
        return rng.choice((0, 0, 0, 1))
    return rng.randrange(256) if register in (IFR, IER) else rng.randrange(16)
