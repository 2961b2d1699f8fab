# cython: annotation_typing=False, boundscheck=False, wraparound=False, cdivision=True
# ruff: noqa: F405
"""The board with the 6522s: where guest time is spent on the bus.

An access first lets guest time follow (:mod:`guestclock.timebase.pacing`), then finds its φ2 cycle: that
is where :class:`Phi2Bus` and :class:`FastBus` differ.
"""

from collections.abc import Callable
from typing import Any

import cython

from guestclock.chips.mac_rtc import MacRtc
from guestclock.chips.mos6522 import Mos6522
from guestclock.quadra.board import QuadraBoard
from guestclock.quadra.via1_inputs import Via1Inputs
from guestclock.timebase.pacing import Pacer

if not cython.compiled:  # Compiled, these are C constants: see bus.pxd.
    from guestclock.chips.registers import *  # noqa: F403
    from guestclock.quadra.board import ACKNOWLEDGE, PORT_B_WRITES, T1_SOURCE, UNDERFLOW

    # Reading these registers changes flags: the ports, T1CL, T2CL and SR (data sheet, "IFR").
    READS_WITH_EFFECT = 1 << ORB | 1 << ORA | 1 << T1CL | 1 << T2CL | 1 << SR
    # More than virtual time carries in two cycles of φ2, whatever the speed of code above 1 ns a byte.
    CYCLE_BYTES = 2600
    TIMING_LINES = IFR_CA1 | IFR_CA2
    ADB_STATE = 0x30
    ADB_INTERRUPT = 0x08


