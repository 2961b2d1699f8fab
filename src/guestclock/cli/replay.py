"""``guestclock run --replay``: a second look at a saved run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from guestclock.experiments.saved_run import SavedRun

OWN_OPTIONS = ("replay", "to_step", "shrink", "json")


def look_again(
    context: typer.Context, folder: Path | None, to_step: int | None, *, shrink: bool, as_json: bool
) -> None:
    """Show a saved run before a backward step, or shrink its stalls."""
    from guestclock.experiments.saved_run import load_saved  # noqa: PLC0415 (imports wait)

    if folder is None:
        raise typer.BadParameter("needs --replay DIR", param_hint="--shrink" if shrink else "--to-step")
    refuse_others(context, OWN_OPTIONS, "--replay: the saved run")
    if shrink and to_step is not None:
        raise typer.BadParameter("does not go with --shrink", param_hint="--to-step")
    saved = load_saved(folder)
    if shrink:
        _shrink(saved, as_json)
    else:
        _show_step(saved, 1 if to_step is None else to_step, as_json)


def refuse_others(context: typer.Context, own_options: Sequence[str], whose: str) -> None:
    """A saved run, or a snapshot, says how it is run: no other option may."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in own_options:
            raise typer.BadParameter(
                f"does not go with {whose} says how it is run", param_hint=parameter.opts[0]
            )


def _show_step(saved: "SavedRun", number: int, as_json: bool) -> None:
    import json  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415

    from guestclock.experiments.replay import replay  # noqa: PLC0415
    from guestclock.experiments.replay_document import as_json as document  # noqa: PLC0415
    from guestclock.report.replay import show  # noqa: PLC0415

    found = document(replay(saved, number))
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        show(Console(), found)


def _shrink(saved: "SavedRun", as_json: bool) -> None:
    import json  # noqa: PLC0415

    from guestclock.experiments.shrink import shrink  # noqa: PLC0415

    def tell(line: str) -> None:
        typer.echo(line, err=True)

    found = shrink(saved, progress=tell)
    if as_json:
        typer.echo(json.dumps(found.document(), indent=2, ensure_ascii=False))
        return
    typer.echo(found.sentence)
    typer.echo(found.command)
