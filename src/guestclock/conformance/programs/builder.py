"""What programs are written with."""

from collections.abc import Sequence

from guestclock.chips.mos6522 import TIMEOUT_BEATS
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import IFR_T1, IFR_T2, T1CH, T1CL, T2CH, T2CL, WRITE_IFR
from guestclock.conformance.facts import FACTS
from guestclock.conformance.runner import accepts
from guestclock.conformance.targets import Answers, OurChip, run_on
from guestclock.conformance.vector import Check, Drive, Read, Reset, Step, Vector, Write, observed, place

RECORDED_ON = {
    "V": "MOS 6522s in VIC-20s and 1541s",
    "B": "BBC Model B and Master",
    "M": "Mockingboards, a WDC 65C22 among them",
    "D": "data sheets",
}

LOAD = 10
"""The cycle in which most programs write a counter's high byte: k = 0."""


class Timer:
    """What T1 and T2 have in common."""

    def __init__(self, name: str, low: int, high: int, flag: int) -> None:
        self.name, self.low, self.high, self.flag = name, low, high, flag


T1 = Timer("T1", T1CL, T1CH, IFR_T1)
T2 = Timer("T2", T2CL, T2CH, IFR_T2)


class Program:
    """Steps in any order, with what the fact says they show; :meth:`vector` lets the chip say the rest.

    ``grade`` and ``source`` come from the fact's evidence unless the program is about what nobody has
    recorded (``model``), about what recordings disagree on (``contested``), or about pins, of which the
    recordings of a fact say nothing (``data-sheet``).
    """

    def __init__(self, name: str, fact: int | None, claim: str, grade: str = "") -> None:
        self.name = name
        self.fact = fact
        self.claim = claim
        evidence = "D" if fact is None else FACTS[fact].evidence
        recordings = [letter for letter in "VBM" if letter in evidence]
        graded = ("data-sheet", "recorded", "recorded-several", "recorded-several")[len(recordings)]
        self.grade = grade or graded
        letters = ["D"] if self.grade == "data-sheet" else recordings
        self.source = "model" if grade == "model" else "; ".join(RECORDED_ON[letter] for letter in letters)
        if fact == 4 and self.grade != "model":
            self.source += "; the pin as the CPU's interrupts show it"
        self.steps: list[Step] = []

    def write(self, at: int, register: int, value: int) -> None:
        """Write a register."""
        self.steps.append(Write(at, register, value))

    def load(self, timer: Timer, count: int, at: int = LOAD) -> None:
        """Start a timer, its high byte being written in that cycle."""
        self.write(at - 1, timer.low, count & 0xFF)
        self.write(at, timer.high, count >> 8)

    def read(self, at: int, register: int, fact_says: int | None = None, mask: int = 0xFF) -> None:
        """Read a register."""
        self.steps.append(Read(at, register, () if fact_says is None else (fact_says & mask,), mask))

    def touch(self, at: int, register: int) -> None:
        """Read a register for the effect of it; the value does not matter."""
        self.steps.append(Read(at, register, (), 0))

    def read_count(self, at: int, timer: Timer, fact_says: int) -> None:
        """Read the low byte of a counter that shows so much."""
        self.read(at, timer.low, fact_says & 0xFF)

    def drive(self, at: int, pin: str, level: int) -> None:
        """Drive a pin or port from outside."""
        self.steps.append(Drive(at, pin, level))

    def check(self, half: int, pin: str, fact_says: int, mask: int = 0xFF) -> None:
        """Look at a pin or port in a half-cycle."""
        self.steps.append(Check(half, pin, (fact_says & mask,), mask))

    def reset(self, at: int) -> None:
        """Pull RES."""
        self.steps.append(Reset(at))

    def vector(self) -> Vector:
        """Return the vector; AssertionError if the chip disagrees with the fact."""
        draft = Vector(
            self.name,
            tuple(sorted(self.steps, key=place)),
            self.name.partition(".")[0],
            self.fact,
            self.claim,
            self.grade,
            self.source,
        )
        default = _shown(draft, TIMEOUT_BEATS)
        for step, answer in zip(observed(draft.steps), default, strict=True):
            assert accepts(step, answer), f"{self.name}: {step}, but the chip shows {answer:02x}"
        columns = [default]
        if self.grade == "contested":
            columns.append(_shown(draft, TIMEOUT_BEATS | WRITE_IFR))
        return _with_values(draft, columns)


def _shown(vector: Vector, timeout_beats: int) -> Answers:
    return run_on(OurChip(Mos6522Stepwise(timeout_beats=timeout_beats)), vector)


def _with_values(vector: Vector, columns: Sequence[Answers]) -> Vector:
    """Return the vector expecting what the chips showed, every value once, in each step that matters."""
    shown = zip(*columns, strict=True)
    steps: list[Step] = []
    for step in vector.steps:
        if isinstance(step, Read | Check):
            values = tuple(dict.fromkeys(answer & step.mask for answer in next(shown)))
            mute = step.mask == 0
            steps.append(step._replace(values=() if mute else values, mask=0xFF if mute else step.mask))
        else:
            steps.append(step)
    return Vector(
        vector.name, tuple(steps), vector.feature, vector.fact, vector.claim, vector.grade, vector.source
    )


def t1_count(loaded: int, k: int) -> int:
    """Return what T1 shows k cycles after its load: N ... 0, FFFF, and again (facts 1, 2).

    >>> [f"{t1_count(2, k):04x}" for k in range(1, 6)]
    ['0002', '0001', '0000', 'ffff', '0002']
    """
    return (loaded - (k - 1) % (loaded + 2)) & 0xFFFF


def t2_count(loaded: int, k: int) -> int:
    """Return what T2 shows k cycles after its load (facts 1, 12)."""
    return (loaded - (k - 1)) & 0xFFFF


def timeout(loaded: int, at: int = LOAD) -> int:
    """Return the cycle that shows FFFF, in which the flag can first be read: k = N + 2 (fact 3)."""
    return at + loaded + 2


def falls(loaded: int, at: int = LOAD) -> int:
    """Return the half-cycle in which a pin follows: the middle of k = N + 1 (fact 4)."""
    return 2 * (at + loaded + 1) + 1
