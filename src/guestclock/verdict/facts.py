"""What verdicts take from ``meta``, each with its default (``docs/tables.md`` has the list)."""

from guestclock.readings import Tables

DEFAULT_TICK_PERIOD_NS = 10_000_000
"""One tick of a 100 Hz kernel, where the tables do not say how long theirs is."""


def tick_period_ns(tables: Tables) -> float:
    """Return the length of a tick: ``tick_period_ns``, or that of a 100 Hz kernel."""
    return float(tables.meta.get("tick_period_ns", DEFAULT_TICK_PERIOD_NS))


def tick_period_cycles(tables: Tables) -> int | None:
    """Return the length of a tick in timer cycles, where it is known."""
    cycles = tables.meta.get("tick_period_cycles")
    return None if cycles is None else int(cycles)


def line_period_cycles(tables: Tables) -> dict[str, int | None]:
    """Return the sources that interrupt beside the kernel's tick, with their periods; None: as it comes."""
    periods: dict[str, int | None] = tables.meta.get("line_period_cycles", {})
    return periods


def quantum_bytes(tables: Tables) -> int | None:
    """Return K: after at most so many bytes of code the machine looked at the time again."""
    quantum = tables.meta.get("quantum_bytes")
    return None if quantum is None else int(quantum)


def truth(tables: Tables) -> str:
    """Return the time that a clock should have followed: ``host``, or ``guest`` under virtual pacing."""
    return str(tables.meta.get("truth", "host"))
