"""This machine's clocks: what they are, what a read costs, whether they step, how they drift apart."""

import functools
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from guestclock.errors import BadInputError, UnavailableError
from guestclock.experiments import loop_tables
from guestclock.experiments.loop_tables import CycleScale
from guestclock.host import cost, drift, native, page, steps, tsc, vdso
from guestclock.host.clocks import CLOCKS, RAW, Clock, available, machine_clocks
from guestclock.host.drift import Look
from guestclock.host.identity import Identity, identify
from guestclock.host.native import Native
from guestclock.host.steps import Steps
from guestclock.host.tree import Tree
from guestclock.host.tsc import PageFacts, TscFacts
from guestclock.readings import Tables, TablesBuilder
from guestclock.readloops import CostRecords, Page, Shape

Progress = Callable[[str, float], None]
"""Told what is being done and the share that is done (0 to 1)."""

SYSTEM_CALL = " (system call)"
DRIFT = "drift"
WITHIN = "within a CPU"
BETWEEN = "between CPUs"
PYTHON = "python"
PVCLOCK_PAGE = "pvclock page"
DRIFT_ROUNDS = 41
GROUPS_IN_FULL = 10
READS_LEAST = 2_000
NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class DoctorPlan:
    """How much to look at; the defaults take about 12 s."""

    step_budget_s: float = 5.0
    drift_s: float = 4.0
    rounds: int = 8
    batch_ns: int = 300_000
    reads: int = 100_000
    python_reads: int = 10_000
    seed: int = 1
    root: Path = Path("/")
    cpus: tuple[int, ...] | None = None
    """Those to look at; None: all that this process may use."""
    load_native: Callable[[], Native] = native.load

    @classmethod
    def lasting(cls, seconds: float, seed: int = 1) -> "DoctorPlan":
        """Return a plan that takes about so long on an idle machine."""
        return cls(
            step_budget_s=seconds * 0.4,
            drift_s=seconds * 0.35,
            rounds=max(round(seconds * 0.7), 1),
            reads=max(min(round(seconds * 10_000), 100_000), 1),
            seed=seed,
        )

    def __post_init__(self) -> None:
        if min(self.step_budget_s, self.drift_s) <= 0 or min(self.rounds, self.reads, self.batch_ns) < 1:
            raise BadInputError("the doctor's times must be above 0, its rounds and reads at least 1")


@dataclass
class Examination:
    """What was found on this machine; ``missing`` says what could not be looked at, and why."""

    identity: Identity
    clocks: tuple[Clock, ...]
    cpus: tuple[int, ...]
    machine_code: bool
    vdso: bool
    superuser: bool
    tsc: TscFacts | None = None
    page: PageFacts | None = None
    shapes: tuple[str, ...] = ()
    resolution_ns: dict[str, int] = field(default_factory=dict)
    looks: list[Look] = field(default_factory=list)
    steps: dict[str, Steps] = field(default_factory=dict)
    groups: int = 0
    """Single CPUs and pairs of CPUs that there are; each ``Steps`` tells those that were looked at."""
    tables: Tables = field(default_factory=Tables)
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Session:
    """One examination: how much to look at, what was found so far, and whom to tell."""

    plan: DoctorPlan
    found: Examination
    builder: TablesBuilder
    progress: Progress


def examine(plan: DoctorPlan, progress: Progress = lambda _what, _share: None) -> Examination:
    """Look at everything that this machine lets any user look at.

    Raises:
        UnavailableError: this is not Linux.
    """
    if not sys.platform.startswith("linux"):
        raise UnavailableError(f"doctor examines Linux machines; this is {sys.platform}")
    tree = Tree(plan.root)
    code, reason = _machine_code(plan)
    clocks = available()
    found = Examination(
        identity=identify(tree, code),
        clocks=clocks,
        cpus=plan.cpus or tuple(sorted(os.sched_getaffinity(0))),
        machine_code=code is not None,
        vdso=vdso.clock_gettime(vdso.address()) is not None,
        superuser=os.geteuid() == 0,
    )
    if code is None:
        found.missing.append(f"measurements at C speed and of the TSC: {reason}")
    session = _Session(plan, found, builder := TablesBuilder(), progress)
    if code is None:
        _without_machine_code(session)
    else:
        _with_machine_code(session, tree, code)
    for name, read in cost.PYTHON_READS.items():
        _add_python(builder, name, read, plan.python_reads)
    found.missing.extend(f"{name}: {reason}" for name, reason in tree.unreadable.items())
    found.tables = builder.freeze({"cost_time": "host", "seed": plan.seed})
    return found


