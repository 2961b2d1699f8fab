"""The target ``qemu``: vectors as accesses of a guest on a real QEMU, each at its place in its φ2 cycle."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from guestclock.chips.qemu_via import VIA1, VIA2, Wiring
from guestclock.chips.registers import DDRB, IFR, IFR_ANY, IFR_CA1, IFR_CA2, IFR_SR, ORB
from guestclock.conformance.preparing import PORT_B, prepared
from guestclock.conformance.qemu_model import HAS, instant_ns
from guestclock.conformance.targets import Answers, CannotRunError, TargetBrokeError
from guestclock.conformance.vector import Check, Read, Vector, Write, cycle_of, observed
from guestclock.conformance.vector import Step as VectorStep
from guestclock.errors import BadInputError, UnavailableError
from guestclock.qemu.binary import ANSWER_S, M68K, open_binary
from guestclock.qemu.steps import (
    ANSWERING,
    PREFIX_INSTRUCTIONS,
    UNMASKED,
    VIA1_BASE,
    VIA2_BASE,
    Kind,
    Outcome,
    Step,
    run_steps,
)

SHIFT = 3
"""An instruction takes 2^SHIFT ns: there is time for accesses and checks in one cycle after the other."""

VIA2_POWER = 0x04
# What moves around VIA1 is left out: see SURROUNDINGS and LAST_CYCLE_OF_PORT_B.
VIAS = {"1": (VIA1_BASE, Wiring(orb=VIA1.orb)), "2": (VIA2_BASE, VIA2)}
LONGEST_BATCH_CYCLES = 2_000_000
GAP_CYCLES = 4

# VIA1's CA1 gets 60.15 Hz, its CA2 a pulse a second, its shift register the ADB's answers: not the vector's.
SURROUNDINGS = IFR_CA1 | IFR_CA2 | IFR_SR
# The ADB pulls bit 3 of port B low 20 ms after the start, 15,667 cycles.
LAST_CYCLE_OF_PORT_B = 15_000


class QemuConform:
    """A VIA of a real QEMU's Quadra 800.

    Vectors are run one after the other in one machine; one that means power-up gets a machine of its own.
    """

    has = HAS

    def __init__(self, name: str, answer_s: float = ANSWER_S) -> None:
        """Take a target name ``qemu[:PATH][,via=1|2]``.

        Raises :class:`BadInputError` for another name and :class:`UnavailableError` for a binary that is
        no QEMU with a q800.
        """
        path, via = _parse(name)
        self._base, wiring = VIAS[via]
        self.qemu_wiring: Wiring | None = wiring
        try:
            self._binary = open_binary(path, answer_s)
            self._binary.require_machine("q800")
        except BadInputError as error:
            raise UnavailableError(f"target {name} cannot start: {error}") from None
        self.name = f"{self._binary.path} {self._binary.version}, VIA{via}"

    def run(self, vectors: Iterable[Vector]) -> Iterator[Answers | TargetBrokeError]:
        """Yield what each vector shows."""
        asked = list(vectors)
        possible = [vector for vector in asked if self._base == VIA1_BASE or not switches_off(vector)]
        runs = {id(vector) for vector in possible}
        found = self._found(possible)
        for vector in asked:
            if id(vector) in runs:
                yield next(found)
            else:
                yield CannotRunError("it would switch the machine off by bit 2 of VIA2's port B")

    def _found(self, vectors: Iterable[Vector]) -> Iterator[Answers]:
        for batch in batches(vectors, self._base):
            schedule = Schedule()
            for vector in batch:
                schedule.add(vector)
            outcome = run_steps(self._binary, schedule.steps, SHIFT, self._base)
            yield from schedule.answers(outcome, self._base)

    def close(self) -> None:
        """Nothing is running between batches."""


def _parse(name: str) -> tuple[str, str]:
    """Return the binary and the VIA's number."""
    binary, comma, option = name.partition(",")
    path = binary.removeprefix("qemu").removeprefix(":") or M68K
    via = option.removeprefix("via=") if comma else "1"
    if via not in VIAS or (comma and not option.startswith("via=")):
        raise BadInputError(f"target {name!r}: qemu[:PATH][,via=1|2] (docs/conformance.md)")
    return path, via


def switches_off(vector: Vector) -> bool:
    """Tell whether a vector drives bit 2 of port B low: on VIA2, the power switch."""
    registers = dict(PORT_B)
    for step in vector.steps:
        if isinstance(step, Write) and step.register in registers:
            registers[step.register] = step.value
            if registers[DDRB] & ~registers[ORB] & VIA2_POWER:
                return True
    return False


def _reads_port_b(vector: Vector) -> bool:
    return any(isinstance(step, Read) and step.register == ORB for step in vector.steps)


def batches(vectors: Iterable[Vector], base: int) -> Iterator[list[Vector]]:
    """Yield vectors for one machine each, prepared; alone and as it is one that cannot be."""
    batch: list[Vector] = []
    cycles = 0
    for vector in vectors:
        ready = prepared(vector)
        length = cycle_of((ready or vector).steps[-1]) + GAP_CYCLES
        most = LAST_CYCLE_OF_PORT_B if base == VIA1_BASE and _reads_port_b(vector) else LONGEST_BATCH_CYCLES
        if ready is None or cycles + length > most:
            if batch:
                yield batch
            batch, cycles = [], 0
        if ready is None:
            yield [vector]
            continue
        batch.append(ready)
        cycles += length
    if batch:
        yield batch


@dataclass
class Schedule:
    """Steps of the guest that perform vectors; an access comes within an instruction of its instant."""

    steps: list[Step] = field(default_factory=list)
    _vectors: list[Vector] = field(default_factory=list)
    _instructions: int = PREFIX_INSTRUCTIONS
    _start_cycle: int = 1

    def add(self, vector: Vector) -> None:
        """Add a vector behind those there are."""
        for step in vector.steps:
            match step:
                case Write(_, register, value):
                    self._at(step, Kind.WRITE, register, value)
                case Read(_, register):
                    self._at(step, Kind.READ, register, 0)
                case Check():
                    self._at(step, Kind.PROBE, 0, UNMASKED)
                case _:
                    raise ValueError(f"{step}: no guest can do this")
        self._vectors.append(vector)
        self._start_cycle += cycle_of(vector.steps[-1]) + GAP_CYCLES

    def _at(self, step: VectorStep, kind: Kind, register: int, value: int) -> None:
        at_ns = instant_ns(step, self._start_cycle)
        shortest = Step(kind, register, value, 1)
        spare = (at_ns >> SHIFT) - (self._instructions + shortest.before + 1)
        if spare < 0:
            raise ValueError(f"no time for an access at {at_ns} ns")
        done = Step(kind, register, value, 1 + spare // 2)
        self.steps.append(done)
        self._instructions += done.before + 1 + done.after

    def answers(self, outcome: Outcome, base: int) -> Iterator[Answers]:
        """Yield what each vector showed, by what the guest found."""
        found = iter(self._shown(outcome, base))
        for vector in self._vectors:
            yield [next(found) for _ in observed(vector.steps)]

    def _shown(self, outcome: Outcome, base: int) -> Iterator[int]:
        log = outcome.log_start & 0xFF
        answering = (step for step in self.steps if step.kind in ANSWERING)
        for step, byte in zip(answering, outcome.reads, strict=True):
            if step.kind == Kind.PROBE:
                yield int(byte == log)
                log = byte
            elif step.register == IFR and base == VIA1_BASE:
                flags = byte & ~SURROUNDINGS
                yield flags if flags & ~IFR_ANY else 0
            else:
                yield byte
