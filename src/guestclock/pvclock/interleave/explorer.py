"""Every order of events that a machine may show, breadth first: the first fault found is the shortest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from guestclock.errors import BadInputError
from guestclock.pvclock.interleave.machine import Fault, Machine, Move, State

STATES_MAX = 1_000_000
_Origins: TypeAlias = dict[State, tuple[State, tuple[Move, ...]] | None]


@dataclass(frozen=True)
class Exploration:
    """What was found: a fault with the moves that lead to it, or none in any state.

    ``complete`` counts the states in which everything has happened: a proof without one proves nothing.
    """

    states: int
    complete: int
    fault: Fault | None
    moves: tuple[Move, ...]


def explore(machine: Machine, states_max: int = STATES_MAX) -> Exploration:
    """Visit every reachable state of a machine, up to the first fault.

    Raises BadInputError when there are more than ``states_max`` states.
    """
    settled = machine.settle(machine.start())
    if settled is None:
        return Exploration(0, 0, None, ())
    first_moves, start = settled
    origins: _Origins = {start: None}
    level = [start]
    complete = 0
    while level:
        following: list[State] = []
        for state in level:
            complete += machine.is_final(state)
            for moves, after in machine.moves(state):
                if after in origins:
                    continue
                origins[after] = (state, moves)
                fault = machine.fault(after.results) if after.results != state.results else None
                if fault is not None:
                    path = first_moves + _path(origins, after)
                    return Exploration(len(origins), complete, fault, _needed(machine, path, fault))
                following.append(after)
        if len(origins) > states_max:
            raise BadInputError(f"more than {states_max} states: ask for fewer vCPUs or updates")
        level = following
    return Exploration(len(origins), complete, None, ())


def _path(origins: _Origins, end: State) -> tuple[Move, ...]:
    path: list[Move] = []
    step = origins[end]
    while step is not None:
        before, moves = step
        path += reversed(moves)
        step = origins[before]
    return tuple(reversed(path))


def _needed(machine: Machine, path: Sequence[Move], fault: Fault) -> tuple[Move, ...]:
    """Leave out what happened at once but had no need to happen at all."""
    for move in reversed(tuple(path)):
        without = [other for other in path if other is not move]
        made = machine.replay(without)
        if made and machine.fault(made[-1][2].results) == fault:
            path = without
    return tuple(path)


def final_states(machine: Machine) -> Iterator[State]:
    """Return every state in which everything has happened: the outcomes of a litmus test."""
    settled = machine.settle(machine.start())
    seen = {settled[1]} if settled else set()
    waiting = list(seen)
    while waiting:
        state = waiting.pop()
        if machine.is_final(state):
            yield state
        for _, after in machine.moves(state):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
