"""``guestclock explain``: a kernel's messages about its clocks, in cycles and time."""

from typing import Annotated

import typer

EXAMPLES = """
Examples:

  dmesg | guestclock explain -        this machine's kernel

  guestclock explain console.log      a guest's console

  guestclock explain --json kern.log  for a program
"""


def explain(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A kernel log, or - for standard input.")],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Tell what a kernel's messages about its clocks mean, and which clock to suspect.

    Ends with status 1 if a message proves a clock wrong.
    """
    from guestclock.linux.explain import as_json  # noqa: PLC0415 (imports wait until the command runs)
    from guestclock.linux.explain import explain as explained  # noqa: PLC0415
    from guestclock.linux.log_file import log_lines  # noqa: PLC0415

    document = as_json(explained(log_lines(file)))
    if json:
        from json import dumps  # noqa: PLC0415

        typer.echo(dumps(document, indent=2, ensure_ascii=False))
    else:
        from rich.console import Console  # noqa: PLC0415

        from guestclock.report.explanations import show_explanations  # noqa: PLC0415

        show_explanations(Console(), document)
    raise typer.Exit(document["exit_status"])
