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
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    PB6,
    PCR,
    SR,
    T1CH,
    T1CL,
    T1LH,
    T1LL,
    T2CH,
    T2CL,
    WATCH_CA2,
    WATCH_CB1,
    WATCH_CB2,
    WATCH_IRQ,
    WATCH_PB7,
)

# Where the next action falls: so many cycles on, or beside the cycle in which a counter passes zero
# (unless that is farther than the oracle should have to step).
ANCHORS = ("now", "t1", "t2", "t2_low")
FARTHEST_ANCHOR_CYCLES = 300

OUTPUTS = (WATCH_IRQ, WATCH_PB7, WATCH_CA2, WATCH_CB1, WATCH_CB2)

T1_MODES = (0, ACR_T1_FREE_RUN, ACR_T1_PB7, ACR_T1_FREE_RUN | ACR_T1_PB7)
SR_MODES = tuple(range(0, ACR_SR_MODE + 1, 4))


class Theme(NamedTuple):
    """What a program is about: which kinds of action, registers, ACR and PCR values it prefers."""

    kinds: tuple[str, ...]
    registers: tuple[int, ...]
    acr_values: tuple[int, ...]
    pcr_values: tuple[int, ...] = tuple(range(256))


ACCESSES = ("read", "write", "write", "share")
LINES = ("ca1", "ca2", "cb1", "cb2")
EVERYTHING = (*ACCESSES, *LINES, "pins_a", "pins_b", "toggle_pb6", "reset", "wait")
PORTS = (ORB, ORA, ORA_NO_HANDSHAKE)
TIMERS = Theme(ACCESSES * 3, (T1CL, T1CH, T1LL, T1LH, ACR, IFR, IER), T1_MODES)
T2_AND_SR = Theme((*ACCESSES * 3, "toggle_pb6"), (T2CL, T2CL, T2CH, ACR, IFR, IER), SR_MODES)
PULSES = Theme(
    (*ACCESSES, *["toggle_pb6"] * 16),
    (T2CL, T2CL, T2CH, ACR, SR, IFR, IER),
    tuple(ACR_T2_PULSES | mode for mode in SR_MODES) + SR_MODES[1:2],
)
# Little but accesses to SR: bytes are completed.
BYTES = Theme(
    ("read", "write", "share", "cb2", "cb2", *["wait"] * 20),
    (SR, SR, SR, SR, SR, T2CL, T2CH, ACR, IFR, IER),
    SR_MODES[1:3] + SR_MODES[4:7],
)
SHIFTS = Theme(
    ("read", "write", "write", "share", "cb1", "cb2", *["wait"] * 4),
    (SR, SR, SR, T2CL, T2CH, ACR, ACR, ACR, IFR, IER),
    SR_MODES,
)
CLOCKED_FROM_OUTSIDE = Theme(
    ("read", "write", *["cb2"] * 4, *["cb1"] * 32),
    (SR, ACR, PCR, IFR, IER),
    (SR_MODES[0], *[SR_MODES[3], SR_MODES[7]] * 4, *SR_MODES),
)
HANDSHAKES = Theme(
    (*ACCESSES, *LINES * 3, "pins_a", "pins_b"),
    (*PORTS * 3, *[PCR] * 6, IFR, IER, ACR),
    (*[0, 1, 2, 3] * 4, *SR_MODES),
    (0x88, 0x88, 0x99, 0x98, 0xAA, 0xBB, 0x8A, 0xA8, 0x00, 0x22, 0x66, 0x44, 0xEE, 0xCC, 0x55),
)
WHOLE = Theme(
    EVERYTHING,
    tuple(range(16)),
    tuple(
        t1 | t2 | sr | latches
        for t1 in T1_MODES for t2 in (0, ACR_T2_PULSES) for sr in SR_MODES for latches in range(4)
    ),
)  # fmt: skip
THEMES = (TIMERS, T2_AND_SR, PULSES, BYTES, SHIFTS, CLOCKED_FROM_OUTSIDE, HANDSHAKES, WHOLE)

