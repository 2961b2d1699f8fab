"""x86-TSO and Armv8-A as axioms: the oracle of the machine that executes programs step by step.

Candidate executions are enumerated (which store each load reads from, in which order stores to a
place are seen) and those kept whose relations have no cycle:

- x86-TSO: Alglave, Maranget, Tautschnig, "Herding cats", 2014, section 4.8
- Armv8-A: Pulte and others, "Simplifying ARM concurrency", 2018; Arm ARM B2.3

Programs may use loads, stores of constants, barriers, and (false) address, data and control
dependencies.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations, product

from guestclock.pvclock.steps import At, Barrier, Branch, Compute, Fence, Load, Order, Program, Store

Pairs = set[tuple[int, int]]
Outcome = tuple[tuple[int, ...], tuple[int, ...]]  # what each load saw, what each place holds in the end


@dataclass(frozen=True)
class Access:
    number: int
    thread: int
    position: int
    load: bool
    at: At
    value: int  # of a store
    order: Order
    address: frozenset[str]
    data: frozenset[str]
    to: str


@dataclass(frozen=True)
class Test:
    """The accesses of a litmus test and the relations that its programs fix."""

    programs: tuple[Program, ...]
    accesses: tuple[Access, ...]

    def between(self, a: Access, b: Access) -> list[Barrier]:
        steps = self.programs[a.thread][a.position : b.position]
        return [step.barrier for step in steps if isinstance(step, Fence)]

    def po(self) -> Iterator[tuple[Access, Access]]:
        for a, b in product(self.accesses, repeat=2):
            if a.thread == b.thread and a.position < b.position:
                yield a, b

    def controls(self, a: Access, thread: int, position: int) -> bool:
        """Does a branch before a position depend on a load?"""
        return (
            a.load
            and a.thread == thread
            and any(
                isinstance(step, Branch) and a.to in step.of and where < position
                for where, step in enumerate(self.programs[thread])
            )
        )


def litmus(programs: tuple[Program, ...]) -> Test:
    accesses: list[Access] = []
    for thread, program in enumerate(programs):
        constants: dict[str, tuple[int, frozenset[str]]] = {}
        for position, step in enumerate(program):
            if isinstance(step, Compute):
                constants[step.to] = (int(step.formula), frozenset(step.of))
            elif isinstance(step, Load):
                accesses.append(
                    Access(
                        *(len(accesses), thread, position, True, step.at, 0, step.order),
                        *(frozenset(step.after), frozenset(), step.to),
                    )
                )
            elif isinstance(step, Store):
                value, data = (
                    constants[step.value] if isinstance(step.value, str) else (step.value, frozenset[str]())
                )
                accesses.append(
                    Access(
                        *(len(accesses), thread, position, False, step.at, value, step.order),
                        *(frozenset(step.after), data, ""),
                    )
                )
    return Test(programs, tuple(accesses))


def outcomes(test: Test, allowed: Callable[[Test, Pairs, Pairs, Pairs], bool]) -> set[Outcome]:
    """Return what the loads may see and the places may hold; an initial value is 0."""
    places = sorted({a.at for a in test.accesses}, key=lambda at: at.field)
    stores = {at: [a for a in test.accesses if not a.load and a.at == at] for at in places}
    loads = [a for a in test.accesses if a.load]
    seen: set[Outcome] = set()
    for orders in product(*(permutations(stores[at]) for at in places)):
        co = {(a.number, b.number) for order in orders for i, a in enumerate(order) for b in order[i + 1 :]}
        for sources in product(*([None, *stores[load.at]] for load in loads)):
            rf = {
                (source.number, load.number)
                for source, load in zip(sources, loads, strict=True)
                if source is not None
            }
            fr = {
                (load.number, store.number)
                for source, load in zip(sources, loads, strict=True)
                for store in stores[load.at]
                if source is None or (source.number, store.number) in co
            }
            if allowed(test, rf, co, fr):
                seen.add(
                    (
                        tuple(0 if source is None else source.value for source in sources),
                        tuple(order[-1].value if order else 0 for order in orders),
                    )
                )
    return seen


def acyclic(pairs: Pairs) -> bool:
    after: dict[int, set[int]] = {}
    for a, b in pairs:
        after.setdefault(a, set()).add(b)
    while True:
        ends = {a for a, bs in after.items() if not bs & after.keys()}
        if not ends:
            return not after
        for a in ends:
            del after[a]


def external(test: Test, pairs: Pairs) -> Pairs:
    return {(a, b) for a, b in pairs if test.accesses[a].thread != test.accesses[b].thread}


def per_place(test: Test) -> Pairs:
    return {(a.number, b.number) for a, b in test.po() if a.at == b.at}


def x86_tso(test: Test, rf: Pairs, co: Pairs, fr: Pairs) -> bool:
    ppo = {
        (a.number, b.number)
        for a, b in test.po()
        if a.load or not b.load or Barrier.MFENCE in test.between(a, b)
    }
    return acyclic(per_place(test) | rf | co | fr) and acyclic(ppo | external(test, rf) | co | fr)


def arm64(test: Test, rf: Pairs, co: Pairs, fr: Pairs) -> bool:
    observed = external(test, rf | co | fr)
    locally = {(a.number, b.number) for a, b in test.po() if _dob(test, a, b) or _bob(test, a, b)}
    through = {
        (a.number, c)
        for a, b in test.po()
        for s, c in rf
        if s == b.number and test.accesses[c].thread == b.thread and a.load and a.to in b.address | b.data
    }  # (addr | data);rfi
    return acyclic(per_place(test) | rf | co | fr) and acyclic(observed | locally | through)


def _dob(test: Test, a: Access, b: Access) -> bool:
    if a.load and a.to in b.address | b.data:
        return True
    addressed_before = any(
        other.thread == a.thread and a.position < other.position < b.position and a.to in other.address
        for other in test.accesses
    )
    if not b.load:
        return a.load and (test.controls(a, b.thread, b.position) or addressed_before)
    for where, step in enumerate(test.programs[a.thread]):
        if step == Fence(Barrier.ISB) and a.position < where < b.position and a.load:
            addressed = any(
                other.thread == a.thread and a.position < other.position < where and a.to in other.address
                for other in test.accesses
            )
            if test.controls(a, a.thread, where) or addressed:
                return True
    return False


def _bob(test: Test, a: Access, b: Access) -> bool:
    between = test.between(a, b)
    return (
        Barrier.DMB in between
        or (a.load and Barrier.DMB_LD in between)
        or (not a.load and not b.load and Barrier.DMB_ST in between)
        or a.order is Order.ACQUIRE
        or b.order is Order.RELEASE
        or (a.order is Order.RELEASE and b.order is Order.ACQUIRE)
        or (a.at == b.at and not b.load)  # lws: a local write successor
    )
