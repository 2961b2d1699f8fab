"""Random programs for two 6522s that must agree: actions, how to run them, what to compare.

An action is a plain tuple, so that a failing program prints as something to paste into a test.
"""

import copy
import random
from collections.abc import Iterator
from typing import NamedTuple

from guestclock.chips.mos6522 import TIMEOUT_BEATS, Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import (
    ACR,
    ACR_SR_MODE,
    ACR_T1_FREE_RUN,
    ACR_T1_PB7,
    ACR_T2_PULSES,
    IER,
    IFR,
    NEVER,
    PB6,
    T1CH,
    T1CL,
    T1LH,
    T1LL,
    T2CH,
    T2CL,
    WATCH_IRQ,
    WATCH_PB7,
)

# Where the next action falls: so many cycles on, or beside the cycle in which a counter passes zero
# (unless that is farther than the oracle should have to step).
ANCHORS = ("now", "t1", "t2", "t2_low")
FARTHEST_ANCHOR_CYCLES = 300

T1_MODES = (0, ACR_T1_FREE_RUN, ACR_T1_PB7, ACR_T1_FREE_RUN | ACR_T1_PB7)
SR_MODES = tuple(range(0, ACR_SR_MODE + 1, 4))


class Theme(NamedTuple):
    """What a program is about: which kinds of action, registers and ACR values it prefers."""

    kinds: tuple[str, ...]
    registers: tuple[int, ...]
    acr_values: tuple[int, ...]


ACCESSES = ("read", "write", "write", "share")
EVERYTHING = (*ACCESSES, "pins_a", "pins_b", "toggle_pb6", "flags", "reset", "wait")
THEMES = (
    Theme(ACCESSES * 3, (T1CL, T1CH, T1LL, T1LH, ACR, IFR, IER), T1_MODES),
    Theme((*ACCESSES * 3, "toggle_pb6"), (T2CL, T2CL, T2CH, ACR, IFR, IER), SR_MODES),
    Theme(
        (*ACCESSES, *["toggle_pb6"] * 16),
        (T2CL, T2CL, T2CH, ACR, IFR, IER),
        tuple(ACR_T2_PULSES | mode for mode in SR_MODES) + SR_MODES[1:2],
    ),
    Theme(
        EVERYTHING,
        tuple(range(16)),
        tuple(t1 | t2 | sr for t1 in T1_MODES for t2 in (0, ACR_T2_PULSES) for sr in SR_MODES),
    ),
)

# Counters mostly start small, so that programs see many timeouts; flags are mostly enabled.
LOW_VALUES = (0, 1, 2, 3, 5, 9, 0x40, 0x60, 0xFE, 0xFF)
HIGH_VALUES = (0, 0, 0, 0, 1, 2)
IER_VALUES = (0xFF, 0xE0, 0xC0, 0xA0, 0x40, 0x20)


class Action(NamedTuple):
    """``kind`` happens ``gap`` cycles after the anchor, to ``register`` (if any) with ``value`` (if any)."""

    anchor: str
    gap: int
    kind: str
    register: int
    value: int


def values_of(register: int, theme: Theme) -> tuple[int, ...]:
    """Return what programs write to a register."""
    if register == ACR:
        return theme.acr_values
    if register == IER:
        return IER_VALUES
    return HIGH_VALUES if register in {T1CH, T1LH, T2CH} else LOW_VALUES


def random_program(rng: random.Random, steps: int, longest_gap: int) -> Iterator[Action]:
    """Yield actions; the theme changes now and then."""
    for step in range(steps):
        if step % 40 == 0:
            theme = rng.choice(THEMES)
        anchor = rng.choice(ANCHORS)
        gap = rng.choice([0, 1, 2, rng.randrange(longest_gap)]) if anchor == "now" else rng.randrange(-2, 5)
        kind = rng.choice(theme.kinds)
        register = rng.choice(theme.registers)
        value = rng.choice(values_of(register, theme)) if rng.random() < 0.9 else rng.randrange(256)
        yield Action(anchor, gap, kind, register, value)