# Counters mostly start small, so that programs see many timeouts; flags are mostly enabled.
LOW_VALUES = (0, 1, 2, 3, 5, 9, 0x40, 0x60, 0xFE, 0xFF)
HIGH_VALUES = (0, 0, 0, 0, 1, 2)
IER_VALUES = (0xFF, 0xFF, 0x84, 0xE0, 0xC0, 0xA0, 0x40, 0x20)
SR_VALUES = (0x00, 0x01, 0x5A, 0x80, 0xFE, 0xFF)
NARROW = {T1CH: HIGH_VALUES, T1LH: HIGH_VALUES, T2CH: HIGH_VALUES, IER: IER_VALUES, SR: SR_VALUES}


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
    if register == PCR:
        return theme.pcr_values
    return NARROW.get(register, LOW_VALUES)


def random_program(rng: random.Random, steps: int, longest_gap: int) -> Iterator[Action]:
    """Yield actions; the theme changes now and then."""
    for step in range(steps):
        if step % 40 == 0:
            theme = rng.choice(THEMES)
        anchor = rng.choice(ANCHORS)
        gap = rng.choice([0, 1, 2, rng.randrange(longest_gap)]) if anchor == "now" else rng.randrange(-2, 6)
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
            "ca1",
            "ca2",
            "cb1",
            "cb2",
            "t1_underflows",
            "t1_flag_half",
            "t2_flag_half",
        )
    }
    seen["port_a"] = (chip.port_a_output(), chip.port_a_levels())
    seen["port_b"] = (chip.port_b_output(), chip.port_b_levels())
    if isinstance(chip, Mos6522Stepwise):
        scratch: Mos6522 | Mos6522Stepwise = copy.deepcopy(chip)
    else:
        scratch = Mos6522()
        scratch.restore(chip.snapshot())
    seen["IFR"] = scratch.read_here(IFR)
    seen["registers"] = bytes(scratch.read_here(register) for register in range(16)).hex()
    return seen


def outputs(chip: Mos6522Stepwise) -> tuple[bool, ...]:
    """Return the levels of what can be watched, in the order of OUTPUTS."""
    return chip.irq, chip.pb7, chip.ca2, chip.cb1, chip.cb2


class Pair:
    """The closed form and the oracle, doing the same."""

    def __init__(self, variant: str = "nmos", timeout_beats: int = TIMEOUT_BEATS) -> None:
        self.closed = Mos6522(variant, timeout_beats)
        self.stepwise = Mos6522Stepwise(variant, timeout_beats)
        self.steps = 0

    def do(self, action: Action) -> None:
        """Let time pass to the action's cycle, do it on both, and compare all that can be seen."""
        self.do_at(action, self._cycle_of(action))

    def do_at(self, action: Action, cycle: int) -> None:
        """Do the same in a given cycle."""
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
        promised = {watch: self.closed.next_event(watch) for watch in OUTPUTS}
        assert self.closed.next_event(sum(OUTPUTS)) == min(promised.values())
        assert self.closed.next_event(0) == NEVER
        before = outputs(oracle)
        first_change: dict[int, int] = {}
        while oracle.now < cycle:
            oracle.step()
            now = outputs(oracle)
            if now != before:
                for watch, level, level_before in zip(OUTPUTS, now, before, strict=True):
                    if level != level_before:
                        first_change.setdefault(watch, 2 * oracle.now + 1)
        for watch, half in promised.items():
            if watch in first_change:
                assert half == first_change[watch], watch
            else:
                assert half > 2 * cycle + 1, watch
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
                chip.set_pins_b(chip.port_b.pins ^ PB6, cycle)
            case "ca1":
                chip.set_ca1(not chip.port_a.c1, cycle)
            case "ca2":
                chip.set_ca2(not chip.port_a.c2, cycle)
            case "cb1":
                chip.set_cb1(not chip.port_b.c1, cycle)
            case "cb2":
                chip.set_cb2(not chip.port_b.c2, cycle)
            case "set_ca1" | "set_ca2" | "set_cb1" | "set_cb2":
                getattr(chip, action.kind)(action.value, cycle)
            case "reset":
                chip.reset(cycle)
        return None
