"""What readers and writers of a clock page do, one step at a time.

A program is a tuple of steps in program order.  It is data: ``run`` executes it in order with real
numbers, ``interleave`` in every order that a machine may show.  Registers are names; a formula is
named too, so that each executor brings its own arithmetic.

A program has no loops.  A reader that finds its page changed starts again, and an attempt that came
to nothing leaves nothing behind, so `Branch` just ends the attempt.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeAlias


class Barrier(Enum):
    """Barriers: first those that programs are written with, then the instructions they become."""

    READ = auto()  # loads before it are done before loads behind it: virt_rmb()
    WRITE = auto()  # stores before it are seen before stores behind it: virt_wmb()
    BEFORE_COUNTER = auto()  # nothing behind it runs before what is above: rdtsc_ordered(), isb
    AFTER_COUNTER = auto()  # the counter read above it is done before what is behind it
    SETTLE = auto()  # all above it is seen by everybody before anything behind it runs

    LFENCE = auto()
    MFENCE = auto()
    DMB = auto()
    DMB_LD = auto()
    DMB_ST = auto()
    DSB = auto()
    ISB = auto()


class Order(Enum):
    """What an access promises about its neighbours (arm64: ldar, stlr; x86: every access)."""

    PLAIN = auto()
    ACQUIRE = auto()
    RELEASE = auto()


@dataclass(frozen=True, slots=True)
class At:
    """A place in memory: a field of a page; ``page`` is a number or the register that holds it."""

    field: str
    page: int | str = 0


@dataclass(frozen=True, slots=True)
class Load:
    """``to`` = memory; ``after`` names registers that its address is made from."""

    to: str
    at: At
    order: Order = Order.PLAIN
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Store:
    """Memory = a constant or a register; with ``when``, only if that register is true."""

    at: At
    value: int | str
    order: Order = Order.PLAIN
    when: str = ""
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompareSwap:
    """A locked, fully ordered compare-and-swap; when memory differs from ``expected``, start again."""

    at: At
    expected: str
    value: str
    when: str = ""


@dataclass(frozen=True, slots=True)
class Counter:
    """``to`` = the counter of this vCPU; ``ticks`` have passed since anybody last read one."""

    to: str
    ticks: int = 1


@dataclass(frozen=True, slots=True)
class Vcpu:
    """``to`` = the number of the vCPU that runs this (getcpu: lsl or rdpid)."""

    to: str


@dataclass(frozen=True, slots=True)
class Fence:
    """A barrier."""

    barrier: Barrier


@dataclass(frozen=True, slots=True)
class Compute:
    """``to`` = formula(registers): costs nothing, orders nothing, but passes dependencies on."""

    to: str
    formula: str
    of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """Go on when formula(registers) holds, else start again.  A processor may run ahead of it."""

    formula: str
    of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """A read is complete; its result is in ``value``."""

    value: str


@dataclass(frozen=True, slots=True)
class Stop:
    """All vCPUs leave the guest, with nothing in flight, and stay out."""


@dataclass(frozen=True, slots=True)
class Resume:
    """The vCPUs may enter the guest again."""


@dataclass(frozen=True, slots=True)
class Migrate:
    """The guest's scheduler moves a thread to another vCPU, with nothing in flight."""

    thread: int
    vcpu: int


Step: TypeAlias = (
    Load | Store | CompareSwap | Counter | Vcpu | Fence | Compute | Branch | Finish | Stop | Resume | Migrate
)
Program: TypeAlias = tuple[Step, ...]
Memory: TypeAlias = dict[At, int]
Formula: TypeAlias = Callable[..., Any]


def renamed(program: Program, suffix: str) -> Program:
    """Return a program with a suffix on every register, so that one thread may run it twice."""

    def named(*registers: str) -> tuple[str, ...]:
        return tuple(register and register + suffix for register in registers)

    def placed(at: At) -> At:
        return At(at.field, at.page + suffix) if isinstance(at.page, str) else at

    steps: list[Step] = []
    for step in program:
        match step:
            case Load(to, at, order, after):
                steps.append(Load(to + suffix, placed(at), order, named(*after)))
            case Store(at, value, order, when, after):
                written = value + suffix if isinstance(value, str) else value
                steps.append(Store(placed(at), written, order, named(when)[0], named(*after)))
            case CompareSwap(at, expected, value, when):
                steps.append(CompareSwap(placed(at), *named(expected, value, when)))
            case Counter(to, ticks):
                steps.append(Counter(to + suffix, ticks))
            case Vcpu(to):
                steps.append(Vcpu(to + suffix))
            case Compute(to, formula, of):
                steps.append(Compute(to + suffix, formula, named(*of)))
            case Branch(formula, of):
                steps.append(Branch(formula, named(*of)))
            case Finish(value):
                steps.append(Finish(value + suffix))
            case _:
                steps.append(step)
    return tuple(steps)


class StartAgainError(Exception):
    """A branch of a program was not taken: the attempt came to nothing."""


def run(
    program: Program,
    memory: Memory,
    counter: Callable[[], int],
    formulas: Mapping[str, Formula],
    registers: Mapping[str, int] | None = None,
) -> int:
    """Execute a program in order, on vCPU 0, and return the result of its last `Finish` (or 0).

    Stores change ``memory``.  Raises StartAgainError where a branch is not taken.
    """
    known = dict(registers or {})
    result = 0

    def place(at: At) -> At:
        return At(at.field, known[at.page]) if isinstance(at.page, str) else at

    for step in program:
        match step:
            case Load(to, at):
                known[to] = memory[place(at)]
            case Store(at, value, when=when):
                if not when or known[when]:
                    memory[place(at)] = known[value] if isinstance(value, str) else value
            case CompareSwap(at, expected, value, when):
                if not when or known[when]:
                    if memory[place(at)] != known[expected]:
                        raise StartAgainError
                    memory[place(at)] = known[value]
            case Counter(to):
                known[to] = counter()
            case Vcpu(to):
                known[to] = 0
            case Compute(to, formula, of):
                known[to] = formulas[formula](*(known[name] for name in of))
            case Branch(formula, of):
                if not formulas[formula](*(known[name] for name in of)):
                    raise StartAgainError
            case Finish(value):
                result = known[value]
    return result
