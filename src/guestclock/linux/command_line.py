"""The Linux guest's kernel command line."""

from collections.abc import Iterable

from guestclock.errors import BadInputError
from guestclock.guests.orders import Phase, phases_word

# COMMAND_LINE_SIZE of Linux/m68k, less the final NUL.
LONGEST = 255

WORDS = (
    "console=ttyS0",
    # Loops per jiffy, about what a real Quadra 800 counts.  Calibrating would take 5 to 9 ticks of every
    # boot, and give each boot a delay loop of its own length.
    "lpj=109568",
)


def command_line(phases: Iterable[Phase], more: Iterable[str] = ()) -> str:
    """Return a command line that makes the guest run ``phases``.

    >>> command_line([Phase("hunt", 2)], ["probe=0x5003f000"])
    'console=ttyS0 lpj=109568 phases=hunt:2 probe=0x5003f000'

    Raises `BadInputError` when the kernel would cut it.
    """
    line = " ".join((*WORDS, phases_word(phases), *more))
    if len(line) > LONGEST:
        raise BadInputError(f"kernel command line: {len(line)} characters, the kernel takes {LONGEST}")
    return line
