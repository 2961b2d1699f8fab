"""A comparison as plain data (``docs/json.md``)."""

import os
from typing import Any

from guestclock.experiments.compare.emulator import Emulator
from guestclock.experiments.compare.figures import COUNTS, spread
from guestclock.experiments.compare.rounds import Comparison, RowResult
from guestclock.experiments.compare.rows import Row, name
from guestclock.verdict.drift import ALLOWED_OFFSET_NS

SCHEMA = "guestclock.compare"
SCHEMA_VERSION = 1
DONE = "done"


def as_json(found: Comparison) -> dict[str, Any]:
    """Return all figures with their spreads.

    Good is a comparison in which every guest came to its end and the first row's clock, by which the others
    are measured, was sound.
    """
    rows = [_row(result) for result in found.rows]
    good = all(row["ended"] == [DONE] * found.rounds for row in rows) and rows[0]["sound"]
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "good": good,
        "exit_status": int(not good),
        "sentence": _sentence(rows),
        "common": _common(found.rows[0].row),
        "rounds": found.rounds,
        "processors": os.cpu_count(),
        "load_averages": found.load_averages,
        "rows": rows,
        "left_out": [{"name": name(row), "why": row.why_not} for row in found.left_out],
    }


def _common(row: Row) -> list[str]:
    return [f"{word} pacing" if about == "pacing" else word for about, word in row.common.items()]


def _row(result: RowResult) -> dict[str, Any]:
    names = list(dict.fromkeys(figure for run in result.runs for figure in run))
    return {
        "name": name(result.row),
        "settings": _settings(result.row),
        "ended": result.ended,
        "sound": all(map(_is_sound, result.runs)) and set(result.ended) == {DONE},
        "figures": {figure: spread(result.runs, figure) for figure in names},
    }


def _is_sound(run: dict[str, float | None]) -> bool:
    return not any(run[figure] for figure in COUNTS) and abs(run["drift_ns"] or 0) <= ALLOWED_OFFSET_NS


def _settings(row: Row) -> dict[str, Any]:
    common = {"load": row.load, "command_line": row.boot.command_line, "kernel": str(row.boot.kernel)}
    if row.event is not None:
        common |= {"event": row.event.kind, "event_for_ns": row.event.for_ns}
    machine = row.machine
    if isinstance(machine, Emulator):
        return common | {
            "machine": "qemu",
            "path": machine.binary.path,
            "version": machine.binary.version,
            "icount_shift": machine.icount_shift,
            "stall": machine.stall,
            "seed": machine.seed,
        }
    return common | {"machine": "ours", "bus": machine.bus_or_default} | {
        key: value for key, value in vars(machine).items() if key not in {"bus", "silence_s"}
    }  # fmt: skip


def _sentence(rows: list[dict[str, Any]]) -> str:
    if all(row["figures"]["backward_steps"] is None for row in rows):
        return "No clock was measured."
    at_fault = [row["name"] for row in rows if not row["sound"]]
    if not at_fault:
        return "No clock went back, jumped, lost a tick or drifted."
    sound = [row["name"] for row in rows if row["sound"]]
    return f"At fault: {'; '.join(at_fault)}. Sound: {'; '.join(sound) or 'none'}."
