"""Readers of clock pages against hypervisors: one question with its schedule, or the table of them all."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from guestclock.pvclock.interleave import HYPERVISORS, Result, interleave
from guestclock.pvclock.interleave.models import find_model
from guestclock.pvclock.interleave.questions import why_not
from guestclock.pvclock.readers import READERS, find_reader

SCHEMA = "guestclock.interleave"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Question:
    """What is asked; no reader means every one, against every hypervisor that makes sense."""

    reader: str | None
    model: str
    hypervisor: str
    vcpus: int
    updates: int


def answer(question: Question, progress: Callable[[str, float], None]) -> dict[str, Any]:
    """Return the answers as plain data; exit status 1 when the one reader asked for is broken."""
    if question.reader is not None:
        results = [
            interleave(
                question.reader,
                question.model,
                question.vcpus,
                question.updates,
                hypervisor=question.hypervisor,
            )
        ]
        broken = not results[0].proved
    else:
        results = _all(question, progress)
        broken = False
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "exit_status": int(broken),
        "model": question.model,
        "model_title": find_model(question.model).title,
        "vcpus": question.vcpus,
        "updates": question.updates,
        "hypervisors": {name: hypervisor.title for name, hypervisor in HYPERVISORS.items()},
        "results": [_result(result) for result in results],
    }


def _all(question: Question, progress: Callable[[str, float], None]) -> list[Result]:
    model = find_model(question.model)
    asked = [
        (reader, hypervisor)
        for reader in READERS
        for hypervisor in HYPERVISORS
        if not why_not(READERS[reader], model, HYPERVISORS[hypervisor])
    ]
    results = []
    for number, (reader, hypervisor) in enumerate(asked):
        progress(f"{reader}, {hypervisor}", number / len(asked))
        results.append(
            interleave(reader, model.name, question.vcpus, question.updates, hypervisor=hypervisor)
        )
    return results


def _result(result: Result) -> dict[str, Any]:
    return {
        "reader": result.reader,
        "reader_title": find_reader(result.reader).title,
        "hypervisor": result.hypervisor,
        "proved": result.proved,
        "states": result.states,
        "fault": asdict(result.fault) if result.fault else None,
        "schedule": [asdict(row) for row in result.schedule],
    }
