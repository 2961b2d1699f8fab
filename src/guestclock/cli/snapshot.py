"""``guestclock run --snapshot`` and ``--restore``: a machine kept in a file, and taken out again."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from guestclock.experiments.run import Run, SnapshotOrder
    from guestclock.experiments.snapshot import Snapshot

OWN_OPTIONS = ("restore", "snapshot", "snapshot_at", "console", "json", "save")


def ordered(file: Path | None, at: str | None) -> "SnapshotOrder | None":
    """Return what the two options order."""
    if file is None and at is None:
        return None
    if file is None:
        raise typer.BadParameter("needs --snapshot FILE", param_hint="--snapshot-at")
    if at is None:
        raise typer.BadParameter("needs --snapshot-at TIME, as in 5s", param_hint="--snapshot")
    from guestclock.experiments.run import SnapshotOrder  # noqa: PLC0415 (imports wait)
    from guestclock.timebase.stalls import parse_duration_ns  # noqa: PLC0415

    return SnapshotOrder(parse_duration_ns(at), file)


def read_machine(context: typer.Context, file: Path) -> "Snapshot":
    """Return the machine in a file, which alone says how it is run."""
    from guestclock.cli.replay import refuse_others  # noqa: PLC0415
    from guestclock.experiments.snapshot_file import load  # noqa: PLC0415

    refuse_others(context, OWN_OPTIONS, "--restore: the file")
    return load(file)


def check_kept(ran: "Run", order: "SnapshotOrder | None") -> None:
    """Refuse to end well when a snapshot was ordered and none was taken."""
    if order is not None and not ran.kept:
        from guestclock.errors import BadInputError  # noqa: PLC0415

        raise BadInputError(
            f"{order.path}: not written: the guest ended before --snapshot-at {order.at_ns / 1e9:g}s"
        )
