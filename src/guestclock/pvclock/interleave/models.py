"""The machines: which step of a program must be done before which later one may be.

A model is two functions: ``lower`` turns the barriers that programs are written with into the
machine's own, ``ordered`` says of two steps of one thread whether the first must be done before the
second.  What is not ordered may happen in either order.  A store "is done" when every other vCPU
sees it; a load may take the value of a store of its own thread before that (`machine`).

- x86: Owens, Sarkar, Sewell, "A better x86 memory model: x86-TSO", 2009; for RDTSC, Intel SDM vol. 2,
  "RDTSC": it waits for nothing before it, nothing behind it waits for it, and LFENCE orders both.
- arm64: Arm ARM B2.3 (the aarch64 ordered-before relation, other-multi-copy-atomic); for the counter,
  D11.1.2: it may be read early and late, ISB behind a branch on a load orders it behind that load.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from guestclock.errors import BadInputError
from guestclock.pvclock.interleave.threads import Event, Thread
from guestclock.pvclock.steps import (
    At,
    Barrier,
    CompareSwap,
    Counter,
    Fence,
    Load,
    Order,
    Program,
    Step,
    Store,
)


@dataclass(frozen=True)
class Model:
    """A machine: its name, what it is, and its two functions."""

    name: str
    title: str
    lower: Callable[[Program], Program]
    ordered: Callable[[Thread, Event, Event], bool]


def _replaced(program: Program, instructions: dict[Barrier, tuple[Step, ...]]) -> Iterable[Step]:
    for step in program:
        if isinstance(step, Fence) and step.barrier in instructions:
            yield from instructions[step.barrier]
        else:
            yield step


def lower_x86(program: Program) -> Program:
    """Read and write barriers only bind the compiler; the counter's are LFENCE."""
    return tuple(
        _replaced(
            program,
            {
                Barrier.READ: (),
                Barrier.WRITE: (),
                Barrier.BEFORE_COUNTER: (Fence(Barrier.LFENCE),),
                Barrier.AFTER_COUNTER: (Fence(Barrier.LFENCE),),
                Barrier.SETTLE: (Fence(Barrier.MFENCE), Fence(Barrier.LFENCE)),
            },
        )
    )


def lower_arm64(program: Program) -> Program:
    """What Linux writes; behind the counter, a load whose address is made from its value."""
    steps: list[Step] = []
    counter = ""
    for step in program:
        if isinstance(step, Counter):
            counter = step.to
        if step == Fence(Barrier.AFTER_COUNTER):
            # arch_counter_enforce_ordering(): read barriers order this load, and it waits for the counter.
            steps.append(Load(f"after_{counter}", At("stack"), after=(counter,)))
        else:
            steps.append(step)
    return tuple(
        _replaced(
            tuple(steps),
            {
                Barrier.READ: (Fence(Barrier.DMB_LD),),
                Barrier.WRITE: (Fence(Barrier.DMB_ST),),
                Barrier.BEFORE_COUNTER: (Fence(Barrier.ISB),),
                Barrier.SETTLE: (Fence(Barrier.DSB), Fence(Barrier.ISB)),
            },
        )
    )


def ordered_x86(thread: Thread, first: Event, then: Event) -> bool:
    """Loads stay in order, stores stay in order and behind loads; RDTSC only heeds LFENCE."""
    if first.serialising or then.serialising or first.index in then.inputs:
        return True
    between = thread.barriers_between(first, then)
    if then.writes and (first.reads or first.writes or isinstance(first.step, Counter)):
        return True  # in-order retirement: a store is seen by others after all above it is done
    if first.reads and then.reads:
        return True
    if isinstance(first.step, CompareSwap) and then.reads:
        return True
    if first.writes and then.reads and Barrier.MFENCE in between:
        return True
    if not first.writes and Barrier.LFENCE in between:
        return True
    # SDM: MFENCE;LFENCE is what waits until stores are seen.
    return Barrier.MFENCE in between and Barrier.LFENCE in between[between.index(Barrier.MFENCE) :]


def ordered_x86_as_load(thread: Thread, first: Event, then: Event) -> bool:
    """As x86, but RDTSC right behind a barrier is ordered like a load from memory.

    Nothing in the manuals promises it; ``rdtsc_ordered()`` in arch/x86/include/asm/msr.h builds on it.
    """
    if isinstance(first.step, Counter) and Fence(Barrier.LFENCE) == thread.program[first.position - 1]:
        return True
    return ordered_x86(thread, first, then)


def ordered_arm64(thread: Thread, first: Event, then: Event) -> bool:
    """The local part of ordered-before; the names are those of the Arm ARM's cat model."""
    if first.serialising or then.serialising or first.index in then.inputs:
        return True  # addr, data
    if then.writes and (first.index in thread.controls(then.position) or thread.addresses(first, then)):
        return True  # ctrl;[W] and addr;po;[W]
    if (first.reads or first.writes) and then.writes and first.same_place(then):
        return True  # po-loc
    memory = (first.reads or first.writes) and (then.reads or then.writes)
    return (memory and _ordered_by_access(thread, first, then)) or _ordered_by_barrier(
        thread, first, then, memory
    )


def _ordered_by_access(thread: Thread, first: Event, then: Event) -> bool:
    acquire = isinstance(first.step, Load) and first.step.order is Order.ACQUIRE
    release = isinstance(then.step, Store) and then.step.order is Order.RELEASE
    if acquire or release:
        return True
    if isinstance(first.step, CompareSwap) or isinstance(then.step, CompareSwap):
        return True
    # [L];po;[A]
    return (
        isinstance(first.step, Store)
        and first.step.order is Order.RELEASE
        and isinstance(then.step, Load)
        and then.step.order is Order.ACQUIRE
    )


def _ordered_by_barrier(thread: Thread, first: Event, then: Event, memory: bool) -> bool:
    between = thread.barriers_between(first, then)
    if Barrier.DSB in between and (first.reads or first.writes):
        return True
    if Barrier.ISB in between:
        isb = thread.last_barrier(Barrier.ISB, then)
        if first.index in thread.controls(isb) or thread.addresses_before(first, isb):
            return True  # (ctrl | addr;po);[ISB];po
    if not memory:
        return False
    return (
        Barrier.DMB in between
        or (Barrier.DMB_LD in between and first.reads)
        or (Barrier.DMB_ST in between and isinstance(first.step, Store) and isinstance(then.step, Store))
    )


MODELS = {
    model.name: model
    for model in (
        Model("x86-tso", "x86-TSO; RDTSC runs early or late unless fenced (SDM)", lower_x86, ordered_x86),
        Model(
            "x86-as-load",
            "x86-TSO; RDTSC behind a barrier is ordered like a load (what Linux relies on)",
            lower_x86,
            ordered_x86_as_load,
        ),
        Model("arm64", "Armv8-A; loads, stores and the counter in any order", lower_arm64, ordered_arm64),
    )
}


def find_model(name: str) -> Model:
    """Return the model of a name; BadInputError lists those there are."""
    if name not in MODELS:
        raise BadInputError(f"model {name!r}: there are {', '.join(MODELS)}")
    return MODELS[name]
