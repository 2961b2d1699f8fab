"""This terminal as the guest's: keys go in as they are pressed, output comes out as it is."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

END_KEY = b"\x1d"  # Ctrl-]
INTERRUPTED = "leave with Ctrl-]"


class Terminal:
    """Standard input and output."""

    def show(self, data: bytes) -> None:
        """Write what the guest sent."""
        os.write(sys.stdout.fileno(), data)

    def typed(self) -> bytes:
        """Return what was typed since the last time; Ctrl-] interrupts the run."""
        data = b""
        while select.select([sys.stdin], [], [], 0)[0]:
            more = os.read(sys.stdin.fileno(), 1024)
            if not more:
                break
            data += more
        if sys.stdin.isatty() and END_KEY in data:
            raise KeyboardInterrupt
        return data


@contextmanager
def connected() -> Iterator[Terminal]:
    """Connect the terminal; its settings come back whatever happens."""
    if not sys.stdin.isatty():
        yield Terminal()
        return
    settings = termios.tcgetattr(sys.stdin)
    sys.stderr.write(f"Connected to the guest's console; {INTERRUPTED}.\r\n")
    try:
        tty.setraw(sys.stdin)
        yield Terminal()
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, settings)
