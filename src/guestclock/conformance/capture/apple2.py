"""Programs for an Apple II with a Mockingboard in slot 4: BRUN them; they print what its first 6522 showed.

The card's 6522s run at the CPU's own φ2.  (The one long cycle at the end of a video line is long for both.)
Nothing is wired to the 6522 but a sound chip, whose data lines may show anything, so a run must not depend on
what an input shows.
"""

from collections.abc import Sequence
from functools import cache

from guestclock.conformance.capture.batches import batches
from guestclock.conformance.capture.clocks import SAME
from guestclock.conformance.capture.code6502 import PHP, PLP, SEI, Code
from guestclock.conformance.capture.machine import Batch, Machine
from guestclock.conformance.capture.program6502 import (
    Body,
    Printing,
    begin,
    catch_interrupts,
    experiments,
    print_results,
    release_interrupts,
    results,
    results_bytes,
    subroutines,
)
from guestclock.conformance.capture.runs import Run, Socket
from guestclock.conformance.capture.wires import NONE

ORIGIN = 0x6000
END = 0x9000
VIA = 0xC400
COUT = 0xFDED
BODY = Body(ORIGIN, END, VIA, SAME, scratch=0x06, interrupt_vector=0x03FE)
A_LINE = 16
LINES = 15
"""Of 24, so that the command and the sum are on the screen as well."""

ON_CARD = Socket(SAME, NONE, open_pins=(0x00, 0xFF))


def program(runs: Sequence[Run]) -> bytes:
    """Return the program that does the runs; it is loaded and called at 6000 (hexadecimal)."""
    code = Code(ORIGIN)
    begin(code)
    code.op(PHP)
    code.op(SEI)
    catch_interrupts(code, BODY)
    experiments(code, BODY, runs)
    release_interrupts(code, BODY)
    code.op(PLP)
    print_results(code, BODY, results_bytes(runs), Printing(COUT, A_LINE, 0x80))
    subroutines(code, BODY)
    results(code, runs)
    return code.finish()


def _batches() -> list[Batch]:
    return batches(ON_CARD, program, program, END - ORIGIN, A_LINE * LINES)


APPLE2 = Machine(
    "apple2",
    "an Apple II with a Mockingboard in slot 4, its first 6522",
    "BRUN CAPTURE,A$6000 (or load it at 6000 and CALL 24576), and copy the digits it prints into a file.",
    cache(_batches),
)
