"""A program for an unexpanded VIC-20: LOAD "CAPTURE",8,1 and RUN; it prints what its VIA 2 showed.

VIA 2 (9120 hex) runs at the CPU's own φ2 and no access is stretched, so code that counts its cycles
touches it in the very cycles of a vector.  Interrupts are off meanwhile; afterwards the KERNAL sets its timer
anew at the next RESTORE or reset.
"""

from collections.abc import Sequence

from guestclock.conformance.capture.code6502 import CLI, SEI, Code, experiments, prepare, print_results
from guestclock.conformance.capture.machine import Machine, unrecorded
from guestclock.conformance.capture.retiming import runnable
from guestclock.conformance.vector import Vector
from guestclock.errors import BadInputError

LOAD_ADDRESS = 0x1001
MEMORY_END = 0x1E00
VIA2 = 0x9120
CHROUT = 0xFFD2
BASIC_LINE = bytes.fromhex("0b10 0a00 9e 34313039 00 0000")
"""10 SYS4109"""


def program(vectors: Sequence[Vector]) -> bytes:
    """Return the PRG file that runs vectors which :func:`retiming.runnable` returned."""
    code = Code(LOAD_ADDRESS + len(BASIC_LINE))
    code.op(SEI)
    count = experiments(code, vectors, VIA2)
    code.op(CLI)
    print_results(code, count, CHROUT)
    prepare(code, VIA2)
    image = BASIC_LINE + code.finish()
    if LOAD_ADDRESS + len(image) > MEMORY_END:
        raise BadInputError(
            f"{len(vectors)} vectors take {len(image)} bytes: too many for an unexpanded VIC-20"
        )
    return bytes([LOAD_ADDRESS & 0xFF, LOAD_ADDRESS >> 8]) + image


VIC20 = Machine(
    "vic20",
    "an unexpanded VIC-20, its VIA 2",
    'LOAD "CAPTURE",8,1 and RUN; type the digits it prints into a file. RUN/STOP with RESTORE brings the'
    " keyboard back.",
    lambda: runnable(unrecorded()),
    program,
)
