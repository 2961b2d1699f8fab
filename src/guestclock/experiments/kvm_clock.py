"""The KVM clock seen from inside a micro-guest: what reads cost, whether it steps, whether it is right."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from guestclock.errors import BadInputError
from guestclock.experiments import loop_tables
from guestclock.experiments.loop_tables import CycleScale
from guestclock.kvm import cost, master_clock, pages, set_clock, warp
from guestclock.kvm.master_clock import MasterClock
from guestclock.kvm.microvm import MicroVm, cycles_per_turn, getcpu, permitted_cpus, runs_natively, tsc_now
from guestclock.kvm.pages import Arithmetic, PageAgainstClock, WallClock
from guestclock.kvm.set_clock import Jump
from guestclock.readings import Tables, TablesBuilder
from guestclock.readloops import SHAPES, Shape

Progress = Callable[[str, float], None]
"""Told what is being done and the share that is done (0 to 1)."""

BATCHES_A_ROUND = 20
READS_A_BATCH = 1000
MASTER_OFF = ", master off"


@dataclass(frozen=True)
class KvmPlan:
    """How much to measure."""

    rounds: int = 100
    reads: int = 20_000_000
    looks: int = 1000
    step_budget_s: float = 6.0
    seed: int = 1
    device: Path = Path("/dev/kvm")

    def __post_init__(self) -> None:
        if min(self.rounds, self.reads, self.looks) < 1 or self.step_budget_s <= 0:
            raise BadInputError("rounds, reads and looks must be at least 1, and the time for steps above 0")


@dataclass
class KvmClock:
    """What was found; ``missing`` says what could not be measured, and why."""

    tsc_khz: int
    turn_cycles: float
    native: bool
    kvmclock: bool
    tsc_offset: int | None
    getcpu: dict[str, list[int]]
    tables: Tables = field(default_factory=Tables)
    page: PageAgainstClock | None = None
    arithmetic: Arithmetic | None = None
    wall_clock: WallClock | None = None
    jumps: list[Jump] = field(default_factory=list)
    master_on: MasterClock | None = None
    master_off: MasterClock | None = None
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Session:
    """One run: what to measure, what was found so far, and whom to tell."""

    plan: KvmPlan
    found: KvmClock
    builder: TablesBuilder
    progress: Progress


def run(plan: KvmPlan, progress: Progress = lambda _what, _share: None) -> KvmClock:
    """Measure everything that this KVM allows.

    Raises:
        UnavailableError: no KVM, or one that cannot run the guest.
    """
    vcpus = min(2, len(permitted_cpus()))
    with MicroVm(vcpus, plan.device) as vm:
        turn = cycles_per_turn(vm)
        found = KvmClock(
            tsc_khz=vm.tsc_khz,
            turn_cycles=turn,
            native=runs_natively(turn),
            kvmclock=vm.has_kvmclock(),
            tsc_offset=vm.vcpus[0].tsc_offset(),
            getcpu=getcpu(vm),
        )
        vm.switch_clock_on()
        session = _Session(plan, found, TablesBuilder(), progress)
        scale = CycleScale(vm.tsc_khz * 1000, tsc_now(vm))
        _costs(session, vm, scale)
        _warps(session, vm, scale)
        _pages(session, vm)
    if vcpus > 1:
        _master_clock(session)
    with MicroVm(1, plan.device) as vm:
        vm.switch_clock_on()
        _set_clock(session, vm)
    found.tables = session.builder.freeze({"cost_time": "guest", "seed": plan.seed, "tsc_khz": found.tsc_khz})
    return found


def shapes_for(found: KvmClock) -> list[Shape]:
    """Return the shapes that mean something in this guest."""
    return [
        shape
        for shape in SHAPES
        if not (shape.needs_rdtscp and "rdtscp" not in found.getcpu)
        and not (shape.needs_getcpu and "lsl" not in found.getcpu)
    ]


def _costs(session: _Session, vm: MicroVm, scale: CycleScale) -> None:
    plan, found, progress = session.plan, session.found, session.progress
    if not found.native:
        found.missing.append(
            f"times: the guest's code is interpreted ({found.turn_cycles:.0f} cycles for an empty turn),"
            " so its times say nothing about a clock"
        )
        return
    shapes = shapes_for(found)
    records = cost.measure(
        vm,
        shapes,
        plan.rounds,
        batches=BATCHES_A_ROUND,
        reads=READS_A_BATCH,
        progress=lambda share: progress("cost of a read", share),
    )
    for shape in shapes:
        loop_tables.add_cost(
            session.builder, shape.name, records[shape.name], READS_A_BATCH, scale, in_cycles=not shape.in_ns
        )


def _warps(session: _Session, vm: MicroVm, scale: CycleScale) -> None:
    plan, found, progress = session.plan, session.found, session.progress
    if len(vm.vcpus) < 2:
        found.missing.append("backward steps between CPUs: this process may use one CPU only")
        return
    # Interpreted code gets a small share: every look is then some hundred times as long.
    reads = plan.reads if found.native else min(plan.reads, 20_000)
    shapes = shapes_for(found)
    for index, shape in enumerate(shapes):
        progress(f"backward steps: {shape.title}", index / len(shapes))
        seen = warp.measure(vm, shape, warp.common_page, reads=reads, budget_s=plan.step_budget_s)
        loop_tables.add_warp(
            session.builder, shape.name, loop_tables.WARP, seen.results, None if shape.in_ns else scale
        )
    progress("backward steps", 1.0)


def _pages(session: _Session, vm: MicroVm) -> None:
    plan, found, progress = session.plan, session.found, session.progress
    progress("page against KVM_GET_CLOCK", 0.0)
    found.page = pages.against_get_clock(vm, plan.looks)
    if found.page is None:
        found.missing.append("page against KVM_GET_CLOCK: KVM does not tell its TSC (Linux 5.16 does)")
    progress("the guest's arithmetic", 0.5)
    found.arithmetic = pages.arithmetic(vm, 3 * plan.looks, plan.seed)
    progress("wall clock", 0.9)
    found.wall_clock = pages.wall_clock(vm)
    progress("page, arithmetic, wall clock", 1.0)


def _master_clock(session: _Session) -> None:
    plan, found, progress = session.plan, session.found, session.progress
    reads = plan.reads // 4 if found.native else min(plan.reads, 20_000)
    budget = plan.step_budget_s / 2
    with MicroVm(2, plan.device) as vm:
        vm.switch_clock_on()
        progress("master clock on", 0.0)
        found.master_on = master_clock.measure(vm, reads, budget)
        if not master_clock.skew(vm):
            found.missing.append("master clock off: KVM does not let the TSC be set")
            return
        progress("master clock off", 0.5)
        found.master_off = master_clock.measure(vm, reads, budget)
    if found.master_off.stable:
        found.missing.append("master clock off: this KVM keeps its pages TSC_STABLE whatever the TSCs are")
        return
    for seen in (found.master_off.unclamped, found.master_off.clamped):
        loop_tables.add_warp(
            session.builder, seen.shape.name + MASTER_OFF, loop_tables.WARP, seen.results, None
        )
    progress("master clock", 1.0)


def _set_clock(session: _Session, vm: MicroVm) -> None:
    found, progress = session.found, session.progress
    for index, case in enumerate(set_clock.CASES):
        progress("KVM_SET_CLOCK", index / len(set_clock.CASES))
        jump = set_clock.measure(vm, case)
        if jump is None:
            found.missing.append(f"KVM_SET_CLOCK, {case.title}: KVM does not tell its TSC or realtime")
        else:
            found.jumps.append(jump)
    progress("KVM_SET_CLOCK", 1.0)
