"""A thread on a model with every question answered beforehand: registers are numbers, sets bit masks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from guestclock.pvclock.interleave.models import Model
from guestclock.pvclock.interleave.threads import Event, Thread
from guestclock.pvclock.steps import At, Branch, CompareSwap, Finish, Load, Migrate, Stop, Store

Value: TypeAlias = Any  # what registers and memory hold: the formulas know, the machine does not look

GUARDS = ("unchanged", "same")  # formulas that two loads of one place must fulfil


class Tables:
    """What the machine asks of a thread, many times over.

    ``needs`` pairs each event with the mask of those that must be done before it, ``follows`` has the
    consequences that each event contributes to, ``guards`` the loads that must see what another saw.
    """

    def __init__(self, thread: Thread, model: Model, places: Mapping[At, int]) -> None:
        self.is_hypervisor = any(isinstance(event.step, Stop | Migrate) for event in thread.events)
        self.all = (1 << len(thread.events)) - 1
        self.registers = list(thread.origins)
        self.slots = {name: slot for slot, name in enumerate(self.registers)}
        self._places = places
        self.needs = [
            (
                event,
                _mask(other.index for other in _above(thread, event) if model.ordered(thread, other, event)),
            )
            for event in thread.events
        ]
        self.follows = [
            [c for c in thread.consequences if c.needs >> event.index & 1] for event in thread.events
        ]
        self._own_stores = [
            [other for other in reversed(_above(thread, event)) if other.writes and other.same_place(event)]
            for event in thread.events
        ]
        self._younger_loads = [_younger_loads(thread, event) for event in thread.events]
        self.deaths = self._deaths(thread)
        self.guards = self._guards(thread)

    def place(self, event: Event, registers: Sequence[Value]) -> int:
        """Return the memory slot that an event touches, now that its page is known."""
        at = event.at
        assert at is not None
        page = registers[self.slots[at.page]] if isinstance(at.page, str) else at.page
        return self._places[At(at.field, page)]

    def stored(self, step: Store | CompareSwap, registers: Sequence[Value]) -> Value:
        """Return what a store writes."""
        return registers[self.slots[step.value]] if isinstance(step.value, str) else step.value

    def happens(self, step: Store | CompareSwap, registers: Sequence[Value]) -> bool:
        """Is a conditional store's condition met?"""
        return not step.when or bool(registers[self.slots[step.when]])

    def forwarded(
        self, event: Event, place: int, done: int, registers: Sequence[Value]
    ) -> tuple[bool, Value]:
        """Return (may the load happen, the value of a store of its own thread that nobody sees yet)."""
        for store in self._own_stores[event.index]:
            if done >> store.index & 1:
                continue
            step = store.step
            assert isinstance(step, Store | CompareSwap)
            inputs = _mask(store.inputs)
            if done & inputs != inputs:
                return False, None
            if self.place(store, registers) == place and self.happens(step, registers):
                return isinstance(step, Store), self.stored(step, registers)
        return True, None

    def coherent(self, event: Event, place: int, value: Value, done: int, registers: Sequence[Value]) -> bool:
        """Did no younger load of the same place see something else?  Then it would have to run again.

        Every value is written to a place once only, so equal values come from the same store.
        """
        return all(
            registers[slot] == value
            for younger, slot in (
                (younger, self.slots[younger.step.to])
                for younger in self._younger_loads[event.index]
                if isinstance(younger.step, Load)
            )
            if done >> younger.index & 1 and self.place(younger, registers) == place
        )

    def _deaths(self, thread: Thread) -> list[tuple[int, int]]:
        """Return (register, the events after which nobody needs it) for registers that are used at all."""
        deaths = dict.fromkeys(self.registers, 0)
        for event in thread.events:
            for name in _used(event):
                deaths[name] |= 1 << event.index
            for younger in self._younger_loads[event.index]:
                assert isinstance(younger.step, Load)
                deaths[younger.step.to] |= 1 << event.index
        for consequence in thread.consequences:
            step = consequence.step
            for name in (step.value,) if isinstance(step, Finish) else step.of:
                deaths[name] |= consequence.needs
        return [
            (self.slots[name], mask | _mask(thread.origins[name])) for name, mask in deaths.items() if mask
        ]

    def _guards(self, thread: Thread) -> list[tuple[int, Event]]:
        """Return (register, second load) for every pair of loads that must see the same value.

        A value that has gone from a guard never comes back: version and sequence numbers only rise.
        """
        loads = {event.step.to: event for event in thread.events if isinstance(event.step, Load)}
        return [
            (self.slots[step.of[0]], loads[step.of[1]])
            for step in (consequence.step for consequence in thread.consequences)
            if isinstance(step, Branch) and step.formula in GUARDS and set(step.of) <= set(loads)
        ]


def _above(thread: Thread, event: Event) -> list[Event]:
    return thread.events[: event.index]


def _younger_loads(thread: Thread, event: Event) -> list[Event]:
    """Return loads below a load of the same place, as far as no store of their own comes between."""
    below = thread.events[event.index + 1 :] if event.reads else []
    return [
        other
        for other in below
        if isinstance(other.step, Load)
        and other.same_place(event)
        and not any(
            between.writes and between.same_place(other)
            for between in thread.events[event.index + 1 : other.index]
        )
    ]


def _used(event: Event) -> list[str]:
    """Return the registers that an event reads."""
    step = event.step
    used = [event.at.page] if event.at is not None and isinstance(event.at.page, str) else []
    if isinstance(step, Store):
        used += [name for name in (step.value, step.when) if isinstance(name, str) and name]
    if isinstance(step, CompareSwap):
        used += [name for name in (step.expected, step.value, step.when) if name]
    return used


def _mask(indices: Iterable[int]) -> int:
    return sum(1 << index for index in indices)
