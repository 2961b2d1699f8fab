"""Write the VIC-20's program, or turn what it printed into vectors.

Usage::

    python -m guestclock.conformance.capture CAPTURE.PRG
    python -m guestclock.conformance.capture PRINTED.TXT "your name, MOS 6522 of 1982, VIC-20" >new.txt
"""

import sys
from pathlib import Path

from guestclock.conformance import library
from guestclock.conformance.capture.evidence import recorded
from guestclock.conformance.capture.retiming import runnable
from guestclock.conformance.capture.vic20 import program
from guestclock.conformance.text_format import write_text
from guestclock.conformance.vector import Vector
from guestclock.errors import GuestclockError

UNRECORDED_FACTS = (7, 8)


def chosen() -> list[Vector]:
    """Return what the program runs: the timeout's own cycle, recorded nowhere or in two ways."""
    return runnable(vector for vector in library.packaged() if vector.fact in UNRECORDED_FACTS)


def main(arguments: list[str]) -> None:
    """Do what the arguments say."""
    match arguments:
        case [prg]:
            Path(prg).write_bytes(program(chosen()))
        case [printed, who]:
            text = Path(printed).read_text(encoding="utf-8")
            sys.stdout.write(write_text(recorded(text, printed, chosen(), who)))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except GuestclockError as error:
        sys.exit(str(error))
