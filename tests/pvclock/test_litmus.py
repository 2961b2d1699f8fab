"""The machine against published litmus tests and, on random programs, against the axioms."""

import pytest
from axioms import Outcome, arm64, litmus, outcomes, x86_tso
from hypothesis import given, settings
from hypothesis import strategies as st

from guestclock.pvclock.interleave.explorer import final_states
from guestclock.pvclock.interleave.machine import Machine, System
from guestclock.pvclock.interleave.models import MODELS
from guestclock.pvclock.steps import (
    At,
    Barrier,
    Branch,
    Compute,
    Counter,
    Fence,
    Finish,
    Load,
    Order,
    Program,
    Step,
    Store,
)

# Nothing here is compiled: the second build would show the same.
pytestmark = pytest.mark.compiled_only

FORMULAS = {str(value): (lambda *_, value=value: value) for value in range(20)} | {"always": lambda _: True}
X, Y, Z = At("x"), At("y"), At("z")
MFENCE, LFENCE = Fence(Barrier.MFENCE), Fence(Barrier.LFENCE)
DMB, DMB_LD, DMB_ST, ISB = (
    Fence(barrier) for barrier in (Barrier.DMB, Barrier.DMB_LD, Barrier.DMB_ST, Barrier.ISB)
)


def executed(programs: tuple[Program, ...], model: str) -> set[Outcome]:
    """Return the outcomes that the explorer reaches, in the terms of the axioms."""
    watched = tuple(
        program + tuple(Finish(step.to) for step in program if isinstance(step, Load)) for program in programs
    )
    system = System(tuple((f"P{number}", program) for number, program in enumerate(watched)), {}, FORMULAS)
    machine = Machine(system, MODELS[model])
    places = [index for _, index in sorted(machine.places.items(), key=lambda item: item[0].field)]
    return {
        (state.results, tuple(state.memory[place] for place in places)) for state in final_states(machine)
    }


def seen(programs: tuple[Program, ...], model: str) -> set[tuple[int, ...]]:
    """Return what the loads may see together."""
    return {loads for loads, _ in executed(programs, model)}


def w(at: At, value: int, order: Order = Order.PLAIN, after: tuple[str, ...] = ()) -> Store:
    return Store(at, value, order, after=after)


def r(to: str, at: At, order: Order = Order.PLAIN, after: tuple[str, ...] = ()) -> Load:
    return Load(to, at, order, after)


def data(at: At, value: int, register: str) -> tuple[Step, ...]:
    return Compute(f"d{value}", str(value), (register,)), Store(at, f"d{value}")


CTRL = Branch("always", ("a",))
A, L = Order.ACQUIRE, Order.RELEASE