def _machine_code(plan: DoctorPlan) -> tuple[Native | None, str]:
    try:
        return plan.load_native(), ""
    except UnavailableError as error:
        return None, str(error)


def _with_machine_code(session: _Session, tree: Tree, code: Native) -> None:
    plan, found, builder = session.plan, session.found, session.builder
    session.progress("the machine", 0.0)
    seen = page.find(tree)
    if seen.entry is None:
        found.missing.append(f"the machine's own pvclock page: {seen.where}")
    looker = drift.native_looker(code)
    start = looker(RAW)
    found.tsc = tsc.facts(code, seen.entry, tsc.measure_hz(looker))
    if seen.entry is not None:
        found.page = tsc.page_facts(seen.entry, seen.where, code.tsc())
    found.resolution_ns = {clock.name: drift.resolution_ns(code, clock) for clock in found.clocks}
    shapes = tsc.usable_shapes(code)
    found.shapes = tuple(shape.name for shape in shapes)
    timers = _timers(found, code, shapes, seen.entry)
    batches = _costs(session, timers, CycleScale(found.tsc.hz, start.reference))
    found.steps = _steps(session, _warpers(found, code, shapes), plan.reads)
    found.looks = _follow(session, looker)
    # One host time for all tables: the TSC at the rate of CLOCK_MONOTONIC_RAW over the whole examination.
    scale = CycleScale(round(drift.tsc_hz([start, *found.looks]) or found.tsc.hz), start.reference)
    _add_costs(builder, batches, scale)
    _add_steps(builder, found.steps, scale)
    _add_looks(builder, found.looks, scale)
    if seen.entry is not None:
        _add_looks(builder, _page_looks(found.looks, seen.entry), scale)


