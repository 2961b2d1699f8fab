"""``guestclock predict``: what a TSC frequency or a migration means for a guest's clock."""

from typing import Annotated

import typer

EXAMPLES = """
Examples:

  guestclock predict --tsc-hz 2300000000                     rate error, and the jump at the next update

  guestclock predict --tsc-hz 2.5e9 --tsc-hz 2.9952e9        several

  guestclock predict --migrate set-clock --downtime-ms 300   kvm-clock without KVM_CLOCK_REALTIME

  guestclock predict --faults                                the known ways of reading a clock wrongly
"""


def predict(
    *,
    tsc_hz: Annotated[
        list[float] | None, typer.Option(help="TSC frequency; may be given several times.")
    ] = None,
    migrate: Annotated[
        str | None,
        typer.Option(help="How the clock is carried over: nothing, set-clock or set-clock-realtime."),
    ] = None,
    tsc_method: Annotated[str, typer.Option(help="How the TSC is carried over: value or offset.")] = "value",
    downtime_ms: Annotated[float, typer.Option(help="For which a migrated guest does not run.")] = 100.0,
    clock_offset_ms: Annotated[
        float, typer.Option(help="How far the destination's wall clock is ahead of the source's.")
    ] = 0.0,
    to_tsc_hz: Annotated[
        float | None, typer.Option(help="The destination's TSC frequency; without it, the same.")
    ] = None,
    faults: Annotated[bool, typer.Option("--faults", help="List the known reader faults.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Predict a guest's clock from a TSC frequency or a migration; nothing is measured."""
    from guestclock.experiments.predictions import Plan  # noqa: PLC0415 (imports wait until the command runs)
    from guestclock.experiments.predictions import predict as predicted  # noqa: PLC0415

    document = predicted(
        Plan(
            tsc_hz=tuple(round(hz) for hz in tsc_hz or ()),
            method=migrate,
            tsc_method=tsc_method,
            downtime_ms=downtime_ms,
            clock_offset_ms=clock_offset_ms,
            destination_hz=round(to_tsc_hz) if to_tsc_hz else None,
            faults=faults,
        )
    )
    if json:
        from json import dumps  # noqa: PLC0415

        typer.echo(dumps(document, indent=2, ensure_ascii=False))
    else:
        from rich.console import Console  # noqa: PLC0415

        from guestclock.report.predictions import show_predictions  # noqa: PLC0415

        show_predictions(Console(), document)