# name -> (programs, what the loads see, allowed on x86-TSO, allowed on arm64)
# x86: Owens, Sarkar, Sewell 2009 (their names in brackets); arm64: Pulte and others 2018, Maranget's tables.
PUBLISHED: dict[str, tuple[tuple[Program, ...], tuple[int, ...], bool, bool]] = {
    "SB": (((w(X, 1), r("a", Y)), (w(Y, 1), r("b", X))), (0, 0), True, True),
    "SB+mfences": (((w(X, 1), MFENCE, r("a", Y)), (w(Y, 1), MFENCE, r("b", X))), (0, 0), False, True),
    "SB+dmbs": (((w(X, 1), DMB, r("a", Y)), (w(Y, 1), DMB, r("b", X))), (0, 0), True, False),
    "SB+stlr-ldar": (((w(X, 1, L), r("a", Y, A)), (w(Y, 1, L), r("b", X, A))), (0, 0), True, False),
    "SB+rfis (iwp2.4)": (
        ((w(X, 1), r("a", X), r("b", Y)), (w(Y, 1), r("c", Y), r("d", X))),
        (1, 0, 1, 0),
        True,
        True,
    ),
    "MP (iwp2.1)": (((w(X, 1), w(Y, 1)), (r("a", Y), r("b", X))), (1, 0), False, True),
    "MP+dmb+po": (((w(X, 1), DMB, w(Y, 1)), (r("a", Y), r("b", X))), (1, 0), False, True),
    "MP+dmbs": (((w(X, 1), DMB, w(Y, 1)), (r("a", Y), DMB, r("b", X))), (1, 0), False, False),
    "MP+dmb.st+dmb.ld": (
        ((w(X, 1), DMB_ST, w(Y, 1)), (r("a", Y), DMB_LD, r("b", X))),
        (1, 0),
        False,
        False,
    ),
    "MP+dmb.ld+dmb.ld": (
        ((w(X, 1), DMB_LD, w(Y, 1)), (r("a", Y), DMB_LD, r("b", X))),
        (1, 0),
        False,
        True,
    ),
    "MP+dmb+addr": (((w(X, 1), DMB, w(Y, 1)), (r("a", Y), r("b", X, after=("a",)))), (1, 0), False, False),
    "MP+dmb+ctrl": (((w(X, 1), DMB, w(Y, 1)), (r("a", Y), CTRL, r("b", X))), (1, 0), False, True),
    "MP+dmb+ctrlisb": (((w(X, 1), DMB, w(Y, 1)), (r("a", Y), CTRL, ISB, r("b", X))), (1, 0), False, False),
    "MP+dmb+isb": (((w(X, 1), DMB, w(Y, 1)), (r("a", Y), ISB, r("b", X))), (1, 0), False, True),
    "MP+stlr+ldar": (((w(X, 1), w(Y, 1, L)), (r("a", Y, A), r("b", X))), (1, 0), False, False),
    "MP+stlr+po": (((w(X, 1), w(Y, 1, L)), (r("a", Y), r("b", X))), (1, 0), False, True),
    "LB (iwp2.2)": (((r("a", X), w(Y, 1)), (r("b", Y), w(X, 1))), (1, 1), False, True),
    "LB+datas": (((r("a", X), *data(Y, 1, "a")), (r("b", Y), *data(X, 2, "b"))), (2, 1), False, False),
    "LB+data+po": (((r("a", X), *data(Y, 1, "a")), (r("b", Y), w(X, 1))), (1, 1), False, True),
    "LB+ctrls": (
        ((r("a", X), CTRL, w(Y, 1)), (r("a", Y), CTRL, w(X, 1))),
        (1, 1),
        False,
        False,
    ),
    "WRC": (((w(X, 1),), (r("a", X), w(Y, 1)), (r("b", Y), r("c", X))), (1, 1, 0), False, True),
    "WRC+addrs (iwp2.5)": (
        ((w(X, 1),), (r("a", X), w(Y, 1, after=("a",))), (r("b", Y), r("c", X, after=("b",)))),
        (1, 1, 0),
        False,
        False,  # stores reach all other threads at once
    ),
    "IRIW (iwp2.6)": (
        ((w(X, 1),), (w(Y, 1),), (r("a", X), r("b", Y)), (r("c", Y), r("d", X))),
        (1, 0, 1, 0),
        False,
        True,
    ),
    "IRIW+addrs": (
        (
            (w(X, 1),),
            (w(Y, 1),),
            (r("a", X), r("b", Y, after=("a",))),
            (r("c", Y), r("d", X, after=("c",))),
        ),
        (1, 0, 1, 0),
        False,
        False,
    ),
    "LB+addr-pos": (
        (
            (r("a", X), r("b", Z, after=("a",)), w(Y, 1)),
            (r("c", Y), r("d", Z, after=("c",)), w(X, 1)),
        ),
        (1, 0, 1, 0),
        False,
        False,  # no store before all addresses above it are known
    ),
    "MP+dmb+addr-isb": (
        ((w(X, 1), DMB, w(Y, 1)), (r("a", Y), r("b", Z, after=("a",)), ISB, r("c", X))),
        (1, 0, 0),
        False,
        False,
    ),
    "CoRR": (((w(X, 1),), (r("a", X), r("b", X))), (1, 0), False, False),
    "CoRW1": (((r("a", X), w(X, 1)),), (1,), False, False),
    "PPOCA": (
        (
            (w(X, 1), DMB, w(Y, 1)),
            (r("a", Y), CTRL, w(Z, 1), r("b", Z), r("c", X, after=("b",))),
        ),
        (1, 1, 0),
        False,
        True,  # a load may take a store's value before the store's branch is resolved
    ),
    "PPOAA": (
        (
            (w(X, 1), DMB, w(Y, 1)),
            (r("a", Y), w(Z, 1, after=("a",)), r("b", Z), r("c", X, after=("b",))),
        ),
        (1, 1, 0),
        False,
        False,
    ),
    "n5": (((w(X, 1), r("a", X)), (w(X, 2), r("b", X))), (2, 1), False, False),
    "n6": (((w(X, 1), r("a", X), r("b", Y)), (w(Y, 2), w(X, 2))), (1, 0), True, True),
}


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("model", ["x86-tso", "arm64"])
def test_published_litmus_tests(name: str, model: str) -> None:
    programs, loads, on_x86, on_arm64 = PUBLISHED[name]
    assert (loads in seen(programs, model)) == (on_x86 if model == "x86-tso" else on_arm64)


