"""What a run of the micro-guest means: faults, ratios, and the whole as plain data."""

from typing import Any

from guestclock.experiments import loop_tables
from guestclock.experiments.kvm_clock import MASTER_OFF, KvmClock
from guestclock.kvm.master_clock import MasterClock
from guestclock.kvm.pages import PageAgainstClock
from guestclock.kvm.set_clock import Jump
from guestclock.readloops import SHAPES
from guestclock.verdict import cost as cost_verdict
from guestclock.verdict import monotonicity
from guestclock.verdict.quantities import duration, times

SCHEMA = "guestclock.kvm"
SCHEMA_VERSION = 1


def expected_to_step(source: str) -> bool:
    """Return whether a clock may go back by its nature: no barrier, or unclamped without TSC_STABLE.

    >>> expected_to_step("rdtsc"), expected_to_step("pvclock_one")
    (True, False)
    """
    return source == "pvclock_own" + MASTER_OFF or any(
        shape.name == source and not shape.barriers for shape in SHAPES
    )


def faults(found: KvmClock) -> list[str]:
    """Return what is wrong with this KVM's clock, in sentences; empty when all is as it must be."""
    wrong = [
        f"{clock.source} went back {times(clock.backward.count)}, worst {duration(clock.backward.worst_ns)}."
        for clock in monotonicity.judge(found.tables).sources
        if clock.backward.count and not expected_to_step(clock.source)
    ]
    if (page := found.page) is not None:
        if page.exact != len(page.differences_ns):
            worst = max(page.differences_ns, key=abs)
            wrong.append(f"The page differs from KVM_GET_CLOCK, by up to {worst} ns.")
        if page.mul_shift != page.mul_shift_expected:
            wrong.append(f"The page's mul and shift are {page.mul_shift}, not {page.mul_shift_expected}.")
    if (sums := found.arithmetic) is not None and sums.live_wrong + sums.random_wrong:
        wrong.append(
            f"The guest computed {sums.live_wrong} live and {sums.random_wrong} random readings wrongly"
            f" (seed {sums.seed})."
        )
    if (wall := found.wall_clock) is not None and abs(wall.error_ns) > 1_000_000:
        wrong.append(f"The wall clock is {wall.error_ns} ns off the host's.")
    wrong.extend(
        f"KVM_SET_CLOCK, {jump.case.title}: the guest's clock jumped by {jump.jump_ns} ns, not"
        f" {jump.least_ns} to {jump.most_ns} ns."
        for jump in found.jumps
        if not jump.good
    )
    return wrong


def exit_status(found: KvmClock) -> int:
    """Return 1 when a clock is at fault, 4 when times could not be had here, else 0."""
    if faults(found):
        return 1
    return 0 if found.native else 4


def ratios(found: KvmClock) -> dict[str, float]:
    """Return what the discussion of 2014 was about: costs against each other, by their minima.

    >>> ratios(KvmClock(1, 1.0, True, True, 0, {}))
    {}
    """
    least = {source.source: source.min_ns for source in cost_verdict.judge(found.tables).sources}
    pairs = {
        "pvclock_one_to_lfence_rdtsc": ("pvclock_one", "lfence_rdtsc"),
        "pvclock_two_to_pvclock_one": ("pvclock_two", "pvclock_one"),
        "pvclock_2014_to_pvclock_one": ("pvclock_2014", "pvclock_one"),
        "pvclock_one_to_tsc_clocksource": ("pvclock_one", "tsc_clocksource"),
    }
    return {
        name: round(least[over] / least[under], 3)
        for name, (over, under) in pairs.items()
        if over in least and under in least
    }


def as_json(found: KvmClock) -> dict[str, Any]:
    """Return everything as plain data with units in the names."""
    steps = {source.source: source for source in monotonicity.judge(found.tables).sources}
    costs = {source.source: source for source in cost_verdict.judge(found.tables).sources}
    compared = loop_tables.compared(found.tables)
    names = list(dict.fromkeys([*costs, *steps]))
    wrong = faults(found)
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "tsc_khz": found.tsc_khz,
        "native": found.native,
        "cycles_per_empty_turn": round(found.turn_cycles, 2),
        "kvmclock": found.kvmclock,
        "tsc_offset_cycles": found.tsc_offset,
        "getcpu": found.getcpu,
        "clocks": [
            _clock_json(name, costs.get(name), steps[name], compared[name], found.tsc_khz) for name in names
        ],
        "ratios": ratios(found),
        "page": _page_json(found.page),
        "arithmetic": found.arithmetic and vars(found.arithmetic),
        "wall_clock_error_ns": found.wall_clock and found.wall_clock.error_ns,
        "master_clock": {
            "on": _master_json(found.master_on),
            "off": _master_json(found.master_off),
        },
        "set_clock": [_jump_json(jump) for jump in found.jumps],
        "missing": found.missing,
        "faults": wrong,
        "good": not wrong,
        "exit_status": exit_status(found),
    }


def _clock_json(
    name: str,
    cost: cost_verdict.SourceCost | None,
    steps: monotonicity.SourceSteps,
    comparisons: int,
    tsc_khz: int,
) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "title": _title(name)}
    if cost is not None:
        figures = {"min": cost.min_ns, "median": cost.median_ns, "p99": cost.p99_ns}
        row |= {f"{key}_ns": round(value, 3) for key, value in figures.items()}
        row |= {f"{key}_cycles": round(value * tsc_khz / 1e6, 2) for key, value in figures.items()}
    if comparisons:
        row |= {
            "comparisons": comparisons,
            "backward_steps": steps.backward.count,
            "worst_step_ns": steps.backward.worst_ns,
            "steps_expected": expected_to_step(name),
        }
    return row


def _title(name: str) -> str:
    shape = next((shape for shape in SHAPES if shape.name == name.removesuffix(MASTER_OFF)), None)
    return name if shape is None else shape.title + name.removeprefix(shape.name)


def _page_json(page: PageAgainstClock | None) -> dict[str, Any] | None:
    return (
        None
        if page is None
        else {
            "looks": len(page.differences_ns),
            "exact": page.exact,
            "mul": page.mul_shift[0],
            "shift": page.mul_shift[1],
            "mul_expected": page.mul_shift_expected[0],
            "shift_expected": page.mul_shift_expected[1],
        }
    )


def _master_json(seen: MasterClock | None) -> dict[str, Any] | None:
    return (
        None
        if seen is None
        else {
            "tsc_stable": seen.stable,
            "pages_apart_ns": seen.apart_ns,
            "reads": seen.unclamped.reads,
            "backward_steps": seen.unclamped.steps,
            "worst_step_ns": -seen.unclamped.worst,
            "backward_steps_clamped": seen.clamped.steps,
        }
    )


def _jump_json(jump: Jump) -> dict[str, Any]:
    return {
        "name": jump.case.name,
        "title": jump.case.title,
        "jump_ns": jump.jump_ns,
        "elapsed_ns": jump.elapsed_ns,
        "expected_ns": [jump.least_ns, jump.most_ns],
        "between_get_clocks": jump.bracketed,
        "good": jump.good,
    }
