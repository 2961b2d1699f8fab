"""A machine in the middle of it all: states, and the moves that lead from one to the next.

A thread's instructions are taken as all in flight at once; an event may happen as soon as those are
done that the model orders before it.  Memory is one flat map: on both machines a store is seen by all
other vCPUs at one moment, and it is done then.  Until then only its own thread's loads see it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from guestclock.pvclock.interleave.models import Model
from guestclock.pvclock.interleave.tables import Tables, Value
from guestclock.pvclock.interleave.threads import Event, prepare
from guestclock.pvclock.steps import (
    At,
    Branch,
    CompareSwap,
    Compute,
    Counter,
    Formula,
    Load,
    Migrate,
    Program,
    Resume,
    Stop,
    Store,
    Vcpu,
)


@dataclass(frozen=True)
class Fault:
    """A value that no clock may show, and why."""

    kind: str
    text: str


class State(NamedTuple):
    """Everything that can differ between two moments.

    ``done`` has a bit mask of events for each thread, ``registers`` a tuple for each thread (None:
    not known yet, or of no further use), ``results`` a value for each read of the system.
    """

    memory: tuple[Value, ...]
    done: tuple[int, ...]
    registers: tuple[tuple[Value, ...], ...]
    results: tuple[Value, ...]
    vcpus: tuple[int, ...]
    counter: int
    stopped: bool


class Move(NamedTuple):
    """One event: which thread, which event, the value that it read or wrote."""

    thread: int
    event: int
    value: Value


@dataclass(frozen=True)
class System:
    """What is put to the explorer.

    ``vcpus`` says where each thread runs, ``skew`` what each vCPU's counter shows more than the first
    one's.  ``causal`` names pairs of reads, numbered over all threads in order, of which the second
    starts after the first is complete.
    """

    programs: tuple[tuple[str, Program], ...]
    memory: Mapping[At, Value]
    formulas: Mapping[str, Formula]
    vcpus: tuple[int, ...] = ()
    skew: tuple[int, ...] = (0,)
    causal: tuple[tuple[int, int], ...] = ()


class Machine:
    """A `System` on a `Model`."""

    def __init__(self, system: System, model: Model) -> None:
        self.system = system
        self.reads = 0
        self.threads = [prepare(name, model.lower(steps), self._next_read) for name, steps in system.programs]
        events = [event for thread in self.threads for event in thread.events]
        touched = {event.at for event in events if event.at and not isinstance(event.at.page, str)}
        self.places = {
            at: index
            for index, at in enumerate(
                sorted(touched | set(system.memory), key=lambda at: (at.field, str(at.page)))
            )
        }
        self.tables = [Tables(thread, model, self.places) for thread in self.threads]
        self._migrates = any(isinstance(event.step, Migrate) for event in events)
        self._stops = any(event.serialising for event in events)
        self._writes = [event for event in events if event.writes]

    def _next_read(self) -> int:
        self.reads += 1
        return self.reads - 1

    def start(self) -> State:
        """Return the state before anything happened."""
        return State(
            memory=tuple(self.system.memory.get(at, 0) for at in self.places),
            done=(0,) * len(self.threads),
            registers=tuple((None,) * len(tables.registers) for tables in self.tables),
            results=(None,) * self.reads,
            vcpus=self.system.vcpus or (0,) * len(self.threads),
            counter=0,
            stopped=False,
        )

    def is_final(self, state: State) -> bool:
        """Has everything happened?"""
        return all(done == tables.all for done, tables in zip(state.done, self.tables, strict=True))

    def moves(self, state: State) -> Iterator[tuple[tuple[Move, ...], State]]:
        """Return every event that may happen now, with the state after it.

        Attempts that come to nothing (a branch not taken) lead nowhere and are left out.  Loads of what
        nobody writes may happen at any moment with the same effect: they happen at once, together with
        the event that made them possible.
        """
        for thread, event in self._ready(state):
            happened = self._happen(state, thread, event)
            if happened is None:
                continue
            move, after = happened
            settled = self.settle(after)
            if settled is not None:
                yield (move, *settled[0]), settled[1]

    def settle(self, state: State) -> tuple[tuple[Move, ...], State] | None:
        """Let happen what may happen at any moment; None when a branch on it is not taken."""
        moves: list[Move] = []
        while True:
            anytime = next((ready for ready in self._ready(state) if self._is_anytime(state, *ready)), None)
            if anytime is None:
                return tuple(moves), state
            happened = self._happen(state, *anytime)
            if happened is None:
                return None
            moves.append(happened[0])
            state = happened[1]

    def replay(self, moves: Sequence[Move]) -> list[tuple[Move, State, State]] | None:
        """Make the same moves again; return each with the states around it, or None if they cannot be made.

        The values that are read may differ from those in ``moves``.
        """
        state = self.start()
        made: list[tuple[Move, State, State]] = []
        for wanted in moves:
            event = self.threads[wanted.thread].events[wanted.event]
            happened = (
                self._happen(state, wanted.thread, event)
                if (wanted.thread, event) in self._ready(state)
                else None
            )
            if happened is None:
                return None
            made.append((happened[0], state, happened[1]))
            state = happened[1]
        return made

    def fault(self, results: Sequence[Value]) -> Fault | None:
        """Return what is wrong with the results of complete reads, if anything is."""
        for result in results:
            if isinstance(result, Fault):
                return result
        for earlier, later in self.system.causal:
            one, two = results[earlier], results[later]
            if one is not None and two is not None and two < one:
                return Fault("backward step", f"a read says {two} after an earlier one said {one}")
        return None

    def _ready(self, state: State) -> Iterator[tuple[int, Event]]:
        """Return the events of which everything is done that must be done before."""
        for thread, tables in enumerate(self.tables):
            done = state.done[thread]
            if done == tables.all or (state.stopped and not tables.is_hypervisor):
                continue
            for event, need in tables.needs:
                if not done >> event.index & 1 and done & need == need:
                    yield thread, event

    def is_constant(self, event: Event) -> bool:
        """Does an event see the same whenever it happens?"""
        if isinstance(event.step, Vcpu):
            return not self._migrates
        return isinstance(event.step, Load) and not any(map(event.same_place, self._writes))

    def _is_anytime(self, state: State, thread: int, event: Event) -> bool:
        """May an event happen now as well as later?  Not if that keeps a thread from being stopped."""
        return self.is_constant(event) and (
            not self._stops or _is_prefix(state.done[thread] | 1 << event.index)
        )

    def _happen(self, state: State, thread: int, event: Event) -> tuple[Move, State] | None:
        """Return a move and the state after it, or None when it cannot happen like this."""
        tables = self.tables[thread]
        change = _Change(state, thread)
        if not self._act(change, tables, event):
            return None
        done = state.done[thread] | 1 << event.index
        results = self._follow(tables, event, done, change.registers, state.results)
        if results is None:
            return None
        for slot, death in tables.deaths:
            if done & death == death:
                change.registers[slot] = None
        after = change.after(done, results)
        if event.writes and self._dooms(after):
            return None
        return Move(thread, event.index, change.value), after

    def _act(self, change: "_Change", tables: Tables, event: Event) -> bool:
        """Do what an event does to memory, registers and vCPUs; False when it cannot be done."""
        registers, done = change.registers, change.state.done
        step = event.step
        match step:
            case Load():
                place = tables.place(event, registers)
                possible, value = tables.forwarded(event, place, done[change.thread], registers)
                change.value = change.memory[place] if value is None else value
                registers[tables.slots[step.to]] = change.value
                return possible and tables.coherent(
                    event, place, change.value, done[change.thread], registers
                )
            case Store() | CompareSwap():
                place = tables.place(event, registers)
                if tables.happens(step, registers):
                    if isinstance(step, CompareSwap):
                        expected = registers[tables.slots[step.expected]]
                        if change.memory[place] != expected:
                            return False
                    change.write(place, tables.stored(step, registers))
            case Counter():
                change.counter += step.ticks
                vcpu = change.vcpus[change.thread]
                change.value = (vcpu, change.counter + self.system.skew[vcpu])
                registers[tables.slots[step.to]] = change.value
            case Vcpu():
                change.value = change.vcpus[change.thread]
                registers[tables.slots[step.to]] = change.value
            case Stop() | Resume():
                change.stopped = isinstance(step, Stop)
                return all(
                    other.is_hypervisor or _is_prefix(mask)
                    for mask, other in zip(done, self.tables, strict=True)
                )
            case Migrate(target, vcpu):
                change.vcpus = (*change.vcpus[:target], vcpu, *change.vcpus[target + 1 :])
                return _is_prefix(done[target])
        return True

    def _follow(
        self, tables: Tables, event: Event, done: int, registers: list[Value], results: tuple[Value, ...]
    ) -> tuple[Value, ...] | None:
        """Draw the consequences of an event; None when a branch is not taken."""
        formulas, slots = self.system.formulas, tables.slots
        for consequence in tables.follows[event.index]:
            step = consequence.step
            if isinstance(step, Branch):
                # Also while some inputs are missing: an attempt that must fail need not be followed.
                if not formulas[step.formula](*(registers[slots[name]] for name in step.of)):
                    return None
            elif consequence.needs & done != consequence.needs:
                continue
            elif isinstance(step, Compute):
                values = (registers[slots[name]] for name in step.of)
                registers[slots[step.to]] = formulas[step.formula](*values)
            else:
                slot = consequence.slot
                results = (*results[:slot], registers[slots[step.value]], *results[slot + 1 :])
        return results

    def _dooms(self, state: State) -> bool:
        """Can some attempt not succeed any more, since its guard has changed?

        Nothing need be followed that comes after: what the attempt has done so far is only loads, and
        another schedule has everything else without them.
        """
        for tables, done, registers in zip(self.tables, state.done, state.registers, strict=True):
            for slot, again in tables.guards:
                seen = registers[slot]
                if seen is None or done >> again.index & 1:
                    continue
                if state.memory[tables.place(again, registers)] != seen:
                    return True
        return False


class _Change:
    """A state while it is being changed by one event of one thread."""

    def __init__(self, state: State, thread: int) -> None:
        self.state = state
        self.thread = thread
        self.registers = list(state.registers[thread])
        self.memory, self.vcpus = state.memory, state.vcpus
        self.counter, self.stopped = state.counter, state.stopped
        self.value: Value = None

    def write(self, place: int, value: Value) -> None:
        self.value = value
        self.memory = (*self.memory[:place], value, *self.memory[place + 1 :])

    def after(self, done: int, results: tuple[Value, ...]) -> State:
        state, thread = self.state, self.thread
        return State(
            self.memory,
            (*state.done[:thread], done, *state.done[thread + 1 :]),
            (*state.registers[:thread], tuple(self.registers), *state.registers[thread + 1 :]),
            results,
            self.vcpus,
            self.counter,
            self.stopped,
        )


def _is_prefix(done: int) -> bool:
    return done & (done + 1) == 0
