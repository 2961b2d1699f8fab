"""``guestclock doctor``: this machine's clocks, by any user."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from guestclock.experiments.doctor import DoctorPlan, Progress

EXAMPLES = """
Examples:

  guestclock doctor                        what this machine has: about 12 s

  guestclock doctor --seconds 60           more pairs of CPUs, longer looks

  guestclock doctor --json                 for a program

  guestclock doctor --switch-clocksource   root: each clocksource in turn
"""


def doctor(
    *,
    seconds: Annotated[float, typer.Option(help="About how long to measure.")] = 12.0,
    seed: Annotated[int, typer.Option(help="Chooses the order in which pairs of CPUs are compared.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    save: Annotated[Path | None, typer.Option(help="Keep the tables in this folder.")] = None,
    switch_clocksource: Annotated[
        bool,
        typer.Option(
            "--switch-clocksource",
            help="Root only: make each available clocksource the system's in turn, measure, restore.",
        ),
    ] = False,
) -> None:
    """Examine this machine's clocks: what they are, what a read costs, whether they step or drift.

    Needs no privileges and changes no setting, but for --switch-clocksource.
    """
    from guestclock.cli.stages import stages  # noqa: PLC0415 (imports wait until the command runs)
    from guestclock.experiments import doctor as experiment  # noqa: PLC0415
    from guestclock.experiments import doctor_document  # noqa: PLC0415

    plan = experiment.DoctorPlan.lasting(seconds, seed)
    with stages(quiet=json) as progress:
        if switch_clocksource:
            document = _each_clocksource(plan, progress)
        else:
            found = experiment.examine(plan, progress)
            document = doctor_document.as_json(found)
            if save is not None:
                from guestclock.experiments.keep import keep_tables  # noqa: PLC0415

                keep_tables(found.tables, save)
    if json:
        from json import dumps  # noqa: PLC0415

        typer.echo(dumps(document, indent=2, ensure_ascii=False))
    else:
        from rich.console import Console  # noqa: PLC0415

        from guestclock.report.clock_table import show_doctor, show_switched  # noqa: PLC0415

        (show_switched if switch_clocksource else show_doctor)(Console(), document)
    raise typer.Exit(document["exit_status"])


def _each_clocksource(plan: "DoctorPlan", progress: "Progress") -> dict[str, Any]:
    from guestclock.experiments import switched  # noqa: PLC0415

    return switched.as_json(switched.measure_each(plan, progress))
