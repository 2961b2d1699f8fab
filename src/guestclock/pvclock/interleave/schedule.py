"""A path through the states as lines that a person can follow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from guestclock.pvclock.interleave.machine import Fault, Machine, Move, State
from guestclock.pvclock.steps import (
    At,
    CompareSwap,
    Counter,
    Load,
    Migrate,
    Resume,
    Step,
    Stop,
    Store,
    Vcpu,
)


@dataclass(frozen=True)
class Row:
    """A line of a schedule.

    ``value`` is what was read or written, ``result`` what the read said that it completes.  ``early``
    names the steps above it in its program that it overtook, ``late`` those below that overtook it; of
    two steps out of order, the one that moved further is marked.  ``happened`` is False for a step that
    others of its thread left behind.
    """

    thread: str
    step: str
    value: str
    early: tuple[str, ...]
    late: tuple[str, ...]
    result: str
    happened: bool = True


def rows(machine: Machine, moves: Sequence[Move]) -> Iterator[Row]:
    """Return a line for each move, and one for each step that others of its thread left behind."""
    made = machine.replay(moves) or []
    order = _Order(machine, made)
    for move, before, after in made:
        yield Row(
            thread=machine.threads[move.thread].name,
            step=order.name(move.thread, move.event),
            value=_shown(move.value),
            early=order.early(move.thread, move.event),
            late=order.late(move.thread, move.event),
            result=_result(before, after),
        )
    for thread, event in order.left_behind():
        yield Row(
            thread=machine.threads[thread].name,
            step=order.name(thread, event),
            value="",
            early=(),
            late=order.late(thread, event),
            result="",
            happened=False,
        )


class _Order:
    """Which steps of a path overtook which; what sees the same at any time overtakes nothing."""

    def __init__(self, machine: Machine, made: Sequence[tuple[Move, State, State]]) -> None:
        self._machine = machine
        self._done = {(move.thread, move.event) for move, _, _ in made}
        self._pairs = [
            (move.thread, move.event, above.index)
            for move, before, _ in made
            for above in machine.threads[move.thread].events[: move.event]
            if not before.done[move.thread] >> above.index & 1
            and not machine.is_constant(above)
            and not machine.is_constant(machine.threads[move.thread].events[move.event])
        ]

    def name(self, thread: int, event: int) -> str:
        return describe(self._machine.threads[thread].events[event].step)

    def _overtaken(self, thread: int, event: int) -> list[int]:
        return [above for runner, below, above in self._pairs if (runner, below) == (thread, event)]

    def _overtakers(self, thread: int, event: int) -> list[int]:
        return sorted(below for runner, below, above in self._pairs if (runner, above) == (thread, event))

    def early(self, thread: int, event: int) -> tuple[str, ...]:
        """Return the steps that an event overtook, unless it is they that are late."""
        passed = self._overtaken(thread, event)
        return tuple(
            self.name(thread, above)
            for above in passed
            if len(passed) >= len(self._overtakers(thread, above))
        )

    def late(self, thread: int, event: int) -> tuple[str, ...]:
        """Return the steps that overtook an event, unless it is they that are early."""
        passed_by = self._overtakers(thread, event)
        return tuple(
            self.name(thread, below)
            for below in passed_by
            if len(passed_by) > len(self._overtaken(thread, below))
        )

    def left_behind(self) -> list[tuple[int, int]]:
        """Return the events that were overtaken and have not happened."""
        return sorted({(thread, above) for thread, _, above in self._pairs} - self._done)


def describe(step: Step) -> str:
    """Return an event as a person would write it."""
    match step:
        case Load(_, at):
            return f"load {_place(at)}"
        case Store(at):
            return f"store {_place(at)}"
        case CompareSwap(at):
            return f"compare-and-swap {_place(at)}"
        case Counter():
            return "read the counter"
        case Vcpu():
            return "getcpu"
        case Stop():
            return "all vCPUs leave the guest"
        case Resume():
            return "vCPUs may enter the guest"
        case Migrate(_, vcpu):
            return f"move the first thread to vCPU {vcpu}"
    return str(step)


def _place(at: At) -> str:
    return at.field if at.page == 0 else f"{at.field}[{at.page}]"


def _shown(value: object) -> str:
    """Return a value without its tag; a field also says which update wrote it."""
    match value:
        case ((_, update), None):
            return f"(update {update})"
        case ((_, update), number):
            return f"{number} (update {update})"
        case (_, number):
            return str(number)
        case None:
            return ""
    return str(value)


def _result(before: State, after: State) -> str:
    for result, known in zip(after.results, before.results, strict=True):
        if known is None and result is not None:
            return result.kind if isinstance(result, Fault) else str(result)
    return ""
