"""From vectors to what a 6502 can do with a real chip.

A CPU needs some cycles from one access to the next, sees port pins by reading port B, the IRQ pin by being
interrupted, and drives pins through port A.  So a vector becomes one run or more, each a vector of its own:
the whole of it if all its steps can come in their cycles, else one run for each value that it has to show.
What may come earlier or later without changing a value is moved.  A run is taken if our chip, wired
as the machine is, still shows what the vector expects.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from guestclock.chips.registers import (
    ACR,
    DDRA,
    DDRB,
    IER,
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    PB6,
    PB7,
    SR,
    SR_OUT_PHI2,
    T1CH,
    T1CL,
    T2CH,
    T2CL,
)
from guestclock.conformance.capture.clocks import Clock
from guestclock.conformance.capture.wires import WiredChip, Wires
from guestclock.conformance.targets import OurChip
from guestclock.conformance.vector import Check, Drive, Read, Step, Vector, Write

BEFORE_READ = 3
"""CPU cycles of LDA register before the access itself."""
BEFORE_WRITE = 5
"""LDA #value, then STA register."""
BEFORE_SAMPLE = 2
"""CLI; the CPU looks at its IRQ pin in the first cycle of the SEI that follows."""
AFTER_STORED_READ = 4
"""STA result."""

HISTORIES = ((), ((ACR, SR_OUT_PHI2), (SR, 0x00), (T1CL, 0x05), (T1CH, 0x00), (T2CL, 0x07), (T2CH, 0x00)))
"""What a chip may have done before: a run must not depend on it."""
SETTLED = 60
"""Cycles that the chip has had until a simulated run begins."""


class NotHereError(Exception):
    """This machine cannot do that step."""


@dataclass(frozen=True)
class Op:
    """What the CPU does for a step: it writes, reads (and stores what it read) or samples the IRQ pin.

    ``at`` is a cycle of the 6522; for a sample it is a half-cycle.
    """

    kind: str
    at: int
    register: int = 0
    value: int = 0
    stored: bool = False
    mask: int = 0xFF
    """Which of the bits read belong to the step's pin."""

    @property
    def cycle(self) -> int:
        """The cycle of the 6522 in which it happens."""
        return self.at // 2 if self.kind == "sample" else self.at

    @property
    def gives(self) -> bool:
        """Whether the program keeps what it sees."""
        return self.stored or self.kind == "sample"

    @property
    def before(self) -> int:
        """CPU cycles that must pass before it."""
        return {"read": BEFORE_READ, "write": BEFORE_WRITE, "sample": BEFORE_SAMPLE}[self.kind]

    @property
    def after(self) -> int:
        """CPU cycles that must pass after it."""
        return AFTER_STORED_READ if self.stored else 0


@dataclass(frozen=True)
class Run:
    """A vector as the machine runs it: its steps, and in the same order what the CPU does for each."""

    vector: Vector
    ops: tuple[Op, ...]
    outputs_a: int
    """The bits of port A that drive wires."""
    late_cycles: int
    """By how much steps come earlier or later than in the vector, all told, from what starts something on."""

    @property
    def results(self) -> int:
        """How many bytes it gives."""
        return sum(op.gives for op in self.ops)


@dataclass(frozen=True)
class Socket:
    """How a program reaches a chip: the clock, the wires, and what it may not touch.

    ``irq``: whether the CPU is interrupted by the chip.  ``open_pins``: levels to expect at pins without a
    wire; where they may be either, a run must not depend on them.
    """

    clock: Clock
    wires: Wires
    irq: bool = True
    open_pins: tuple[int, ...] = (0xFF,)


def runs(vectors: Iterable[Vector], socket: Socket) -> list[Run]:
    """Return the runs of the vectors that the machine can do."""
    return [run for vector in vectors for run in _runs(vector, socket)]


def _runs(vector: Vector, socket: Socket) -> Iterator[Run]:
    try:
        outputs_a, ops = _ops(vector.steps, socket)
    except NotHereError:
        return
    whole = None
    if all(op.kind != "sample" for op in ops[:-1]):
        whole = _placed(vector, vector.steps, ops, outputs_a, socket)
    asked = [index for index, step in enumerate(vector.steps) if _asks(step)]
    if (whole is not None and whole.late_cycles == 0) or len(asked) < 2:
        if whole is not None:
            yield whole
        return
    single = [_single(vector, ops, outputs_a, socket, index) for index in asked]
    if whole is None or any(run is not None and run.late_cycles == 0 for run in single):
        yield from (run for run in single if run is not None)
    else:
        yield whole


