"""Apple's ADB transceiver (342S0440, a PIC) of the Macintosh II family, with nothing on its bus.

```
VIA1 port B   PB5, PB4  ST1, ST0 from the VIA: 00 command, 01 even byte, 10 odd byte, 11 idle
              PB3       interrupt to the VIA, low: see below
VIA1          CB1, CB2  the clock, always the transceiver's, and the data of the VIA's shift register
```

Every change of the state lines but that to idle moves one byte, most significant bit first.  In the
command state the VIA sends (Guide to the Macintosh Family Hardware, ch. 8); what follows goes the way that
the command says.  A Talk that no device answers still brings three bytes: with the first the interrupt line
says that the bus timed out, with the second, high, that no device requests service, and with the third that
this was the end.  Linux's `macii_interrupt` reads them so.

An idle transceiver repeats the last Talk on its own and speaks up only for a device that has something to
say: here never.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Any, Protocol

from guestclock.chips.registers import NEVER

# In cycles of φ2, 783,360 Hz.  A bit takes a cell of the bus, 100 µs; the longest wait for an answer is
# attention, sync, the command with its stop bit, and 260 µs of stop-to-start time.
CYCLES_PER_US = 0.783360
HALF_BIT_CYCLES = round(50 * CYCLES_PER_US)
TIMEOUT_CYCLES = round((800 + 65 + 9 * 100 + 260) * CYCLES_PER_US)

EDGES_PER_BYTE = 16

NO_DATA = 0xFF
"""What the data line shows while nobody drives it."""

OPERATION = 0x0C
TALK = 0x0C


class State(IntEnum):
    """What ST1 and ST0 say."""

    COMMAND = 0
    EVEN = 1
    ODD = 2
    IDLE = 3


class ShiftLines(Protocol):
    """The two lines of a VIA's shift register, seen from outside."""

    @property
    def cb2(self) -> bool:
        """Whether the data line is high."""
        ...

    def advance(self, cycle: int) -> None:
        """Come to that cycle."""
        ...

    def set_cb1(self, level: int, cycle: int) -> None:
        """Drive the clock line."""
        ...

    def set_cb2(self, level: int, cycle: int) -> None:
        """Drive the data line."""
        ...


class AdbTransceiver:
    """The transceiver beside the VIA whose shift register it clocks.

    ``next_cycle`` is the φ2 cycle of its next edge of the clock, or ``NEVER``; ``interrupt`` says that it
    holds PB3 low.  Both change only in its methods.
    """

    def __init__(self, via: ShiftLines) -> None:
        self._via = via
        self.interrupt = False
        self.next_cycle = NEVER
        self._state = State.IDLE
        self._command = 0
        self._replies = 0
        self._edges = 0  # of the byte on its way; even: the next edge falls
        self._byte = NO_DATA
        self._gives = False

    def state_lines(self, state: int, cycle: int) -> None:
        """Show ST1 and ST0 (as the number ``ST1 << 1 | ST0``) after a write to the port in that cycle."""
        if state == self._state:
            return
        self.advance(cycle)
        self._state = State(state)
        self.interrupt = False
        self.next_cycle = NEVER
        self._via.set_cb1(1, cycle)  # a byte in the middle is given up
        self._via.set_cb2(1, cycle)
        if state == State.IDLE:
            return
        wait_cycles = 2 * HALF_BIT_CYCLES
        if state == State.COMMAND:
            self._replies = 0
            self._gives = False
        else:
            self._gives = self._command & OPERATION == TALK
        if self._gives:
            self._replies += 1
            self.interrupt = self._replies != 2
            if self._replies == 1:
                wait_cycles = TIMEOUT_CYCLES
        self._edges = 0
        self._byte = NO_DATA
        self.next_cycle = cycle + wait_cycles

    @property
    def byte_done(self) -> bool:
        """Whether the byte of the present state has been moved."""
        return self._edges == EDGES_PER_BYTE

    def advance(self, cycle: int) -> None:
        """Clock every edge that is due by that cycle."""
        while self.next_cycle <= cycle:
            self._edge(self.next_cycle)

    def _edge(self, cycle: int) -> None:
        falls = self._edges % 2 == 0
        if falls and self._gives:
            self._via.set_cb2(self._byte >> 7 - self._edges // 2 & 1, cycle)
        if not falls and not self._gives:
            self._via.advance(cycle)
            self._byte = (self._byte << 1 | self._via.cb2) & 0xFF
        self._via.set_cb1(not falls, cycle)
        self._edges += 1
        self.next_cycle = cycle + HALF_BIT_CYCLES
        if self.byte_done:
            self.next_cycle = NEVER
            if self._state == State.COMMAND:
                self._command = self._byte

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        return {name: int(getattr(self, name)) for name in STATE}

    def restore(self, state: dict[str, Any]) -> None:
        """Become what :meth:`snapshot` saw."""
        converters: dict[str, Callable[[int], Any]] = {
            "interrupt": bool, "_gives": bool, "_state": State,
        }  # fmt: skip
        for name in STATE:
            setattr(self, name, converters.get(name, int)(state[name]))


STATE = ("interrupt", "next_cycle", "_state", "_command", "_replies", "_edges", "_byte", "_gives")
