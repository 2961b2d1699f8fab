"""Each clocksource of this machine measured while it is the system's own (root; the old one comes back)."""

from dataclasses import replace
from typing import Any

from guestclock.experiments import doctor_document
from guestclock.experiments.doctor import DoctorPlan, Examination, Progress, examine
from guestclock.host.switch import ClocksourceSwitch
from guestclock.host.tree import Tree

SCHEMA = "guestclock.doctor.clocksources"
SCHEMA_VERSION = 1


def measure_each(plan: DoctorPlan, progress: Progress = lambda _what, _share: None) -> dict[str, Examination]:
    """Make each available clocksource the system's in turn and examine it; return them by name.

    The time of the plan is shared among them.

    Raises:
        UnavailableError: the clocksource cannot be changed here, or the kernel refuses one.
    """
    found = {}
    with ClocksourceSwitch(Tree(plan.root)) as switch:
        share = len(switch.available)
        part = replace(plan, step_budget_s=plan.step_budget_s / share, drift_s=plan.drift_s / share)
        for name in switch.available:
            switch.to(name)
            found[name] = examine(part, _under(name, progress))
    return found


def _under(clocksource: str, progress: Progress) -> Progress:
    return lambda what, share: progress(f"{clocksource}: {what}", share)


def as_json(found: dict[str, Examination]) -> dict[str, Any]:
    """Return the clocks under each clocksource as plain data."""
    documents = {name: doctor_document.as_json(seen) for name, seen in found.items()}
    good = all(document["good"] for document in documents.values())
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "good": good,
        "exit_status": int(not good),
        "clocksources": [
            {"clocksource": name, "clocks": document["clocks"], "findings": document["findings"]}
            for name, document in documents.items()
        ],
    }
