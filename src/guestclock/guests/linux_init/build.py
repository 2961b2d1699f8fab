"""Builds the Linux guest's init: one statically linked program."""

from pathlib import Path

from guestclock.guests.compiler import compile_program

FOLDER = Path(__file__).parent


def build_init(output: Path) -> None:
    """Build the init into ``output``.

    Raises `guestclock.errors.UnavailableError` when the cross compiler is missing.
    """
    compile_program(FOLDER, output, flags=())