def _asks(step: Step) -> bool:
    return isinstance(step, Read | Check) and bool(step.values)


def _single(vector: Vector, ops: Sequence[Op], outputs_a: int, socket: Socket, index: int) -> Run | None:
    """Return a run for one of the values that a vector has to show."""
    for needed in (False, True):
        kept = [
            number for number, step in enumerate(vector.steps[: index + 1])
            if number == index or not (isinstance(step, Check) or (_asks(step) and not needed))
        ]  # fmt: skip
        named = replace(vector, name=f"{vector.name}@{_place(vector.steps[index])}")
        found = _placed(named, [vector.steps[k] for k in kept], [ops[k] for k in kept], outputs_a, socket)
        if found is not None:
            return found
    return None


def _place(step: Step) -> str:
    return f"{step.half // 2}.{5 * (step.half % 2)}" if isinstance(step, Check) else str(step.cycle)


# ---------------------------------------------------------------------- steps to operations


def _ops(steps: Sequence[Step], socket: Socket) -> tuple[int, list[Op]]:
    driven = {_driven_pin(step) for step in steps if isinstance(step, Drive)}
    wires = socket.wires
    if not driven <= wires.driven.keys():
        raise NotHereError
    checked = {step.pin for step in steps if isinstance(step, Check)}
    if wires.driven and not (driven or checked & wires.seen.keys()):
        raise NotHereError  # that goes without wires
    outputs_a = sum(wires.driven[pin] for pin in driven)
    levels = 0xFF
    ops = []
    for step in steps:
        match step:
            case Write(cycle, register, value):
                _refuse(register, value, outputs_a, socket)
                if register in (ORA, ORA_NO_HANDSHAKE):
                    value = value & ~outputs_a | levels & outputs_a
                ops.append(Op("write", cycle, register, value))
            case Read(cycle, register):
                ops.append(Op("read", cycle, register, stored=_asks(step)))
            case Drive(cycle, pin, level):
                bit = wires.driven[_driven_pin(step)]
                levels = levels | bit if level & (PB6 if pin == "pb" else 1) else levels & ~bit
                ops.append(Op("write", cycle - 1, ORA_NO_HANDSHAKE, levels))
            case Check():
                ops.append(_look(step, socket))
            case _:
                raise NotHereError
    return outputs_a, ops


def _driven_pin(step: Drive) -> str:
    if step.pin == "pb" and step.level | PB6 == 0xFF:
        return "pb6"
    return step.pin


def _refuse(register: int, value: int, outputs_a: int, socket: Socket) -> None:
    if register == DDRB and value & socket.wires.port_b:
        raise NotHereError
    if register == DDRA and outputs_a:
        raise NotHereError
    if register == IER and value & 0x80 and not socket.irq:
        raise NotHereError


def _look(step: Check, socket: Socket) -> Op:
    if step.pin == "irq":
        if not socket.irq:
            raise NotHereError
        return Op("sample", step.half if socket.clock.cpu_per_cycle == 2 else (step.half - 1) | 1)
    cycle = (step.half + 1) // 2  # a read shows what the first half of its cycle has
    if step.pin in socket.wires.seen:
        return Op("read", cycle, ORB, stored=True, mask=socket.wires.seen[step.pin])
    if step.pin in ("pb", "pb7"):
        return Op("read", cycle, ORB, stored=True, mask=0xFF if step.pin == "pb" else PB7)
    if step.pin == "pa":
        return Op("read", cycle, ORA_NO_HANDSHAKE, stored=True)
    raise NotHereError


# ---------------------------------------------------------------------- operations in their cycles


