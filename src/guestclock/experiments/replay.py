"""A saved run once more, to the access before its clock went back.

Two runs: the first remembers the guest's accesses and ends where the guest told of the step, which shows the
access that made it; the second stops in front of that one.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from guestclock.chips.qemu_via import QemuVia
from guestclock.chips.registers import REGISTER_NAMES
from guestclock.errors import BadInputError
from guestclock.experiments.collect import named
from guestclock.experiments.happenings import Access, Happening, accesses, happenings
from guestclock.experiments.saved_run import SavedRun
from guestclock.experiments.session import Session, set_up
from guestclock.quadra.probe_port import PROBE_COLUMNS
from guestclock.quadra.traced import AccessTrace
from guestclock.readings import UNKNOWN, EventKind
from guestclock.readings.schema import Table
from guestclock.verdict import judge

SHOWN = 24
"""So many happenings before the stop are kept."""


@dataclass(frozen=True)
class Step:
    """The ``number``-th of ``total`` backward steps, counted over all clocks in the order of guest time.

    ``told_ns`` is the guest time at which the guest told of it.
    """

    number: int
    total: int
    clock: str
    before_ns: int
    after_ns: int
    told_ns: int


@dataclass(frozen=True)
class ChipState:
    """A VIA as it stands: what a read of each register would give, and what no read tells."""

    registers: dict[str, int]
    t2_latch: int
    irq: bool


@dataclass(frozen=True)
class Moment:
    """A machine as it stands, and what has happened to it, oldest first."""

    guest_ns: int
    host_ns: int
    cycle: int
    code_bytes: int
    interrupt_level: int
    interrupt_mask: int
    via1: ChipState
    via2: ChipState
    past: list[Happening]


@dataclass(frozen=True)
class Stopped:
    """A machine in front of the access that shows a step.

    ``coming`` is what happens next: from access number ``access``, which was not made, to the guest's report.
    """

    step: Step
    access: int
    moment: Moment
    coming: list[Happening]


def replay(saved: SavedRun, number: int = 1) -> Stopped:
    """Stop a second run of ``saved`` one access before its ``number``-th backward step.

    Raises:
        BadInputError: there is no such step, or nobody knows when it was.
    """
    event, total = _event(saved, number)
    whole = AccessTrace(until_bytes=int(event["code_bytes"]))
    with set_up(saved.plan, saved.boot, trace=whole) as session:
        session.run(lambda: None)
        probes = named(session.machine.bus.probes.rows(), PROBE_COLUMNS)
        step = _step(saved, event, probes, number, total)
        told = happenings(session, whole)
    report = [one for one in accesses(whole) if one.commits and one.code_bytes == event["code_bytes"]][-1]
    target = _last_read_before(accesses(whole), report)
    return Stopped(
        step, target.number, _stopped_before(saved, target.number), _part(told, target.number, report.number)
    )


def _event(saved: SavedRun, number: int) -> tuple[Any, int]:
    """Return the event of a step, and how many steps the verdict counts."""
    total = judge(saved.tables).monotonicity.backward.count
    if total == 0:
        raise BadInputError("the clock never went back in this run: there is no step to go to")
    if not 1 <= number <= total:
        raise BadInputError(f"step {number}: the clock went back {total} times in this run")
    events = saved.tables.events_of(EventKind.BACKWARD)
    if number > len(events) or events["code_bytes"][number - 1] == UNKNOWN:
        raise BadInputError(f"step {number}: nobody knows when it was: the guest has no use for a probe port")
    return events[number - 1], total


def _step(saved: SavedRun, event: Any, probes: Table, number: int, total: int) -> Step:
    """Return the step, with what the clock said before and after it."""
    there = np.flatnonzero(probes["code_bytes"] == event["code_bytes"])
    matching = [row for row in there if probes["value"][row] - probes["value"][row - 1] == event["value"]]
    if not matching:
        raise BadInputError("the run does not repeat itself: another version of guestclock has saved it")
    before_ns, after_ns = probes["value"][matching[0] - 1 : matching[0] + 1].tolist()
    clock = saved.tables.sources[int(event["source"])]
    return Step(number, total, clock, before_ns, after_ns, int(event["guest_ns"]))


def _last_read_before(found: list[Access], report: Access) -> Access:
    return [one for one in found if one.reads_via1 and one.number < report.number][-1]


def _part(told: list[Happening], first: int, last: int) -> list[Happening]:
    """Return the happenings from one access to another."""
    numbers = [what.access for what in told]
    return told[numbers.index(first) : numbers.index(last) + 1]


def _stopped_before(saved: SavedRun, access: int) -> Moment:
    """Run again and return how the machine stands when ``access`` would come next."""
    moments: list[Moment] = []

    def stop() -> None:
        moments.append(_moment(session, trace))

    trace = AccessTrace(stop_after=access - 1, on_stop=stop)
    with set_up(saved.plan, saved.boot, trace=trace) as session:
        session.run(lambda: None)
    return moments[0]


def _moment(session: Session, trace: AccessTrace) -> Moment:
    bus: Any = session.machine.bus
    return Moment(
        guest_ns=session.pacer.guest_ns,
        host_ns=session.pacer.host_ns,
        cycle=bus.cursor.cycle,
        code_bytes=accesses(trace)[-1].code_bytes,
        interrupt_level=bus.irq_level,
        interrupt_mask=session.machine.cpu.interrupt_mask,
        via1=_chip_state(bus.via1, session),
        via2=_chip_state(bus.via2, session),
        past=happenings(session, trace)[-SHOWN:],
    )


def _chip_state(via: Any, session: Session) -> ChipState:
    """Look at a VIA without touching it: each register is read on a copy of its own."""
    now = deepcopy(via)
    if isinstance(now, QemuVia):
        now.reach(session.pacer.guest_ns)
        t2_latch = now.t2.latch
    else:
        now.advance(session.machine.bus.cursor.cycle)
        t2_latch = now.timer2.latch
    registers = {name: deepcopy(now).read_here(number) for number, name in enumerate(REGISTER_NAMES)}
    return ChipState(registers, t2_latch, bool(now.irq))