def visible(chip: Mos6522 | Mos6522Stepwise) -> dict[str, object]:
    """Return everything a bus or a wire can see of a chip, without touching it."""
    seen: dict[str, object] = {
        name: getattr(chip, name)
        for name in (
            "now",
            "irq",
            "pb7",
            "t1_underflows",
            "t1_flag_half",
            "t2_flag_half",
            "t1_armed",
            "t2_armed",
        )
    }
    seen["port_a"] = (chip.port_a_output(), chip.port_a_levels())
    seen["port_b"] = (chip.port_b_output(), chip.port_b_levels())
    if isinstance(chip, Mos6522Stepwise):
        scratch: Mos6522 | Mos6522Stepwise = copy.copy(chip)
    else:
        scratch = Mos6522()
        scratch.restore(chip.snapshot())
    seen["IFR"] = scratch.read_here(IFR)
    seen["registers"] = bytes(scratch.read_here(register) for register in range(16)).hex()
    return seen


class Pair:
    """The closed form and the oracle, doing the same."""

    def __init__(self, variant: str = "nmos", timeout_beats: int = TIMEOUT_BEATS) -> None:
        self.closed = Mos6522(variant, timeout_beats)
        self.stepwise = Mos6522Stepwise(variant, timeout_beats)
        self.steps = 0

    def do(self, action: Action) -> None:
        """Let time pass to the action's cycle, do it on both, and compare all that can be seen."""
        cycle = self._cycle_of(action)
        self._pass_time(cycle)
        results = [self._apply(chip, action, cycle) for chip in (self.closed, self.stepwise)]
        assert results[0] == results[1]
        assert visible(self.closed) == visible(self.stepwise)
        self.steps += 1

    def _cycle_of(self, action: Action) -> int:
        oracle = self.stepwise
        ahead = {"now": 0, "t1": oracle.t1, "t2": oracle.t2, "t2_low": oracle.t2 & 0xFF}[action.anchor]
        if ahead > FARTHEST_ANCHOR_CYCLES:
            ahead = 0
        earliest = max(oracle.now, oracle.last_access + (action.kind in {"read", "write"}))
        return max(earliest, oracle.now + ahead + action.gap)

    def _pass_time(self, cycle: int) -> None:
        """Step the oracle to the cycle; the outputs change when the closed form said they would."""
        oracle = self.stepwise
        promised = {watch: self.closed.next_event(watch) for watch in (WATCH_IRQ, WATCH_PB7)}
        assert self.closed.next_event(WATCH_IRQ | WATCH_PB7) == min(promised.values())
        assert self.closed.next_event(0) == NEVER
        level = {WATCH_IRQ: oracle.irq, WATCH_PB7: oracle.pb7}
        first_change: dict[int, int] = {}
        while oracle.now < cycle:
            oracle.step()
            if oracle.irq_asserted() != level[WATCH_IRQ]:
                first_change.setdefault(WATCH_IRQ, 2 * oracle.now + 1)
            if oracle.acr & ACR_T1_PB7 and oracle.pb7 != level[WATCH_PB7]:
                first_change.setdefault(WATCH_PB7, 2 * oracle.now + 1)
        for watch, half in promised.items():
            if watch in first_change:
                assert half == first_change[watch]
            else:
                assert half > 2 * cycle + 1
        self.closed.advance(cycle)

    @staticmethod
    def _apply(chip: Mos6522 | Mos6522Stepwise, action: Action, cycle: int) -> int | None:
        match action.kind:
            case "read":
                return chip.read(action.register, cycle)
            case "write":
                chip.write(action.register, action.value, cycle)
            case "share":
                return chip.read_here(action.register)
            case "pins_a":
                chip.set_pins_a(action.value, cycle)
            case "pins_b":
                chip.set_pins_b(action.value, cycle)
            case "toggle_pb6":
                chip.set_pins_b(chip.pins_b ^ PB6, cycle)
            case "flags":
                chip.ifr |= action.value & 0x1F  # as edges on CA1, CA2, CB1, CB2 and the shift register would
            case "reset":
                chip.reset(cycle)
        return None
