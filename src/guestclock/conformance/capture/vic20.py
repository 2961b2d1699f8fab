"""Programs for an unexpanded VIC-20: LOAD "CAPTURE",8,1 and RUN; they print what a VIA showed.

Its VIAs run at the CPU's own φ2 and no access is stretched, so code that counts its cycles touches them in
the very cycles of a vector.  VIA 2 interrupts the CPU; VIA 1 has its port B, CB1, CB2 and four pins of port A
at the user port, where wires make one drive the other.
"""

from collections.abc import Sequence
from functools import cache, partial

from guestclock.chips.registers import IER
from guestclock.conformance.capture.batches import batches
from guestclock.conformance.capture.clocks import SAME
from guestclock.conformance.capture.code6502 import CLI, JSR, LDA_IMM, SEI, STA_ABS, Code
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
from guestclock.conformance.capture.wires import NONE, Wires

LOAD_ADDRESS = 0x1001
BASIC_LINE = bytes.fromhex("0b10 0a00 9e 34313039 00 0000")
"""10 SYS4109"""
MEMORY_END = 0x1E00
VIA1, VIA2 = 0x9110, 0x9120
CHROUT = 0xFFD2
IOINIT = 0xFDF9
"""The KERNAL's routine that sets both VIAs as after power-up."""
A_LINE = 8
LINES = 21
"""So many lines of results fit a screen of 23, with the line of RUN."""

WIRES = Wires(
    driven={"cb1": 0x04, "cb2": 0x08, "pb6": 0x10},
    seen={"cb1": 0x01, "cb2": 0x02},
)
"""User port 4-B-C, 5-M-D, 6-K: joystick lines PA2, PA3, PA4 to CB1 and PB0, CB2 and PB1, PB6."""

ON_VIA2 = Socket(SAME, NONE)
ON_VIA1 = Socket(SAME, WIRES, irq=False)


def program(via: int, runs: Sequence[Run]) -> bytes:
    """Return the PRG file that does the runs on one of the VIAs."""
    body = Body(
        LOAD_ADDRESS + len(BASIC_LINE), MEMORY_END, via, SAME, scratch=0xFB, interrupt_vector=0x0314, pushed=3
    )
    code = Code(body.origin)
    begin(code)
    code.op(SEI)
    code.op(LDA_IMM, 0x7F)
    for each in (VIA1, VIA2):
        code.absolute(STA_ABS, each + IER)
    catch_interrupts(code, body)
    experiments(code, body, runs)
    release_interrupts(code, body)
    code.absolute(JSR, IOINIT)
    code.op(CLI)
    print_results(code, body, results_bytes(runs), Printing(CHROUT, A_LINE))
    subroutines(code, body)
    results(code, runs)
    return bytes([LOAD_ADDRESS & 0xFF, LOAD_ADDRESS >> 8]) + BASIC_LINE + code.finish()


def _batches(socket: Socket, via: int) -> list[Batch]:
    room = MEMORY_END - LOAD_ADDRESS
    return batches(socket, partial(program, via), partial(program, via), room, A_LINE * LINES)


HOW = 'LOAD "CAPTURE",8,1 and RUN; type the digits it prints into a file.'

VIC20 = Machine(
    "vic20",
    "an unexpanded VIC-20, its VIA 2",
    f"{HOW} Take off what is plugged in, press no key.",
    cache(lambda: _batches(ON_VIA2, VIA2)),
)

VIC20_USER_PORT = Machine(
    "vic20-port",
    "an unexpanded VIC-20, the pins of its VIA 1 at the user port",
    f"Wire the user port: 4 to B and C, 5 to M and D, 6 to K. {HOW}",
    cache(lambda: _batches(ON_VIA1, VIA1)),
)