def _without_machine_code(session: _Session) -> None:
    plan, found, builder = session.plan, session.found, session.builder
    clocks = machine_clocks(found.clocks)
    for index, clock in enumerate(found.clocks):
        session.progress(f"cost of {clock.name}", index / len(found.clocks))
        read = functools.partial(time.clock_gettime_ns, clock.number)
        _add_python(builder, clock.name, read, plan.python_reads)
        found.resolution_ns[clock.name] = drift.smallest_step([read() for _ in range(2000)])
    warpers = {clock.name: steps.hopping_warper(clock) for clock in clocks}
    found.steps = _steps(session, warpers, max(plan.reads // 100, 10))
    found.looks = _follow(session, drift.python_looker())
    scale = CycleScale(NS_PER_S, found.looks[0].reference)
    _add_steps(builder, found.steps, scale)
    _add_looks(builder, found.looks, scale)


Timer = Callable[[int], CostRecords]
"""Makes batches of so many reads."""


def _timers(
    found: Examination, code: Native, shapes: Sequence[Shape], entry: bytes | None
) -> dict[str, Timer]:
    assert found.tsc is not None
    pages = cost.Pages.around(entry or tsc.made_up_page(found.tsc.hz), code.tsc(), found.tsc.hz)
    timers: dict[str, Timer] = {}
    for clock in found.clocks:
        timers[clock.name] = functools.partial(cost.clock_costs, code, clock)
        timers[clock.name + SYSTEM_CALL] = functools.partial(cost.syscall_costs, code, clock)
    for shape in shapes:
        timers[shape.name] = functools.partial(cost.shape_costs, code, shape, pages)
    return timers


@dataclass
class _Batches:
    """What one timer measured: the parts of all rounds, each batch of so many reads."""

    reads: int
    parts: list[CostRecords] = field(default_factory=list)


def _costs(session: _Session, timers: dict[str, Timer], scale: CycleScale) -> dict[str, _Batches]:
    """Time every kind of read in interleaved rounds."""
    plan = session.plan
    batches = {name: _Batches(_batch_size(timer, plan.batch_ns, scale)) for name, timer in timers.items()}
    for index in range(plan.rounds):
        for name, timer in timers.items():
            batches[name].parts.append(timer(batches[name].reads))
        session.progress("cost of a read", (index + 1) / plan.rounds)
    return batches


def _batch_size(timer: Timer, batch_ns: int, scale: CycleScale, pilot: int = 50) -> int:
    """Return how many reads fill a batch: a TSC read that traps is a thousand times dearer than others."""
    cycles = int(timer(pilot)["cycles"].min())
    return max(batch_ns * pilot // max(scale.length_ns(cycles), 1), 1)


def _warpers(found: Examination, code: Native, shapes: Sequence[Shape]) -> dict[str, steps.Warper]:
    warpers = {shape.name: steps.shape_warper(code, shape) for shape in shapes if shape.page is Page.NONE}
    return warpers | {clock.name: steps.clock_warper(code, clock) for clock in machine_clocks(found.clocks)}


def _steps(session: _Session, warpers: dict[str, steps.Warper], reads: int) -> dict[str, Steps]:
    plan, found = session.plan, session.found
    among = steps.groups(found.cpus, plan.seed)
    found.groups = len(among)
    # With many CPUs rather a short look at all pairs than a long one at few.
    reads = max(min(reads, reads * GROUPS_IN_FULL // len(among)), min(reads, READS_LEAST))
    return steps.measure(
        warpers,
        among,
        reads=reads,
        budget_s=plan.step_budget_s,
        progress=lambda share: session.progress("backward steps", share),
    )


def _follow(session: _Session, looker: drift.Looker) -> list[Look]:
    return drift.follow(
        looker,
        machine_clocks(session.found.clocks),
        seconds=session.plan.drift_s,
        rounds=DRIFT_ROUNDS,
        progress=lambda share: session.progress("clocks against each other", share),
    )


def _page_looks(looks: Sequence[Look], entry: bytes) -> list[Look]:
    """Return what the pvclock page said at the moments of the looks at CLOCK_MONOTONIC_RAW."""
    return [
        Look(PVCLOCK_PAGE, look.reference, tsc.page_ns(entry, look.reference), look.width)
        for look in looks
        if look.clock == RAW.name
    ]


def _add_costs(builder: TablesBuilder, batches: dict[str, _Batches], scale: CycleScale) -> None:
    cpu_times = {clock.name for clock in CLOCKS if clock.cpu_time}
    for name, batch in batches.items():
        if name.removesuffix(SYSTEM_CALL) in cpu_times:
            # They tell no time that could be compared with the host's.
            loop_tables.add_cost_alone(builder, name, batch.parts, batch.reads, scale)
        else:
            loop_tables.add_cost(
                builder, name, batch.parts, batch.reads, scale, in_cycles=name in loop_tables.IN_CYCLES
            )


def _add_steps(builder: TablesBuilder, found: dict[str, Steps], scale: CycleScale) -> None:
    for name, seen in found.items():
        for group, results in seen.groups.items():
            phase = WITHIN if len(group) == 1 else BETWEEN
            in_cycles = name in loop_tables.IN_CYCLES
            loop_tables.add_warp(builder, name, phase, results, scale if in_cycles else None)


def _add_python(builder: TablesBuilder, name: str, read: Callable[[], int], reads: int) -> None:
    source, phase = builder.source(name), builder.phase(PYTHON)
    for cost_ns, said_ns in cost.python_costs(read, reads):
        builder.add_reading(source=source, phase=phase, said_ns=said_ns, calls=reads, cost_ns=cost_ns)


def _add_looks(builder: TablesBuilder, looks: Sequence[Look], scale: CycleScale) -> None:
    times = scale.ns(np.array([look.reference for look in looks], np.uint64))
    phase = builder.phase(DRIFT)
    for look, host_ns in zip(looks, times.tolist(), strict=True):
        builder.add_reading(
            source=builder.source(look.clock), phase=phase, host_ns=host_ns, said_ns=look.said_ns
        )
