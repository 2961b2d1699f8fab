"""The verdict for programs (``docs/json.md``)."""

import json
from dataclasses import asdict

from guestclock.readings import Tables
from guestclock.verdict import Verdict

SCHEMA = "guestclock.verdict"
SCHEMA_VERSION = 1


def to_json(tables: Tables, verdict: Verdict) -> str:
    """Return one JSON object: how the run was made, every figure with its unit in its name, and the verdict.

    The same tables give the same text.
    """
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "good": verdict.good,
        "exit_status": verdict.exit_status,
        "sentence": verdict.sentence,
        "meta": dict(tables.meta),
        "monotonicity": asdict(verdict.monotonicity),
        "ticks": asdict(verdict.ticks),
        "drift": asdict(verdict.drift),
        "stability": asdict(verdict.stability),
        "cost": asdict(verdict.cost),
        "health": asdict(verdict.health),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