class Bus(QuadraBoard):
    """What both buses share: the chips, their lines, their ticks."""

    def __init__(self, pacer: Pacer, rtc: MacRtc, transmitted: Callable[[int, int], None]) -> None:
        """Take what makes time advance, the clock chip, and what receives the SCC's output."""
        super().__init__(pacer, rtc, transmitted)
        self.via1 = Mos6522()
        self.via2 = Mos6522()
        self.inputs = Via1Inputs(self.via1, self._note_input)
        self._lines_due = self.inputs.next_line_cycle
        self._inputs_due = self.inputs.next_cycle
        self._input_cycle = -1
        self._adb_state = ADB_STATE
        self._rtc_level = 1
        self._last_cycle = 0
        self._last_was_write = False
        self._irq_delay_cycles = 0
        self._line_since = 0
        self._line = False
        self._underflows = 0

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        return QuadraBoard.snapshot(self) | {
            "via1": self.via1.snapshot(),
            "via2": self.via2.snapshot(),
            "inputs": self.inputs.snapshot(),
            "input_cycle": self._input_cycle,
            "adb_state": self._adb_state,
            "rtc_level": self._rtc_level,
            "last_cycle": self._last_cycle,
            "last_was_write": bool(self._last_was_write),
            "line_since": self._line_since,
            "line": bool(self._line),
            "underflows": self._underflows,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Become what :meth:`snapshot` saw."""
        QuadraBoard.restore(self, state)
        self.via1.restore(state["via1"])
        self.via2.restore(state["via2"])
        self.inputs.restore(state["inputs"])
        self._lines_due = self.inputs.next_line_cycle
        self._inputs_due = self.inputs.next_cycle
        self._input_cycle = state["input_cycle"]
        self._adb_state = state["adb_state"]
        self._rtc_level = state["rtc_level"]
        self._last_cycle = state["last_cycle"]
        self._last_was_write = state["last_was_write"]
        self._line_since = state["line_since"]
        self._line = state["line"]
        self._underflows = state["underflows"]

    # Accesses.

    def _via1_read(self, register: int) -> int:
        return self._via_read(self.via1, register)

    def _via2_read(self, register: int) -> int:
        return self._via_read(self.via2, register)

    def _via1_write(self, register: int, value: int) -> None:
        self._via_write(self.via1, register, value)

    def _via2_write(self, register: int, value: int) -> None:
        self._via_write(self.via2, register, value)

    def _begin(self, write: bool) -> None:
        """Follow the time and choose the φ2 cycle of an access (in ``cursor``)."""

    def _charge(self, until_ns: int) -> None:
        """Spend guest time on the bus; code that was granted for that time is taken back."""
        self.pacer.charge_until(self.granted_bytes - self.budget_bytes, until_ns)
        self.budget_bytes -= CYCLE_BYTES
        self.granted_bytes -= CYCLE_BYTES

    def _via_read(self, via: Mos6522, register: int) -> int:
        value = cython.declare(cython.int)
        self.via_accesses += 1
        self._begin(False)
        if self._last_cycle >= self._inputs_due:
            self._advance_inputs(self._last_cycle)
        via.advance(self._last_cycle)
        if READS_WITH_EFFECT >> register & 1 == 0:
            return via.read_here(register)
        self._note_underflows()
        value = via.read_here(register)
        self._note_acknowledge()
        self._settle()
        return value

    def _via_write(self, via: Mos6522, register: int, value: int) -> None:
        pins = cython.declare(cython.int)
        self.via_accesses += 1
        self._begin(True)
        if self._last_cycle >= self._inputs_due:
            self._advance_inputs(self._last_cycle)
        via.advance(self._last_cycle)
        self._note_underflows()
        via.write_here(register, value)
        self._note_acknowledge()
        if PORT_B_WRITES >> register & 1:
            pins = self.via1.port_b_output()
            self._port_b_changed(pins, self.via2.port_b_output())
            if pins & ADB_STATE != self._adb_state:
                self._change_adb_state(pins & ADB_STATE)
        self._settle()

    # Lines.

    def _settle(self) -> None:
        """Advance the chips to now, then find the interrupt level and the next deadline."""
        cycle = cython.declare(cython.longlong, self.cursor.seek_ns(self.pacer.guest_ns))
        granted_until_ns = cython.declare(cython.longlong, self.deadline_ns)
        line = cython.declare(cython.bint)
        half = cython.declare(cython.longlong)
        other = cython.declare(cython.longlong)
        if cycle >= self._inputs_due:
            self._advance_inputs(cycle)
        self.via1.advance(cycle)
        self.via2.advance(cycle)
        self._note_underflows()
        line = self.via1.irq_asserted()
        if line and not self._line:
            # The pin falls half a cycle before the flag is set: that cycle does not count yet.
            self._line_since = cycle if self.via1.ifr & self.via1.ier else cycle + 1
        self._line = line
        half = self.via1.next_event_half(WATCH_IRQ)
        other = self.via2.next_event_half(WATCH_IRQ)
        half = min(half, other)
        # The ADB's clock always moves something; a timing line only what somebody listens to.
        if self.via1.ier & TIMING_LINES or self._inputs_due < self._lines_due:
            half = min(half, 2 * self._inputs_due + 1)
        self.deadline_ns = NEVER if half == NEVER else self.cursor.rate.start_ns((half + 1) // 2)
        if line and cycle < self._line_since + self._irq_delay_cycles:
            self.deadline_ns = self.cursor.end_ns
            line = False
        self._set_level(line, self.via2.irq_asserted())
        if self.deadline_ns < granted_until_ns and not self.stop_requested:
            # The guest has set a timer: code was granted for longer than that.
            self._grant()

    def _via1_level(self) -> int:
        return 1 if self.via1.port_b_output() & 0x40 else 6

    # Inputs of VIA1.

    def _advance_inputs(self, cycle: int) -> None:
        with cython.gil:
            try:
                self.inputs.advance(cycle)
                self._inputs_moved()
            except BaseException as error:
                self._fail(error)

    def _change_adb_state(self, state: int) -> None:
        with cython.gil:
            try:
                self._adb_state = state
                self.inputs.adb.state_lines(state >> 4, self.via1.now)
                self._inputs_moved()
            except BaseException as error:
                self._fail(error)

    def _inputs_moved(self) -> None:
        self._lines_due = self.inputs.next_line_cycle
        self._inputs_due = self.inputs.next_cycle
        self._drive_port_b()

    def _rtc_drives(self, level: int) -> None:
        self._rtc_level = level
        self._drive_port_b()

    def _drive_port_b(self) -> None:
        interrupt = 0 if self.inputs.adb.interrupt else ADB_INTERRUPT
        self.via1.set_pins_b(0xF6 | interrupt | self._rtc_level, self.via1.now)

    # What verdicts are made of.

    def _note_underflows(self) -> None:
        """Log the T1 periods that ended since the last look, if they make ticks."""
        passed = cython.declare(cython.longlong, self.via1.timer1.underflows - self._underflows)
        if passed == 0:
            return
        self._underflows = self.via1.timer1.underflows
        if self.via1.ier & IFR_T1 == 0 or self.via1.ifr & IFR_T1 == 0:
            return
        if self.via1.acr & ACR_T1_FREE_RUN == 0:
            # One-shot: the counter goes on, but only the first timeout means anything.
            if self._pending:
                return
            passed = 1
        cycle = cython.declare(cython.longlong, self.via1.timer1.flag_half // 2)
        self._log_event(T1_SOURCE, UNDERFLOW, cycle, self.cursor.rate.start_ns(cycle), passed)
        self._pending = True

    def _note_acknowledge(self) -> None:
        if self._pending and self.via1.ifr & IFR_T1 == 0:
            self._pending = False
            self._log_event(T1_SOURCE, ACKNOWLEDGE, self._last_cycle, self.pacer.guest_ns, 0)
        if self._inputs_pending & ~self.via1.ifr and self.via1.now > self._input_cycle:
            self._log_input_acknowledges(self.via1.ifr, self._last_cycle)

    def _note_input(self, flag: int, cycle: int, times: int) -> None:
        """Log edges that set a flag in the cycle after ``cycle``, if they interrupt."""
        if self.via1.ier & flag:
            self._input_cycle = cycle
            self._log_input(flag, cycle + 1, self.cursor.rate.start_ns(cycle + 1), times)


class Phi2Bus(Bus):
    """A real Quadra's bus: an access waits for a φ2 boundary and takes one whole cycle.

    Two consecutive reads of a counter never agree, whatever the pacing.
    """

    def _begin(self, write: bool) -> None:
        cycle = cython.declare(cython.longlong)
        self.pacer.follow(self.granted_bytes - self.budget_bytes)
        cycle = self.cursor.seek_ns(self.pacer.guest_ns)
        if self.pacer.guest_ns > self.cursor.start_ns:
            cycle += 1
        if cycle <= self._last_cycle:
            cycle = self._last_cycle + 1
        self._last_cycle = cycle
        self._charge(self.cursor.seek_cycle(cycle + 1))
        if self.pacer.guest_ns >= self.deadline_ns:
            self._settle()


class FastBus(Bus):
    """A bus whose reads share a φ2 cycle as long as guest time is level with the host.

    A write has a cycle of its own, and while guest time is behind the host so has a read.  The CPU sees an
    interrupt one cycle after the pin: the counter has then reloaded.
    """

    def __init__(self, pacer: Pacer, rtc: MacRtc, transmitted: Callable[[int, int], None]) -> None:
        """Take what :class:`Bus` takes."""
        super().__init__(pacer, rtc, transmitted)
        self._irq_delay_cycles = 1

    def _begin(self, write: bool) -> None:
        cycle = cython.declare(cython.longlong)
        self.pacer.follow(self.granted_bytes - self.budget_bytes)
        cycle = self.cursor.seek_ns(self.pacer.guest_ns)
        if cycle == self._last_cycle and (
            write or self._last_was_write or self.cursor.end_ns - self.pacer.guest_ns <= self.pacer.room_ns()
        ):
            cycle += 1
            self._charge(self.cursor.seek_cycle(cycle))
        self._last_cycle = cycle
        self._last_was_write = write
        if self.pacer.guest_ns >= self.deadline_ns:
            self._settle()
