"""What vectors are run on: our models, and any Python object that reads and writes registers."""

import importlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.qemu_via import Wiring
from guestclock.conformance.vector import OPTIONAL, Check, Drive, Read, Vector, Write
from guestclock.errors import BadInputError, UnavailableError

Answers = list[int]
"""What a target shows in the reads and checks of a vector, in their order."""


class TargetBrokeError(Exception):
    """The target hung, died or answered rubbish; it can take the next vector all the same."""


class CannotRunError(TargetBrokeError):
    """The target is wired so that this vector cannot be run on it: not applicable."""


class Target(Protocol):
    """Something that runs vectors."""

    name: str
    has: frozenset[str]
    """What it has of :data:`guestclock.conformance.vector.OPTIONAL`."""
    qemu_wiring: Wiring | None
    """For a QEMU, whose faults may be known deviations: what is around its VIA."""

    def run(self, vectors: Iterable[Vector]) -> Iterator[Answers | TargetBrokeError]:
        """Yield, for each vector in turn, what the target shows, or what became of it."""
        ...

    def close(self) -> None:
        """Leave nothing running."""
        ...


class Emulator(Protocol):
    """What a Python object offers to be a target; a new one is made for each vector.

    Three more methods are optional; having them says that the object has pins::

        drive(pin: str, level: int, cycle: int)    pins from outside: pa, pb, ca1, ca2, cb1, cb2
        level(pin: str, half: int) -> int          irq, pa, pb, pb7, ca2, cb1, cb2 in a half-cycle
        reset(cycle: int)                          RES

    An attribute ``lacks`` names what it has not got in spite of them, for example ``{"sr", "half"}``.
    """

    def read(self, register: int, cycle: int) -> int:
        """Return what a read of the register gives in that cycle."""
        ...

    def write(self, register: int, value: int, cycle: int) -> None:
        """Write the register in that cycle."""
        ...


LINES = ("ca1", "ca2", "cb1", "cb2")


class OurChip:
    """One of our models as an :class:`Emulator`."""

    def __init__(self, chip: Mos6522 | Mos6522Stepwise) -> None:
        self.chip = chip
        self.read = chip.read
        self.write = chip.write
        self.reset = chip.reset

    def drive(self, pin: str, level: int, cycle: int) -> None:
        """Drive a port or a control line from outside."""
        ports = {"pa": self.chip.set_pins_a, "pb": self.chip.set_pins_b}
        (ports.get(pin) or getattr(self.chip, f"set_{pin}"))(level, cycle)

    def level(self, pin: str, half: int) -> int:
        """Return a level: first half: as flags and ports read; second half: what comes next."""
        chip = self.chip
        chip.advance(half // 2)
        if pin == "irq":
            asserted = chip.irq if half % 2 else bool(chip.ifr & chip.ier)
            return int(not asserted)
        if pin in LINES:  # these change with the start of a cycle
            return int(getattr(chip, pin))
        if pin == "pa":
            return chip.port_a_levels()
        levels = chip.port_b_levels()
        if half % 2:
            levels = (levels & 0x7F) | (0x80 if chip.pb7 else 0)
        return levels if pin == "pb" else levels >> 7


class PythonTarget:
    """A new Python object for each vector."""

    qemu_wiring: Wiring | None = None

    def __init__(self, name: str, factory: Callable[[], Emulator], timeout_s: float) -> None:
        self.name = name
        self._factory = factory
        self._timeout_s = timeout_s
        self.has = offered(factory())

    def run(self, vectors: Iterable[Vector]) -> Iterator[Answers | TargetBrokeError]:
        """Yield what each vector shows; an exception of the object's costs it the vector."""
        for vector in vectors:
            try:
                with time_limit(self._timeout_s):
                    answers = run_on(self._factory(), vector)
            except Exception as error:  # whatever a stranger's code raises
                yield TargetBrokeError(f"{type(error).__name__}: {error}")
            else:
                yield answers

    def close(self) -> None:
        """Nothing is running."""


def offered(emulator: Emulator) -> frozenset[str]:
    """Return what an object has of :data:`OPTIONAL`, going by its methods and its ``lacks``."""
    has = set(OPTIONAL)
    for method, meant in (("reset", {"reset"}), ("drive", {"pins", "ca", "cb", "latch"})):
        if not hasattr(emulator, method):
            has -= meant
    if not hasattr(emulator, "level"):
        has -= {"irq", "half", "pins", "ca", "cb"}
    return frozenset(has - set(getattr(emulator, "lacks", ())))


def run_on(emulator: Any, vector: Vector) -> Answers:
    """Take an emulator through a vector; return what it shows."""
    answers: Answers = []
    for step in vector.steps:
        if isinstance(step, Write):
            emulator.write(step.register, step.value, step.cycle)
        elif isinstance(step, Read):
            answers.append(_whole(emulator.read(step.register, step.cycle)))
        elif isinstance(step, Check):
            answers.append(_whole(emulator.level(step.pin, step.half)))
        elif isinstance(step, Drive):
            emulator.drive(step.pin, step.level, step.cycle)
        else:
            emulator.reset(step.cycle)
    return answers


def _whole(answer: object) -> int:
    if not isinstance(answer, int) or not 0 <= answer <= 0xFF:
        raise ValueError(f"answered {answer!r}, which is no byte")
    return int(answer)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt Python code that takes longer; a thread other than the main one gets no limit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def model(variant: str = "nmos", timeout_s: float = 60) -> PythonTarget:
    """Return our chip in closed form."""
    return PythonTarget("model", lambda: OurChip(Mos6522(variant)), timeout_s)


def stepwise(variant: str = "nmos", timeout_s: float = 60) -> PythonTarget:
    """Return our chip one cycle at a time."""
    return PythonTarget("model:stepwise", lambda: OurChip(Mos6522Stepwise(variant)), timeout_s)


def python_object(name: str, variant: str, timeout_s: float) -> PythonTarget:
    """Return the target ``module:factory``; the factory is called with the variant for every vector.

    Raises :class:`BadInputError` for a name of another form and :class:`UnavailableError` if the module
    cannot be imported or the factory makes nothing usable.
    """
    module_name, colon, factory_name = name.partition(":")
    if not colon or not module_name or not factory_name:
        raise BadInputError(
            f"target {name!r}: model[:NAME], qemu[:PATH][,via=2], exec:COMMAND or MODULE:FACTORY"
            " (docs/conformance.md)"
        )
    try:
        factory = getattr(importlib.import_module(module_name), factory_name)
        target = PythonTarget(name, lambda: factory(variant), timeout_s)
        emulator = factory(variant)
    except Exception as error:  # whatever a stranger's code raises
        raise UnavailableError(f"target {name} cannot start: {type(error).__name__}: {error}") from None
    for method in ("read", "write"):
        if not callable(getattr(emulator, method, None)):
            raise UnavailableError(f"target {name} cannot start: {type(emulator).__name__} has no {method}()")
    return target
