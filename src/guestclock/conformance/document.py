"""Results as one JSON-ready object, from which every report is made."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from guestclock.chips.qemu_deviations import MEANINGS, Deviation
from guestclock.chips.registers import REGISTER_NAMES
from guestclock.conformance.facts import FACTS
from guestclock.conformance.qemu_causes import Causes, Diagnosis
from guestclock.conformance.runner import (
    BAD,
    Outcome,
    Result,
    accepts,
    exit_status,
    first_difference,
    placement_error,
)
from guestclock.conformance.text_format import expected_text
from guestclock.conformance.timeline import Moment, moments
from guestclock.conformance.vector import (
    FEATURES,
    PORTS,
    Check,
    Drive,
    Read,
    Reset,
    Step,
    Vector,
    Write,
    cycle_of,
    observed,
)

NEIGHBOURS = 3
"""So many steps before and after a difference are shown with it."""


def as_document(
    results: Sequence[Result], target: str, variant: str, diagnosis: Diagnosis | None = None
) -> dict[str, Any]:
    """Return what the vectors showed of the target, and for a QEMU why."""
    found: dict[str, Any] = {
        "schema": "guestclock.conformance",
        "schema_version": 1,
        "target": target,
        "variant": variant,
        "exit_status": exit_status(results),
        "placement_error_cycles": placement_error(results),
        "features": [_feature(feature, results) for feature in FEATURES if _of(feature, results)],
        "total": _counts(results),
        "vectors": [_vector(result) for result in results],
    }
    return found if diagnosis is None else found | _diagnosed(found["vectors"], diagnosis)


def _diagnosed(vectors: Sequence[dict[str, Any]], diagnosis: Diagnosis) -> dict[str, Any]:
    """Add the causes to the vectors that failed; return what there is to say of all."""
    failed = [vector for vector in vectors if vector["name"] in diagnosis.causes]
    for vector in failed:
        vector["deviations"] = _alternatives(diagnosis.causes[vector["name"]])
    return {
        "behaves_as": {
            "sets": list(diagnosis.sets),
            "vectors": diagnosis.asked,
            "agreeing": diagnosis.agreeing,
        },
        "deviations": [row for member in MEANINGS if (row := _deviation(member, failed))["vectors"]],
        "unexplained": [vector["name"] for vector in failed if not vector["deviations"]],
    }


def _alternatives(causes: Causes) -> list[list[dict[str, str]]]:
    return [
        [{"name": str(member.name), "number": MEANINGS[member][0]} for member in alternative]
        for alternative in causes
    ]


def _deviation(member: Deviation, failed: Sequence[dict[str, Any]]) -> dict[str, Any]:
    number, meaning = MEANINGS[member]
    named = [
        vector
        for vector in failed
        if any(member.name == each["name"] for some in vector["deviations"] for each in some)
    ]
    features = Counter(vector["feature"] for vector in named)
    return {
        "name": member.name,
        "number": number,
        "meaning": meaning,
        "vectors": len(named),
        "features": {feature: features[feature] for feature in FEATURES if features[feature]},
    }


def _of(feature: str, results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.vector.feature == feature]


def _feature(feature: str, results: Sequence[Result]) -> dict[str, Any]:
    return {"feature": feature} | _counts(_of(feature, results))


def _counts(results: Sequence[Result]) -> dict[str, int]:
    counts = {"vectors": len(results)}
    for outcome in Outcome:
        counts[outcome.value.replace("-", "_")] = sum(result.outcome is outcome for result in results)
    return counts


def _vector(result: Result) -> dict[str, Any]:
    vector = result.vector
    found: dict[str, Any] = {
        "name": vector.name,
        "feature": vector.feature,
        "outcome": result.outcome.value,
        "note": result.note,
    }
    if result.outcome not in BAD:
        return found
    found |= _known(vector)
    if result.outcome is Outcome.FAILED:
        steps = _steps(result)
        at = next(index for index, step in enumerate(steps) if step.get("right") is False)
        found["difference"] = steps[at]
        found["neighbourhood"] = steps[max(at - NEIGHBOURS, 0) : at + NEIGHBOURS + 1]
    return found


def _known(vector: Vector) -> dict[str, Any]:
    fact = FACTS.get(vector.fact or 0)
    return {
        "claim": vector.claim,
        "fact": vector.fact,
        "fact_text": fact.text if fact else "",
        "grade": vector.grade,
        "source": vector.source,
        "hardware_run": vector.hardware_run,
    }


def _steps(result: Result) -> list[dict[str, Any]]:
    answers: Iterator[int] = iter(result.answers)
    return [_step(step, next(answers, None) if isinstance(step, Read | Check) else None)
            for step in result.vector.steps]  # fmt: skip


def _step(step: Step, answer: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {"cycle": cycle_of(step), "what": describe(step)}
    if isinstance(step, Read | Check):
        wide = not isinstance(step, Check) or step.pin in PORTS
        found |= {
            "expected": expected_text(step),
            "got": None if answer is None else f"{answer:0{2 if wide else 1}x}",
            "right": None if answer is None else accepts(step, answer),
        }
    return found


def describe(step: Step) -> str:
    """Return a step in words.

    >>> describe(Write(10, 4, 20))
    'write T1CL 14'
    """
    match step:
        case Write(_, register, value):
            return f"write {REGISTER_NAMES[register]} {value:02x}"
        case Read(_, register):
            return f"read {REGISTER_NAMES[register]}"
        case Drive(_, pin, level):
            return f"drive {pin} {level:x}"
        case Check(half, pin):
            return f"{pin} in the {'second' if half % 2 else 'first'} half"
        case Reset():
            return "reset"


def explanation(result: Result, variant: str, diagnosis: Diagnosis | None = None) -> dict[str, Any]:
    """Return everything about one vector: what is known of it, its steps, and our chip around the fault.

    Without a fault, the cycles are those around the last read or check.
    """
    vector = result.vector
    steps = observed(vector.steps)
    at = first_difference(vector, result.answers) if result.answers else None
    centre = cycle_of(steps[-1 if at is None else at]) if steps else 0
    shown = islice(moments(vector, variant, centre + NEIGHBOURS), max(centre - NEIGHBOURS, 0), None)
    return {
        "name": vector.name,
        "feature": vector.feature,
        "chips": list(vector.chips),
        "outcome": result.outcome.value,
        "note": result.note,
        "deviations": _alternatives(diagnosis.causes.get(vector.name, ()) if diagnosis else ()),
        **_known(vector),
        "steps": _steps(result),
        "our_chip": [
            {
                "cycle": moment.cycle,
                "t1": f"{moment.t1:04x}",
                "t2": f"{moment.t2:04x}",
                "ifr": f"{moment.ifr:02x}",
                "sr": f"{moment.sr:02x}",
                "irq": _halves(moment, "irq", 1),
                "pb": _halves(moment, "pb", 2),
                "ca": _halves(moment, "ca1", 1) + " " + _halves(moment, "ca2", 1),
                "cb": _halves(moment, "cb1", 1) + " " + _halves(moment, "cb2", 1),
            }
            for moment in shown
        ],
    }


def _halves(moment: Moment, pin: str, digits: int) -> str:
    """Return a pin's level, or both where its halves differ."""
    return "/".join(dict.fromkeys(f"{pins[pin]:0{digits}x}" for pins in moment.pins))
