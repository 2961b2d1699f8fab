"""A saved run that can be run again: what its tables say of how it was made."""

import shlex
from dataclasses import dataclass, fields
from pathlib import Path

from guestclock.errors import BadInputError
from guestclock.experiments.boot import Boot, as_described
from guestclock.experiments.collect import HOST
from guestclock.experiments.plan import RunPlan
from guestclock.readings import EventKind, Tables, load
from guestclock.timebase.stalls import Stall, stalls_text

# What `guestclock run` calls the fields of a plan.
OPTIONS = {
    "chip": "--chip",
    "pacing": "--pacing",
    "host": "--host",
    "bus": "--bus",
    "stall": "--stall",
    "seed": "--seed",
    "ram_mib": "--ram",
    "silence_s": "--watchdog",
}


@dataclass(frozen=True)
class SavedRun:
    """A run's plan and boot, and the tables that it left."""

    plan: RunPlan
    boot: Boot
    tables: Tables

    @property
    def stalls(self) -> list[Stall]:
        """The stalls that the run suffered: the part of its schedule that mattered."""
        return suffered(self.tables)


def load_saved(directory: Path) -> SavedRun:
    """Return the run saved in a folder.

    Raises:
        BadInputError: nothing was saved there, it does not say how it was made, or a second run of it would
            not be the same.
    """
    tables = load(directory / "tables.npz")
    meta = tables.meta
    if "boot" not in meta or "chip" not in meta:
        raise BadInputError(f"{directory}: does not say how it was run: save it with guestclock run --save")
    words = {field.name: meta[field.name] for field in fields(RunPlan) if field.name in meta}
    if str(words.get("stall")).startswith("file="):
        words["stall"] = stalls_text(suffered(tables)) or None
    plan = RunPlan(**words)
    if not plan.reproducible:
        raise BadInputError(
            f"{directory}: was run on the real host, which does nothing twice: "
            "save a run with --pacing virtual or --host simulated"
        )
    if meta.get("typed_into"):
        raise BadInputError(f"{directory}: somebody typed into it: save a run without --console")
    return SavedRun(plan, as_described(meta["boot"], meta["command_line"]), tables)


def suffered(tables: Tables) -> list[Stall]:
    """Return the stalls in a run's tables."""
    if HOST not in tables.sources:
        return []
    events = tables.events_of(EventKind.STALL)
    return list(zip(events["host_ns"].tolist(), events["value"].tolist(), strict=True))


def command_of(plan: RunPlan, boot: Boot) -> str:
    """Return the ``guestclock run`` that makes a run of this plan."""
    words = ["guestclock", "run"]
    for field in fields(RunPlan):
        value = getattr(plan, field.name)
        if value != field.default:
            words += [OPTIONS[field.name], str(value)]
    return shlex.join([*words, *boot.options()])
