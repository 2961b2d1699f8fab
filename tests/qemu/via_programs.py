"""Random lists of VIA accesses for a guest on a real QEMU, and what they should find by the model."""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from guestclock.chips.qemu_via import QemuVia
from guestclock.chips.registers import (
    ACR,
    DDRA,
    DDRB,
    IER,
    IFR,
    NEVER,
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
from guestclock.qemu.steps import (
    ANSWERING,
    HANDLER_INSTRUCTIONS,
    MASKED,
    PREFIX_INSTRUCTIONS,
    UNMASKED,
    VIA1_BASE,
    Kind,
    Outcome,
    Step,
    encode,
)

TIMER_REGISTERS = (T1CL, T1CH, T1LL, T1LH, T2CL, T2CH, ACR, IFR, IER)
# VIA1's port B is read but not written: writes of it drive the clock chip and the ADB.
READS = (*TIMER_REGISTERS * 3, IFR, IFR, IFR, PCR, SR, ORA, ORA_NO_HANDSHAKE, DDRA, ORB, DDRB)
WRITES = (*TIMER_REGISTERS * 3, PCR, SR, ORA, ORA_NO_HANDSHAKE, DDRA)
VIA2_WRITES = (*WRITES, ORB, ORB, DDRB)
VIA2_POWER = 0x04
"""Of port B: low, it switches the machine off."""
LOG_BYTES = 8
ACR_VALUES = (0, 0x20, 0x40, 0x40, 0x40, 0x60, 0x80, 0xC0)
IER_VALUES = (0x20, 0x40, 0x60, 0x7F, 0xA0, 0xC0, 0xE0, 0xC0, 0xE0, 0x83, 0x81, 0x82, 0x87, 0x03)


def log_uniform(rng: random.Random, most: int) -> int:
    """Return 1 to ``most``, as likely below as above its root."""
    return int(math.exp(rng.uniform(0, math.log(most + 1))))


def value_for(rng: random.Random, register: int) -> int:
    match register:
        case _ if register in {T1CH, T1LH, T2CH}:
            return rng.choice([0, 0, 0, 1, 2, rng.randrange(256)])
        case _ if register in {T1CL, T1LL, T2CL}:
            return log_uniform(rng, 256) - 1
        case _ if register == ACR:
            return rng.choice(ACR_VALUES)
        case _ if register == IER:
            return rng.choice(IER_VALUES)
        case _ if register == ORB:
            return rng.randrange(256) | VIA2_POWER
    return rng.randrange(256)


def random_steps(
    rng: random.Random, count: int, longest_loops: int, writes: Sequence[int] = WRITES
) -> Iterator[Step]:
    """Yield accesses, half of them reads, after waits of log-uniform length."""
    for _ in range(count):
        loops = log_uniform(rng, longest_loops)
        kind = rng.choices(list(Kind), [50, 35, 10, 5])[0]
        if kind == Kind.READ:
            yield Step(kind, rng.choice(READS), 0, loops)
        elif kind == Kind.WRITE:
            register = rng.choice(writes)
            yield Step(kind, register, value_for(rng, register), loops)
        elif kind == Kind.PROBE:
            yield Step(kind, 0, UNMASKED, loops)
        else:
            yield Step(kind, 0, rng.choice([UNMASKED, UNMASKED, MASKED]), loops)


@dataclass
class Prediction:
    """A guest's steps with the model in QEMU's place, one instruction 2^shift ns."""

    via: QemuVia
    shift: int
    log_start: int = 0
    instructions: int = PREFIX_INSTRUCTIONS
    open: bool = False
    reads: bytearray = field(default_factory=bytearray)
    interruptions: list[tuple[int, int]] = field(default_factory=list)

    def perform(self, step: Step) -> None:
        """Do one step."""
        self._execute(step, 0, step.before, through=True)
        # The access is made in mid-instruction: alarms due by then go off only behind it.
        self.instructions += 1
        self.via.reach(self.instructions << self.shift)
        if step.kind == Kind.READ:
            self.reads.append(self.via.read_here(step.register))
        elif step.kind == Kind.WRITE:
            self.via.write_here(step.register, step.value)
        else:
            self.open = step.value == UNMASKED
        first, rest = step.before + 1, step.after
        if step.kind == Kind.PROBE:
            self._execute(step, first, 1, through=False)
            self.open = False
            self.reads.append(self.log_start + LOG_BYTES * len(self.interruptions) & 0xFF)
            first, rest = first + 1, rest - 1
        self._execute(step, first, rest, through=False)

    def _execute(self, step: Step, first: int, count: int, *, through: bool) -> None:
        """Execute ``count`` instructions, interrupted before any (``through``: behind the last too)."""
        done = 0
        while self.open:
            self.via.advance(self.instructions << self.shift)
            if done == count and not through:
                break
            if self.via.irq:
                self.interruptions.append(step.seen_before(first + done))
                self.open = False
                self.instructions += HANDLER_INSTRUCTIONS
            elif done == count:
                break
            else:
                part = min(self._until_alarm(), count - done)
                self.instructions += part
                done += part
        self.instructions += count - done
        self.via.advance(self.instructions << self.shift)

    def _until_alarm(self) -> int:
        alarm_ns = self.via.next_event()
        if alarm_ns == NEVER:
            return NEVER
        return max(1, -(-alarm_ns >> self.shift) - self.instructions)

    @property
    def outcome(self) -> Outcome:
        return Outcome(bytes(self.reads), tuple(self.interruptions), self.log_start)


def predict(via: QemuVia, steps: list[Step], shift: int) -> Outcome:
    prediction = Prediction(via, shift, encode(steps, VIA1_BASE)[2])
    for step in steps:
        prediction.perform(step)
    return prediction.outcome


def first_difference(steps: list[Step], found: Outcome, expected: Outcome) -> str | None:
    """Say where what was found first departs from what was expected."""
    where = [number for number, step in enumerate(steps) if step.kind in ANSWERING]
    for number, value, right in zip(where, found.reads, expected.reads, strict=True):
        if value != right:
            return f"step {number} ({steps[number]}) read {value:#04x}, the model {right:#04x}"
    if found.interruptions != expected.interruptions:
        pairs = zip(found.interruptions, expected.interruptions, strict=False)
        which = next((n for n, (a, b) in enumerate(pairs) if a != b), "at the end")
        return (
            f"interruption {which} of {len(found.interruptions)}, {len(expected.interruptions)} by the model"
        )
    return None
