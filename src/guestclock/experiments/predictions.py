"""Predictions of a guest's clock as plain data: its rate, what a migration does, how readers go wrong."""

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, TypeVar

from guestclock.errors import BadInputError
from guestclock.pvclock.predict import (
    Method,
    Migration,
    TscMethod,
    predict_migration,
    predict_rate,
)
from guestclock.pvclock.scenarios import scenarios

SCHEMA = "guestclock.predict"
SCHEMA_VERSION = 1
DEFAULT_HZ = 2_300_000_000
_Kind = TypeVar("_Kind", bound=Enum)


@dataclass(frozen=True)
class Plan:
    """What is asked: frequencies, a migration (``method`` is its name, or None), the list of faults."""

    tsc_hz: tuple[int, ...] = ()
    method: str | None = None
    tsc_method: str = "value"
    downtime_ms: float = 0.0
    clock_offset_ms: float = 0.0
    destination_hz: int | None = None
    faults: bool = False


def predict(plan: Plan) -> dict[str, Any]:
    """Return what was asked for; a part that was not is empty.  BadInputError when nothing was."""
    if not (plan.tsc_hz or plan.method or plan.faults):
        raise BadInputError("nothing to predict: give --tsc-hz, --migrate or --faults")
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "rates": [_rate(hz) for hz in plan.tsc_hz],
        "migration": _migration(plan, plan.method) if plan.method else None,
        "faults": [asdict(scenario) for scenario in scenarios()] if plan.faults else [],
    }


def _rate(tsc_hz: int) -> dict[str, Any]:
    rate = predict_rate(tsc_hz)
    return asdict(rate) | {"jumps_backwards": rate.jumps_backwards}


def _migration(plan: Plan, method: str) -> dict[str, Any]:
    source_hz = plan.tsc_hz[0] if plan.tsc_hz else DEFAULT_HZ
    migration = Migration(
        source_hz=source_hz,
        destination_hz=plan.destination_hz or source_hz,
        downtime_ns=round(plan.downtime_ms * 1e6),
        clock_offset_ns=round(plan.clock_offset_ms * 1e6),
        method=_named(Method, "--migrate", method),
        tsc_method=_named(TscMethod, "--tsc-method", plan.tsc_method),
    )
    prediction = predict_migration(migration)
    return (
        asdict(migration)
        | {"method": migration.method.value, "tsc_method": migration.tsc_method.value}
        | asdict(prediction)
        | {"goes_backwards": prediction.goes_backwards}
    )


def _named(kind: type[_Kind], option: str, name: str) -> _Kind:
    try:
        return kind(name)
    except ValueError:
        names = ", ".join(str(member.value) for member in kind)
        raise BadInputError(f"{option} {name}: there are {names}") from None