@pytest.mark.parametrize(
    ("name", "programs", "places", "on_x86", "on_arm64"),
    [
        ("2+2W", ((w(X, 1), w(Y, 2)), (w(Y, 1), w(X, 2))), (1, 1), False, True),
        ("2+2W+dmb.sts", ((w(X, 1), DMB_ST, w(Y, 2)), (w(Y, 1), DMB_ST, w(X, 2))), (1, 1), False, False),
        ("CoWW", ((w(X, 1), w(X, 2)),), (1,), False, False),
    ],
)
def test_published_litmus_tests_on_stores(
    name: str, programs: tuple[Program, ...], places: tuple[int, ...], on_x86: bool, on_arm64: bool
) -> None:
    for model, allowed in (("x86-tso", on_x86), ("arm64", on_arm64)):
        assert (places in {memory for _, memory in executed(programs, model)}) == allowed, (name, model)


def counted(programs: tuple[Program, ...], model: str) -> set[tuple[int, ...]]:
    """Return what loads and counter reads may say together; a counter read says its place in the order."""
    finished = tuple(
        program + tuple(Finish(step.to) for step in program if isinstance(step, Load | Counter))
        for program in programs
    )
    machine = Machine(
        System(tuple((f"P{n}", program) for n, program in enumerate(finished)), {}, FORMULAS), MODELS[model]
    )
    return {
        tuple(said[1] if isinstance(said, tuple) else said for said in state.results)
        for state in final_states(machine)
    }


C, D = Counter("c"), Counter("d")
PUBLISH = (w(X, 1), MFENCE, LFENCE, C)
ORDERED_AFTER = Load("o", At("stack"), after=("c",))  # arch_counter_enforce_ordering()