def _placed(
    vector: Vector, steps: Sequence[Step], ops: Sequence[Op], outputs_a: int, socket: Socket
) -> Run | None:
    """Return the best run of steps: the one that keeps as many of their distances as can be."""
    if ops[0].kind == "sample":
        return None
    best = None
    starts = _starts(ops)
    for anchor in starts:
        moved = _moved(ops, anchor, socket.clock)
        late = _displaced(ops, moved, starts[0])
        if best is not None and late >= best.late_cycles:
            continue
        placed = tuple(map(_step_at, steps, moved))
        settings = itertools.product(HISTORIES, socket.open_pins)
        if all(_same(placed, moved, outputs_a, WiredChip(socket.wires, *setting)) for setting in settings):
            best = Run(replace(vector, steps=placed), tuple(moved), outputs_a, late)
    return best


def _starts(ops: Sequence[Op]) -> list[int]:
    """Return the operations that start something, by which others may be placed; the first if none does."""
    starting = {T1CH, T2CH, SR, ORA, ORB, ORA_NO_HANDSHAKE}
    return [index for index, op in enumerate(ops) if op.register in starting and not op.gives] or [0]


def _displaced(ops: Sequence[Op], moved: Sequence[Op], start: int) -> int:
    before, after = ops[start].cycle, moved[start].cycle
    return sum(
        abs((new.cycle - after) - (old.cycle - before))
        for old, new in zip(ops[start:], moved[start:], strict=True)
    )


def _moved(ops: Sequence[Op], anchor: int, clock: Clock) -> list[Op]:
    """Return operations in new cycles: tight before the anchor; then as given, or as soon after as can be."""
    found = [replace(ops[0], at=0)]
    for index in range(1, len(ops)):
        last, op = found[-1], ops[index]
        wanted = 1
        if index > anchor:
            wanted = max(op.cycle - ops[anchor].cycle - (last.cycle - found[anchor].cycle), 1)
        if op.kind == "sample":
            half = 2 * (last.cycle + wanted) + op.at % 2
            while (extra := _sample_extra(half, last, clock)) < 0 or extra == 1:
                half += 2
            found.append(replace(op, at=half))
        else:
            found.append(replace(op, at=last.cycle + clock.least(wanted, last.after + op.before)))
    return found


def _sample_extra(half: int, last: Op, clock: Clock) -> int:
    """Return how many CPU cycles to add after an access for the CPU to see its IRQ pin in a half-cycle."""
    return clock.sample_at(half) - clock.cpu_per_cycle * (last.cycle + 1) - last.after - BEFORE_SAMPLE


def extra_cycles(last: Op, op: Op, clock: Clock) -> int:
    """Return how many CPU cycles to add between two operations of a run."""
    if op.kind == "sample":
        return _sample_extra(op.at, last, clock)
    extra = clock.extra(op.cycle - last.cycle, last.after + op.before)
    assert extra is not None, "a run has been placed"
    return extra


def _step_at(step: Step, op: Op) -> Step:
    if isinstance(step, Check):
        return step._replace(half=op.at if op.kind == "sample" else 2 * op.at)
    if isinstance(step, Drive):
        return step._replace(cycle=op.at + 1)
    if isinstance(step, Write):
        return step._replace(cycle=op.at, value=op.value)
    assert isinstance(step, Read)
    return step._replace(cycle=op.at)


def _same(steps: Sequence[Step], ops: Sequence[Op], outputs_a: int, wired: WiredChip) -> bool:
    """Tell whether the chip in its machine shows what the steps expect."""
    wired.chip.write(ORA_NO_HANDSHAKE, 0xFF, SETTLED - 2)
    wired.chip.write(DDRA, outputs_a, SETTLED - 1)
    for step, op in zip(steps, ops, strict=True):
        wired.advance(SETTLED + op.cycle)
        if op.kind == "write":
            wired.chip.write(op.register, op.value, SETTLED + op.cycle)
            continue
        if op.kind == "read":
            answer = wired.chip.read(op.register, SETTLED + op.cycle) & op.mask
        else:
            answer = OurChip(wired.chip).level("irq", 2 * SETTLED + op.at)
        if isinstance(step, Read | Check) and not _accepted(step, op, answer):
            return False
    return True


def _accepted(step: Read | Check, op: Op, answer: int) -> bool:
    if op.mask & (op.mask - 1) == 0:  # one bit of port B is the level of one pin
        answer = int(answer != 0)
    return not step.values or any((answer ^ value) & step.mask == 0 for value in step.values)
