"""Clocks against each other: looks that are bracketed tightly, spread over some seconds."""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from guestclock.host.clocks import RAW, Clock
from guestclock.host.native import Block, Native
from guestclock.readloops import SAMPLE_RECORD

TRIES = 100


@dataclass(frozen=True)
class Look:
    """One look at a clock: the reference's time in the middle of the bracket, and what the clock said.

    With machine code the reference is the TSC (``reference`` in cycles), without it CLOCK_MONOTONIC_RAW
    (in ns).  The look's error is at most half of ``width``.
    """

    clock: str
    reference: int
    said_ns: int
    width: int


Looker = Callable[[Clock], Look]


def native_looker(native: Native, tries: int = TRIES) -> Looker:
    """Look between two reads of the TSC, many times, and keep the tightest."""

    def look(clock: Clock) -> Look:
        out = Block(bytes(tries * SAMPLE_RECORD.itemsize))
        native.call("call_samples", native.clock_gettime, clock.number, tries, out.address)
        samples = np.frombuffer(out.bytes(), SAMPLE_RECORD)
        best = samples[np.argmin(samples["tsc_after"] - samples["tsc_before"])]
        before, after = int(best["tsc_before"]), int(best["tsc_after"])
        return Look(clock.name, (before + after) // 2, int(best["ns"]), after - before)

    return look


def python_looker(tries: int = TRIES, read: Callable[[int], int] = time.clock_gettime_ns) -> Looker:
    """Look between two reads of CLOCK_MONOTONIC_RAW, many times, and keep the tightest."""

    def look(clock: Clock) -> Look:
        looks = []
        for _ in range(tries):
            before, said, after = read(RAW.number), read(clock.number), read(RAW.number)
            looks.append(Look(clock.name, (before + after) // 2, said, after - before))
        return min(looks, key=lambda look: look.width)

    return look


def follow(
    look: Looker,
    clocks: Sequence[Clock],
    *,
    seconds: float,
    rounds: int,
    sleep: Callable[[float], None] = time.sleep,
    progress: Callable[[float], None] = lambda _share: None,
) -> list[Look]:
    """Look at every clock in turn, ``rounds`` times over ``seconds``."""
    looks: list[Look] = []
    for index in range(rounds):
        looks.extend(look(clock) for clock in clocks)
        if index + 1 < rounds:
            sleep(seconds / (rounds - 1))
        progress((index + 1) / rounds)
    return looks


def tsc_hz(looks: Sequence[Look]) -> float | None:
    """Return the TSC's frequency by CLOCK_MONOTONIC_RAW, first look to last; None for too few looks."""
    raw = [look for look in looks if look.clock == RAW.name]
    if len(raw) < 2 or raw[-1].said_ns <= raw[0].said_ns:
        return None
    return (raw[-1].reference - raw[0].reference) * 1e9 / (raw[-1].said_ns - raw[0].said_ns)


def resolution_ns(native: Native, clock: Clock, reads: int = 2000) -> int:
    """Return the smallest difference between unequal consecutive reads; 0 when all were equal."""
    out = Block(bytes(reads * SAMPLE_RECORD.itemsize))
    native.call("call_samples", native.clock_gettime, clock.number, reads, out.address)
    return smallest_step(np.frombuffer(out.bytes(), SAMPLE_RECORD)["ns"].astype(np.int64).tolist())


def smallest_step(values: Sequence[int]) -> int:
    """Return the smallest difference between unequal consecutive values; 0 when all are equal.

    >>> smallest_step([10, 10, 14, 20])
    4
    """
    differences = {abs(after - before) for before, after in itertools.pairwise(values)} - {0}
    return min(differences, default=0)
