"""``guestclock trace``: QEMU's own traces of its VIA."""

import time
from typing import Annotated, Any

import typer

EXAMPLES = """
Examples:

  qemu-system-m68k -M q800 … -trace 'mos6522_*' -msg timestamp=on -D via.log

  guestclock trace via.log            what the guest did with its timers

  guestclock trace via.log.gz --json  for a program

  guestclock trace --watch via.log    while QEMU still writes it; Ctrl-C ends it

  zstdcat via.log.zst | guestclock trace -
"""


def trace(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="A trace, plain or gzip, or - for standard input.")
    ],
    *,
    watch: Annotated[bool, typer.Option("--watch", help="Follow a file that grows, until Ctrl-C.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, with --watch one a line at each change.")
    ] = False,
) -> None:
    """Read a trace of QEMU's mos6522_* and via1_* events, with or without time stamps.

    Tells the intervals between T1's acknowledges, storms of recomputed timers, the backward steps of the
    clock that Linux makes of these reads, and where the time went. Ends with status 1 if the clock went back
    or an acknowledge came more than 20 ms after the one before.
    """
    from guestclock.cli.stages import stages  # noqa: PLC0415 (imports wait until the command runs)
    from guestclock.qemu.trace import analyse, as_json  # noqa: PLC0415
    from guestclock.qemu.trace_source import TraceSource  # noqa: PLC0415

    with TraceSource(file) as source:
        if watch:
            raise typer.Exit(_watch(source, json))
        with stages(quiet=json) as progress:
            document = as_json(analyse(source, progress))
    _tell(document, json)
    raise typer.Exit(document["exit_status"])


def _tell(document: dict[str, Any], json: bool) -> None:
    if json:
        from json import dumps  # noqa: PLC0415

        typer.echo(dumps(document, indent=2, ensure_ascii=False))
        return
    from rich.console import Console  # noqa: PLC0415

    from guestclock.report.trace_table import show_trace  # noqa: PLC0415

    show_trace(Console(), document)


def _watch(source: Any, json: bool) -> int:
    from json import dumps  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415
    from rich.live import Live  # noqa: PLC0415

    from guestclock.qemu.trace import as_json, watch  # noqa: PLC0415
    from guestclock.report.trace_table import render_trace, show_trace  # noqa: PLC0415

    document: dict[str, Any] = {}
    console = Console()
    live = Live(console=console, transient=True, auto_refresh=False)
    try:
        if console.is_terminal and not json:
            live.start()
        for figures in watch(source, _wait):
            document = as_json(figures)
            if json:
                typer.echo(dumps(document, ensure_ascii=False))
            else:
                live.update(render_trace(document), refresh=live.is_started)
    except KeyboardInterrupt:
        pass
    finally:
        live.stop()
    if document and not json:
        show_trace(console, document)
    return int(document.get("exit_status", 0))


def _wait() -> bool:
    """Let half a second pass; the watch goes on until Ctrl-C."""
    time.sleep(0.5)
    return True
