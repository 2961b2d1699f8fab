"""The command line: one module a command, none of them with logic.

A command's module imports nothing but typer at its top, so that ``guestclock --help`` answers at once and
``doctor`` starts on machines that lack what other commands need.
"""

import sys
from typing import Any

import typer

from guestclock import __version__
from guestclock.cli import (
    build_guest,
    capture,
    compare,
    conform,
    doctor,
    explain,
    interleave,
    kvm,
    predict,
    run,
    trace,
)
from guestclock.errors import GuestclockError

app = typer.Typer(
    name="guestclock",
    help="A workbench for the clocks that guests of emulators and hypervisors see.",
    epilog="Exit status: 0 good, 1 the clock or guest is at fault, 2 bad usage or input, 4 cannot run here.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"guestclock {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and leave."
    ),
) -> None:
    """Take the options of all commands."""


def _add(command: Any, examples: str, name: str | None = None) -> None:
    app.command(name, epilog=examples)(command)


_add(run.run, run.EXAMPLES)
_add(compare.compare, compare.EXAMPLES)
_add(build_guest.build_guest, build_guest.EXAMPLES, "build-guest")
_add(kvm.kvm, kvm.EXAMPLES)
_add(doctor.doctor, doctor.EXAMPLES)
_add(trace.trace, trace.EXAMPLES)
_add(explain.explain, explain.EXAMPLES)
_add(interleave.interleave, interleave.EXAMPLES)
_add(predict.predict, predict.EXAMPLES)
_add(conform.conform, conform.EXAMPLES)
_add(capture.capture, capture.EXAMPLES)


def main() -> None:
    """Run the command line; an error that a person can mend is one line and its exit status."""
    try:
        app()
    except GuestclockError as error:
        print(f"guestclock: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
