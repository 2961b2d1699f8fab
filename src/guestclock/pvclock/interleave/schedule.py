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

    ``value`` is what was read or written, ``early`` the steps above it in its program that were not
    done yet, ``result`` what the read said that it completes.
    """

    thread: str
    step: str
    value: str
    early: tuple[str, ...]
    result: str


def rows(machine: Machine, moves: Sequence[Move]) -> Iterator[Row]:
    """Return a line for each move."""
    for move, before, after in machine.replay(moves) or ():
        thread = machine.threads[move.thread]
        yield Row(
            thread=thread.name,
            step=describe(thread.events[move.event].step),
            value=_shown(move.value),
            early=tuple(
                describe(event.step)
                for event in thread.events[: move.event]
                if not before.done[move.thread] >> event.index & 1
            ),
            result=_result(before, after),
        )


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
