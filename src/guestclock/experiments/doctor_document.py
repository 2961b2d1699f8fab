"""An examination as plain data, with units in the names."""

import time
from dataclasses import asdict
from typing import Any

from guestclock.experiments.doctor import PVCLOCK_PAGE, SYSTEM_CALL, Examination
from guestclock.experiments.figures import Figures
from guestclock.experiments.findings import Finding, Level, findings
from guestclock.host.clocks import CLOCKS, RAW
from guestclock.readloops import SHAPES

SCHEMA = "guestclock.doctor"
SCHEMA_VERSION = 1
WITHOUT_BARRIER = frozenset(shape.name for shape in SHAPES if not shape.barriers)
"""Reads that may go back between CPUs by their nature."""


def as_json(found: Examination) -> dict[str, Any]:
    """Return everything that was found, and the findings, worst first."""
    figures = Figures.of(found)
    told = findings(found)
    fault = any(finding.level is Level.FAULT for finding in told)
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "good": not fault,
        "exit_status": int(fault),
        "machine": asdict(found.identity),
        "cpus": list(found.cpus),
        "superuser": found.superuser,
        "machine_code": found.machine_code,
        "vdso": found.vdso,
        "tsc": None if found.tsc is None else asdict(found.tsc) | {"hz": found.tsc.hz},
        "pvclock_page": None if found.page is None else asdict(found.page),
        "clocks": [_row(name, title, found, figures) for name, title in _names(figures)],
        "cpu_groups": found.groups,
        "cpu_groups_compared": min((len(steps.groups) for steps in found.steps.values()), default=0),
        "missing": found.missing,
        "findings": [_finding(finding) for finding in told],
    }


def _names(figures: Figures) -> list[tuple[str, str]]:
    """Return all that was measured, clocks first, and how each is called."""
    titles = {clock.name: clock.name for clock in CLOCKS}
    titles |= {shape.name: shape.title for shape in SHAPES}
    known = [*figures.costs, *figures.steps, *figures.drifts]
    shown = [name for name in dict.fromkeys(known) if not name.endswith(SYSTEM_CALL)]
    return [(name, titles.get(name, name)) for name in shown]


def _row(name: str, title: str, found: Examination, figures: Figures) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "title": title}
    if name in figures.costs:
        cost = figures.costs[name]
        row |= {
            "min_ns": round(cost.min_ns, 3),
            "median_ns": round(cost.median_ns, 3),
            "p99_ns": round(cost.p99_ns, 3),
        }
    call_ns = figures.least_ns(name + SYSTEM_CALL)
    if call_ns is not None:
        row["system_call_ns"] = round(call_ns, 3)
    clock = next((clock for clock in CLOCKS if clock.name == name), None)
    if clock is not None:
        row["enters_kernel"] = figures.enters_kernel(clock)
        row["smallest_step_ns"] = found.resolution_ns.get(name)
        row["resolution_ns"] = round(time.clock_getres(clock.number) * 1e9)
    if figures.compared[name]:
        steps = figures.steps[name]
        row |= {
            "comparisons": figures.compared[name],
            "backward_steps": steps.backward.count,
            "worst_step_ns": steps.backward.worst_ns,
            "steps_expected": name in WITHOUT_BARRIER,
        }
    if name in figures.drifts and (name == PVCLOCK_PAGE or not name.endswith("COARSE")):
        drift = figures.drifts[name]
        row |= {
            "rate_against_raw_ppm": drift.rate_ppm,
            "rate_uncertainty_ppm": _uncertainty_ppm(name, found, drift.elapsed_ns),
            "followed_ns": drift.elapsed_ns,
            "look_uncertainty_ns": _look_uncertainty_ns(name, found),
            "stability": asdict(figures.steadiness[name]),
        }
    return row


def _uncertainty_ppm(name: str, found: Examination, elapsed_ns: int) -> float | None:
    """Return by how much a rate may be off: a whole bracket at either end of the time."""
    width_ns = _widest_look_ns(name, found)
    return None if width_ns is None or not elapsed_ns else round(1e6 * width_ns / elapsed_ns, 4)


def _look_uncertainty_ns(name: str, found: Examination) -> float | None:
    """Return by how much one look may be off: half of its bracket, for the reading was somewhere in it."""
    width_ns = _widest_look_ns(name, found)
    return None if width_ns is None else round(width_ns / 2, 1)


def _widest_look_ns(name: str, found: Examination) -> float | None:
    looked_at = RAW.name if name == PVCLOCK_PAGE else name  # the page is computed for those moments
    widths = [look.width for look in found.looks if look.clock == looked_at]
    ns_a_unit = 1.0 if found.tsc is None else 1e9 / found.tsc.hz
    return max(widths) * ns_a_unit if widths else None


def _finding(finding: Finding) -> dict[str, str]:
    return {
        "level": finding.level.name.lower(),
        "title": finding.title,
        "consequence": finding.consequence,
        "remedy": finding.remedy,
    }
