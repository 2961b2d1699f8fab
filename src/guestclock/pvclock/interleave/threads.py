"""A program prepared for the explorer: its events, and what must be known for each of them.

Loads, stores, counter reads and the hypervisor's acts are events: each happens at one moment.
Computations, branches and finishes are consequences: they follow at once when their inputs are known.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from guestclock.pvclock.steps import (
    At,
    Barrier,
    Branch,
    CompareSwap,
    Compute,
    Counter,
    Fence,
    Finish,
    Load,
    Migrate,
    Program,
    Resume,
    Step,
    Stop,
    Store,
    Vcpu,
)

_EVENTS = (Load, Store, CompareSwap, Counter, Vcpu, Stop, Resume, Migrate)


@dataclass(frozen=True)
class Event:
    """A step that happens at a moment of its own; ``index`` counts them in program order."""

    index: int
    position: int
    step: Step
    address: frozenset[int]  # events whose results its address is made from
    inputs: frozenset[int]  # events whose results it needs in all

    @property
    def reads(self) -> bool:
        """Does it read memory?"""
        return isinstance(self.step, Load | CompareSwap)

    @property
    def writes(self) -> bool:
        """Does it write memory?"""
        return isinstance(self.step, Store | CompareSwap)

    @property
    def serialising(self) -> bool:
        """Does nothing pass it, in either direction?"""
        return isinstance(self.step, Stop | Resume | Migrate)

    @property
    def at(self) -> At | None:
        """The place in memory that it touches."""
        return self.step.at if isinstance(self.step, Load | Store | CompareSwap) else None

    def same_place(self, other: "Event") -> bool:
        """May both touch the same place?  Yes also when the page is only known at run time."""
        one, two = self.at, other.at
        if one is None or two is None or one.field != two.field:
            return False
        return one.page == two.page or isinstance(one.page, str) or isinstance(two.page, str)


@dataclass(frozen=True)
class Consequence:
    """A step without a moment: due when all events of ``needs`` are done."""

    step: Compute | Branch | Finish
    needs: int  # bit mask of events
    slot: int = -1  # Finish: which read of the whole system this is


@dataclass
class Thread:
    """A program's events and consequences, and the questions that a model asks about it."""

    name: str
    program: Program
    events: list[Event] = field(default_factory=list)
    consequences: list[Consequence] = field(default_factory=list)
    origins: dict[str, frozenset[int]] = field(default_factory=dict)  # register -> events it is made from
    branches: list[tuple[int, frozenset[int]]] = field(default_factory=list)  # position, inputs

    def barriers_between(self, first: Event, then: Event) -> list[Barrier]:
        """Return the barriers between two events, in order."""
        steps = self.program[first.position : then.position]
        return [step.barrier for step in steps if isinstance(step, Fence)]

    def last_barrier(self, barrier: Barrier, then: Event) -> int:
        """Return the position of the last such barrier before an event."""
        return max(
            position for position, step in enumerate(self.program[: then.position]) if step == Fence(barrier)
        )

    def controls(self, position: int) -> frozenset[int]:
        """Return the events that branches before a position depend on."""
        return frozenset(index for at, inputs in self.branches if at < position for index in inputs)

    def addresses(self, first: Event, then: Event) -> bool:
        """Is the address of an access before ``then`` made from ``first``?"""
        return self.addresses_before(first, then.position)

    def addresses_before(self, first: Event, position: int) -> bool:
        """Is the address of an access before a position made from ``first``?"""
        return any(first.index in event.address for event in self.events if event.position < position)


def prepare(name: str, program: Program, next_slot: Callable[[], int]) -> Thread:
    """Return a program's events and consequences; ``next_slot`` numbers the reads of the system."""
    thread = Thread(name, program)
    for position, step in enumerate(program):
        if isinstance(step, _EVENTS):
            thread.events.append(_event(thread, position, step))
        elif isinstance(step, Compute):
            made_from = _origins(thread, step.of)
            thread.origins[step.to] = made_from
            thread.consequences.append(Consequence(step, _mask(made_from)))
        elif isinstance(step, Branch):
            inputs = _origins(thread, step.of)
            thread.branches.append((position, inputs))
            thread.consequences.append(Consequence(step, _mask(inputs)))
        elif isinstance(step, Finish):
            # A result counts when no branch above it is a guess any more.
            settled = _origins(thread, (step.value,)) | thread.controls(position)
            thread.consequences.append(Consequence(step, _mask(settled), next_slot()))
    return thread


def _event(thread: Thread, position: int, step: Step) -> Event:
    address: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    if isinstance(step, Load | Store | CompareSwap):
        page = step.at.page
        address = (page,) if isinstance(page, str) else ()
    if isinstance(step, Load | Store):
        address += step.after
    if isinstance(step, Store):
        values = (step.value,) if isinstance(step.value, str) else ()
    if isinstance(step, CompareSwap):
        values = (step.expected, step.value)
    if isinstance(step, Store | CompareSwap) and step.when:
        values += (step.when,)
        thread.branches.append((position, _origins(thread, (step.when,))))
    made_from = _origins(thread, address)
    event = Event(len(thread.events), position, step, made_from, made_from | _origins(thread, values))
    if isinstance(step, Load | Counter | Vcpu):
        thread.origins[step.to] = frozenset((event.index,))
    return event


def _origins(thread: Thread, registers: tuple[str, ...]) -> frozenset[int]:
    return frozenset(index for register in registers for index in thread.origins[register])


def _mask(indices: frozenset[int]) -> int:
    return sum(1 << index for index in indices)
