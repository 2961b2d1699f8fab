"""``guestclock interleave``: is a reader of a clock page right in every order that a machine may show?"""

from typing import Annotated

import typer

EXAMPLES = """
Examples:

  guestclock interleave                               every reader against every hypervisor

  guestclock interleave --reader pvclock              today's reader: one barrier, before RDTSC

  guestclock interleave --reader pvclock-no-barrier   the shortest schedule that breaks it

  guestclock interleave --reader vmclock --hypervisor paused

  guestclock interleave --reader vmclock --model arm64
"""


def interleave(
    *,
    reader: Annotated[str | None, typer.Option(help="The reader; without it, a table of all.")] = None,
    model: Annotated[str, typer.Option(help="The machine: x86-tso, x86-as-load or arm64.")] = "x86-tso",
    hypervisor: Annotated[
        str, typer.Option(help="What its updates promise: continuous, forward, paused, stopped, backward …")
    ] = "continuous",
    vcpus: Annotated[int, typer.Option(help="vCPUs that read, one after the other.")] = 2,
    updates: Annotated[int | None, typer.Option(help="Updates of the page; 2, in the table 1.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Prove a reader of a clock page right for some vCPUs and updates, or show how it breaks."""
    from guestclock.cli.stages import stages  # noqa: PLC0415 (imports wait until the command runs)
    from guestclock.experiments.interleavings import Question, answer  # noqa: PLC0415

    if updates is None:
        updates = 2 if reader else 1
    with stages(quiet=json) as progress:
        document = answer(Question(reader, model, hypervisor, vcpus, updates), progress)
    if json:
        from json import dumps  # noqa: PLC0415

        typer.echo(dumps(document, indent=2, ensure_ascii=False))
    else:
        from rich.console import Console  # noqa: PLC0415

        from guestclock.report.interleavings import show_interleavings  # noqa: PLC0415

        show_interleavings(Console(), document)
    raise typer.Exit(document["exit_status"])
