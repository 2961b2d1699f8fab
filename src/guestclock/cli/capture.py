"""``guestclock capture``: programs that ask real 6522s, and their answers as vectors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from guestclock.conformance.capture.machine import Machine

EXAMPLES = """
Examples:

  guestclock capture                              the machines there are, and how to run their programs

  guestclock capture vic20 CAPTURE.PRG            write the VIC-20's first program

  guestclock capture bbc PINS.BAS --batch 2       a listing for the BBC Micro, the second of several

  guestclock capture mac mac.elf                  a Macintosh's

  guestclock capture vic20 --read PRINTED.TXT --who "your name, MOS 6522 of 1982, VIC-20" >new.txt
"""


def capture(
    machine: Annotated[str | None, typer.Argument(help="Which machine. Default: list them.")] = None,
    file: Annotated[Path | None, typer.Argument(help="Where to write its program.")] = None,
    *,
    read: Annotated[
        Path | None, typer.Option(metavar="OUTPUT", help="Turn what the program said into vectors.")
    ] = None,
    batch: Annotated[
        int, typer.Option(min=1, help="Which of its programs; the first has what nobody has recorded.")
    ] = 1,
    who: Annotated[str, typer.Option(help="With --read: who ran it, on which chip of which machine.")] = "",
) -> None:
    """Have a real 6522 run the vectors: write a program for its machine, read what it said."""
    from guestclock.conformance.capture.machines import MACHINES, machine_named  # noqa: PLC0415
    from guestclock.errors import BadInputError  # noqa: PLC0415

    if machine is None:
        for each in MACHINES.values():
            typer.echo(f"{each.name}: {each.title}\n  {each.steps}")
        return
    chosen = machine_named(machine)
    if (file is None) == (read is None):
        raise BadInputError(f"capture {machine}: give a FILE to write the program to, or --read OUTPUT")
    if file is not None:
        _write(chosen, batch, file)
    elif read is not None:
        _read(chosen, read, who)


def _write(machine: "Machine", batch: int, file: Path) -> None:
    from guestclock.errors import BadInputError  # noqa: PLC0415

    found = machine.batches()
    if batch > len(found):
        raise BadInputError(f"capture {machine.name}: it has {len(found)} programs, not {batch}")
    chosen = found[batch - 1]
    try:
        file.write_bytes(chosen.program)
    except OSError as error:
        raise BadInputError(f"{file}: cannot be written: {error.strerror}") from None
    typer.echo(f"{file}: program {batch} of {len(found)} for {machine.title}\n{machine.steps}")


def _read(machine: "Machine", output: Path, who: str) -> None:
    from guestclock.conformance.text_format import write_text  # noqa: PLC0415
    from guestclock.errors import BadInputError  # noqa: PLC0415

    if not who:
        raise BadInputError('capture --read: --who "your name, the chip, the machine" goes with the evidence')
    try:
        said = output.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadInputError(f"{output}: cannot be read: {error.strerror}") from None
    found = machine.read(said, str(output), who)
    typer.echo(write_text(found), nl=False)
    typer.echo(f"{output}: {len(found)} vectors", err=True)
