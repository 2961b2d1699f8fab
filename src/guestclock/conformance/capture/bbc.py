"""BBC BASIC listings for a BBC Model B or Master: they poke code, run it and print what the user VIA showed.

The 6502 runs at 2 MHz and waits for the user VIA, whose φ2 is 1 MHz: each access begins with a cycle of the
VIA's and ends with it, so that code which counts its own cycles from there touches the VIA in the very cycles
of a vector (BBC Microcomputer Advanced User Guide, chapter on the 1 MHz bus), and sees the IRQ pin in
either half.  Port B, CB1 and CB2 are at the user port; port A drives the printer's data lines, CA1 is its
acknowledge and CA2 its strobe.
"""

from collections.abc import Iterator, Sequence
from functools import cache

from guestclock.conformance.capture.batches import batches
from guestclock.conformance.capture.clocks import TWICE
from guestclock.conformance.capture.code6502 import (
    LDA_ABS,
    LDA_IMM,
    PHA,
    PHP,
    PLA,
    PLP,
    RTS,
    SEI,
    STA_ABS,
    Code,
)
from guestclock.conformance.capture.machine import Batch, Machine
from guestclock.conformance.capture.program6502 import (
    Body,
    begin,
    catch_interrupts,
    experiments,
    release_interrupts,
    results,
    results_bytes,
    subroutines,
)
from guestclock.conformance.capture.runs import Run, Socket
from guestclock.conformance.capture.wires import NONE, Wires

ORIGIN = 0x6000
END = 0x7800
"""Below the screen of mode 7; the listing itself grows to about twice the code, from 1900 on."""
SYSTEM_VIA_IER = 0xFE4E
USER_VIA = 0xFE60
BODY = Body(ORIGIN, END, USER_VIA, TWICE, scratch=0x70, interrupt_vector=0x0204)
BYTES_A_LINE = 32
FIRST_DATA_LINE = 1000

WIRES = Wires(
    driven={"cb1": 0x01, "cb2": 0x02, "pb6": 0x04, "ca1": 0x08},
    seen={"cb1": 0x01, "cb2": 0x02, "ca2": 0x04},
)
"""The printer's D0 to CB1 and PB0, D1 to CB2 and PB1, D2 to PB6, D3 to ACK, STROBE to PB2."""

WITHOUT_WIRES = Socket(TWICE, NONE)
WITH_WIRES = Socket(TWICE, WIRES)


def code(runs: Sequence[Run]) -> tuple[bytes, int]:
    """Return the machine code, and the address of its results."""
    made = Code(ORIGIN)
    begin(made)
    made.op(PHP)
    made.op(SEI)
    made.absolute(LDA_ABS, SYSTEM_VIA_IER)  # reads with bit 7 set: written again, it restores itself
    made.op(PHA)
    made.op(LDA_IMM, 0x7F)
    made.absolute(STA_ABS, SYSTEM_VIA_IER)
    catch_interrupts(made, BODY)
    experiments(made, BODY, runs)
    release_interrupts(made, BODY)
    made.op(PLA)
    made.absolute(STA_ABS, SYSTEM_VIA_IER)
    made.op(PLP)
    made.op(RTS)
    subroutines(made, BODY)
    results(made, runs)
    return made.finish(), made.address("result0")


def listing(runs: Sequence[Run]) -> bytes:
    """Return the BASIC listing that runs vectors, one numbered line a line.

    Each line of data ends in the sum of its bytes; the program names the line in which it is wrong.
    """
    image, at = code(runs)
    lines = [image[start : start + BYTES_A_LINE] for start in range(0, len(image), BYTES_A_LINE)]
    numbered = dict(enumerate(_basic(len(lines), at, results_bytes(runs)), 1))
    text = [f"{10 * number} {line}" for number, line in numbered.items()]
    for number, data in enumerate(lines):
        text.append(f"{FIRST_DATA_LINE + 10 * number} DATA {data.hex().upper()},{sum(data) & 0xFF}")
    return "".join(f"{line}\n" for line in text).encode("ascii")


def _basic(lines: int, at: int, count: int) -> Iterator[str]:
    yield "REM What a 6522 does: guestclock capture"
    yield f"MODE 7:HIMEM=&{ORIGIN:X}:P%=&{ORIGIN:X}:W%=0"
    yield f"FOR L%=1 TO {lines}:READ A$,S%:T%=0"
    yield 'FOR I%=1 TO LEN(A$) STEP 2:B%=EVAL("&"+MID$(A$,I%,2)):?P%=B%:P%=P%+1:T%=T%+B%:NEXT'
    yield f'IF T%MOD256<>S% PRINT "Line ";{FIRST_DATA_LINE - 10}+10*L%;" is wrong":W%=1'
    yield "NEXT:IF W% END"
    yield f"CALL &{ORIGIN:X}:T%=0"
    yield f"FOR I%=0 TO {count - 1}:B%=?(&{at:X}+I%):T%=T%+B%:PROCP(B%):NEXT:PROCP(T%MOD256):PRINT:END"
    yield 'DEF PROCP(B%):PRINT RIGHT$("0"+STR$~(B%),2);:ENDPROC'


def _batches(socket: Socket) -> list[Batch]:
    return batches(socket, lambda runs: code(runs)[0], listing, END - ORIGIN, 0x100)


HOW = "type or paste the listing (*EXEC), RUN, and copy the digits it prints into a file. BREAK afterwards."

BBC = Machine(
    "bbc",
    "a BBC Model B or Master, its user VIA",
    f"Take off what is plugged into the user and printer ports; {HOW}",
    cache(lambda: _batches(WITHOUT_WIRES)),
)

BBC_USER_PORT = Machine(
    "bbc-port",
    "a BBC Model B or Master, the pins of its user VIA",
    "Wire printer port 3 to user port 2 and 6, printer port 5 to user port 4 and 8, printer port 7 to user"
    " port 18, each through a BAT85 diode, its ring at the printer port; user port 2, 4 and 18 each through"
    f" 3.3 kΩ to user port 1 (+5 V); printer port 9 to 19, and 1 to user port 10; {HOW}",
    cache(lambda: _batches(WITH_WIRES)),
)
