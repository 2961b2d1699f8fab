"""What the Linux guest told, as plain data with units in the names."""

from dataclasses import asdict, dataclass
from typing import Any

from guestclock.experiments import loop_tables
from guestclock.experiments.kvm_linux import DRIFT, SYSTEM_CALL, LinuxGuest, source_name
from guestclock.host.clocks import CLOCKS, Clock
from guestclock.host.cost import through_system_call, yardsticks
from guestclock.verdict import cost, drift, monotonicity, stability
from guestclock.verdict.cost import SourceCost
from guestclock.verdict.drift import Offsets
from guestclock.verdict.monotonicity import SourceSteps
from guestclock.verdict.quantities import duration, times
from guestclock.verdict.stability import Steadiness

SCHEMA = "guestclock.kvm.linux"
SCHEMA_VERSION = 1


def faults(found: LinuxGuest) -> list[str]:
    """Return which clocks went back, in sentences."""
    return [
        f"{clock.source} went back {times(clock.backward.count)}, worst {duration(clock.backward.worst_ns)}."
        for clock in monotonicity.judge(found.tables).sources
        if clock.backward.count
    ]


def as_json(found: LinuxGuest) -> dict[str, Any]:
    """Return the table: every clock under every clocksource."""
    costs = {source.source: source for source in cost.judge(found.tables).sources}
    figures = _Figures(
        costs,
        {source.source: source for source in monotonicity.judge(found.tables).sources},
        loop_tables.compared(found.tables),
    )
    drifts = {
        clock.source: clock.phases[DRIFT]
        for clock in drift.judge(found.tables).clocks
        if DRIFT in clock.phases and clock.reference == "host"
    }
    steadiness = stability.of_phase(found.tables, DRIFT)
    wrong = faults(found)
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "good": not wrong,
        "exit_status": int(bool(wrong)),
        "accelerator": found.accelerator,
        "why_not_kvm": found.why,
        "qemu": found.qemu,
        "kernel": found.hello and found.hello.kernel,
        "cpus": found.hello and found.hello.cpus,
        "clocksource_at_boot": found.hello and found.hello.clock,
        "clocksources": [
            {
                "clocksource": name,
                "taken": taken,
                "drift": _drift(drifts.get(source_name(name, "CLOCK_MONOTONIC"))),
                "stability": _stability(steadiness.get(source_name(name, "CLOCK_MONOTONIC"))),
                "clocks": [
                    _row(name, clock, figures) for clock in CLOCKS if source_name(name, clock.name) in costs
                ],
            }
            for name, taken in found.clocksources.items()
        ],
        "damaged_lines": found.damaged,
        "faults": wrong,
    }


def _drift(offsets: Offsets | None) -> dict[str, Any] | None:
    return (
        None
        if offsets is None
        else {
            "rate_ppm": offsets.rate_ppm,
            "looks": offsets.readings,
            "followed_ns": offsets.elapsed_ns,
        }
    )


def _stability(steadiness: Steadiness | None) -> dict[str, Any] | None:
    if steadiness is None:
        return None
    return asdict(steadiness) | {"curve": [asdict(at) for at in steadiness.curve]}


@dataclass(frozen=True)
class _Figures:
    """What the tables say of each source, by name."""

    costs: dict[str, SourceCost]
    steps: dict[str, SourceSteps]
    compared: dict[str, int]


def _row(clocksource: str, clock: Clock, figures: _Figures) -> dict[str, Any]:
    source = source_name(clocksource, clock.name)
    costs = figures.costs
    row: dict[str, Any] = {
        "name": clock.name,
        "title": clock.name,
        "min_ns": round(costs[source].min_ns, 2),
        "median_ns": round(costs[source].median_ns, 2),
        "p99_ns": round(costs[source].p99_ns, 2),
    }
    calls = [source_name(clocksource, name) + SYSTEM_CALL for name in yardsticks(clock)]
    known = [costs[call].min_ns for call in calls if call in costs]
    if known and source + SYSTEM_CALL in costs:
        row["system_call_ns"] = round(costs[source + SYSTEM_CALL].min_ns, 2)
        row["enters_kernel"] = through_system_call(costs[source].min_ns, min(known))
    if figures.compared[source]:
        row |= {
            "comparisons": figures.compared[source],
            "backward_steps": figures.steps[source].backward.count,
            "worst_step_ns": figures.steps[source].backward.worst_ns,
            "steps_expected": False,
        }
    return row