@pytest.mark.parametrize(
    ("programs", "said", "model", "allowed"),
    [
        # SDM: RDTSC waits for nothing above it, nothing below waits for it; LFENCE orders both.
        (((C, D),), (2, 1), "x86-tso", True),
        (((C, LFENCE, D),), (2, 1), "x86-tso", False),
        (((C, w(X, 1)), (r("a", X), D)), (2, 1, 1), "x86-tso", True),
        (((C, w(X, 1)), (r("a", X), LFENCE, D)), (2, 1, 1), "x86-tso", False),
        # LFENCE does not wait for a store to be seen, MFENCE alone not for RDTSC; MFENCE;LFENCE does.
        (((w(X, 1), LFENCE, C), (D, LFENCE, r("a", X))), (1, 2, 0), "x86-tso", True),
        (((w(X, 1), MFENCE, C), (D, LFENCE, r("a", X))), (1, 2, 0), "x86-tso", True),
        ((PUBLISH, (D, LFENCE, r("a", X))), (1, 2, 0), "x86-tso", False),
        # A load below RDTSC may be done first, LFENCE above or not; Linux counts on its not being so.
        ((PUBLISH, (D, r("a", X))), (1, 2, 0), "x86-tso", True),
        ((PUBLISH, (LFENCE, D, r("a", X))), (1, 2, 0), "x86-tso", True),
        ((PUBLISH, (LFENCE, D, r("a", X))), (1, 2, 0), "x86-as-load", False),
        # Arm ARM, CNTVCT_EL0: ISB orders the counter behind a load once a branch has waited for it.
        (((C, w(X, 1)), (r("a", X), D)), (2, 1, 1), "arm64", True),
        (((C, *data(X, 1, "c")), (r("a", X), ISB, D)), (2, 1, 1), "arm64", True),
        (((C, *data(X, 1, "c")), (r("a", X), CTRL, ISB, D)), (2, 1, 1), "arm64", False),
        (((C, *data(X, 1, "c")), (r("a", X, A), D)), (2, 1, 1), "arm64", True),
        # A counter read is no memory access: a release store does not wait for it, unless a load does.
        (((C, w(X, 1, L)), (r("a", X), CTRL, ISB, D)), (2, 1, 1), "arm64", True),
        (((C, ORDERED_AFTER, w(X, 1, L)), (r("a", X), CTRL, ISB, D)), (2, 0, 1, 1), "arm64", False),
        (((C, ISB, D),), (2, 1), "arm64", True),
    ],
)
def test_what_orders_the_counter(
    programs: tuple[Program, ...], said: tuple[int, ...], model: str, allowed: bool
) -> None:
    assert (said in counted(programs, model)) == allowed


@st.composite
def programs(
    draw: st.DrawFn, barriers: tuple[Barrier, ...], orders: tuple[Order, ...]
) -> tuple[Program, ...]:
    """Two or three threads with up to six accesses of two places, and dependencies among them."""
    shape = draw(st.sampled_from([(2, 2), (3, 2), (3, 3), (1, 2, 2), (2, 2, 1), (1, 1, 3), (4, 2)]))
    value = 0
    threads: list[Program] = []
    for accesses in shape:
        steps: list[Step] = []
        registers: list[str] = []
        for number in range(accesses):
            if number and draw(st.booleans()):
                steps.append(Fence(draw(st.sampled_from(barriers))))
            if registers and draw(st.integers(0, 3)) == 0:
                steps.append(Branch("always", (draw(st.sampled_from(registers)),)))
            after = (draw(st.sampled_from(registers)),) if registers and draw(st.integers(0, 3)) == 0 else ()
            order = draw(st.sampled_from(orders))
            at = draw(st.sampled_from([X, Y]))
            if draw(st.booleans()):
                register = f"r{number}"
                steps.append(r(register, at, A if order is A else Order.PLAIN, after))
                registers.append(register)
                continue
            value += 1
            order = L if order is L else Order.PLAIN
            if registers and draw(st.integers(0, 3)) == 0:
                source = draw(st.sampled_from(registers))
                steps += [
                    Compute(f"d{value}", str(value), (source,)),
                    Store(at, f"d{value}", order, after=after),
                ]
            else:
                steps.append(w(at, value, order, after))
        threads.append(tuple(steps))
    return tuple(threads)


@settings(max_examples=150, deadline=None)
@given(programs((Barrier.MFENCE, Barrier.LFENCE), (Order.PLAIN,)))
def test_x86_reaches_just_what_the_axioms_allow(tested: tuple[Program, ...]) -> None:
    assert executed(tested, "x86-tso") == outcomes(litmus(tested), x86_tso)


@settings(max_examples=250, deadline=None)
@given(programs((Barrier.DMB, Barrier.DMB_LD, Barrier.DMB_ST, Barrier.ISB), (Order.PLAIN, Order.PLAIN, A, L)))
def test_arm64_reaches_just_what_the_axioms_allow(tested: tuple[Program, ...]) -> None:
    assert executed(tested, "arm64") == outcomes(litmus(tested), arm64)
