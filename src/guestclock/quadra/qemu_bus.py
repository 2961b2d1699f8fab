# cython: annotation_typing=False, boundscheck=False, wraparound=False, cdivision=True
# ruff: noqa: F405
"""The board with QEMU's VIAs: an access takes no time, whatever the pacing.

QEMU's alarms go off in its main loop, beside the guest: one that falls due while guest code touches the VIA
comes after the access, which may have set the flag first (``docs/qemu-via.md``).  Here they go off between
blocks of code, as late as the pacing is, and what an access leaves due is attended to before the next block.
"""

import mmap
from collections.abc import Callable
from typing import Any

import cython

from guestclock.chips.mac_rtc import MacRtc
from guestclock.chips.qemu_deviations import Deviation
from guestclock.chips.qemu_via import VIA1, VIA2, QemuVia
from guestclock.quadra.board import QuadraBoard
from guestclock.timebase.pacing import Pacer

if not cython.compiled:  # Compiled, these are C constants: see qemu_bus.pxd.
    from guestclock.chips.qemu_via import SECOND_NS, SIXTY_HZ_PERIOD_NS
    from guestclock.chips.registers import *  # noqa: F403
    from guestclock.quadra.board import ACKNOWLEDGE, PORT_B_WRITES, T1_SOURCE, UNDERFLOW


class QemuBus(QuadraBoard):
    """QEMU's VIAs by a set of deviations, its VIA1 with the 60.15 Hz, the second and the ADB's one answer."""

    def __init__(
        self,
        deviations: Deviation,
        pacer: Pacer,
        rtc: MacRtc,
        transmitted: Callable[[int, int], None],
    ) -> None:
        """Take the set, and what every board takes."""
        super().__init__(pacer, rtc, transmitted)
        self.via1 = QemuVia(deviations, VIA1)
        self.via2 = QemuVia(deviations, VIA2)
        self._acknowledges = 0
        self._periods = 0
        self._next_period_ns = self.via1.t1_next_period_ns()
        self._ca1_edges = 0
        self._ca2_edges = 0
        self._adb_ns = self.via1.adb_ns
        self.deadline_ns = min(self.via1.next_event(), self.via2.next_event())

    def attach_memory(self, memory: mmap.mmap) -> None:
        """Let VIA1 reach the guest's memory, as 8.2 does when a calibration ends."""
        self.via1.calibration.memory = memory

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        return QuadraBoard.snapshot(self) | {
            "via1": self.via1.snapshot(),
            "via2": self.via2.snapshot(),
            "acknowledges": self._acknowledges,
            "periods": self._periods,
            "next_period_ns": self._next_period_ns,
            "ca1_edges": self._ca1_edges,
            "ca2_edges": self._ca2_edges,
            "adb_ns": self._adb_ns,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Become what :meth:`snapshot` saw."""
        QuadraBoard.restore(self, state)
        self.via1.restore(state["via1"])
        self.via2.restore(state["via2"])
        self._acknowledges = state["acknowledges"]
        self._periods = state["periods"]
        self._next_period_ns = state["next_period_ns"]
        self._ca1_edges = state["ca1_edges"]
        self._ca2_edges = state["ca2_edges"]
        self._adb_ns = state["adb_ns"]

    # Accesses.

    def _via1_read(self, register: int) -> int:
        value = cython.declare(cython.int)
        self._begin()
        self.via1.reach(self.pacer.guest_ns)
        value = self.via1.read_here(register)
        self._end()
        return value

    def _via2_read(self, register: int) -> int:
        value = cython.declare(cython.int)
        self._begin()
        self.via2.reach(self.pacer.guest_ns)
        value = self.via2.read_here(register)
        self._end()
        return value

    def _via1_write(self, register: int, value: int) -> None:
        self._begin()
        self.via1.reach(self.pacer.guest_ns)
        self.via1.write_here(register, value)
        if T1CL <= register <= T1LH:
            self._count_from_here()
        elif PORT_B_WRITES >> register & 1:
            self._port_b_written()
        self._end()

    def _via2_write(self, register: int, value: int) -> None:
        self._begin()
        self.via2.reach(self.pacer.guest_ns)
        self.via2.write_here(register, value)
        if PORT_B_WRITES >> register & 1:
            self._port_b_written()
        self._end()

    def _begin(self) -> None:
        self.via_accesses += 1
        self.pacer.follow(self.granted_bytes - self.budget_bytes)
        if self.pacer.guest_ns >= self._next_period_ns:
            self._note_periods()

    def _end(self) -> None:
        if self.via1.t1_acknowledges != self._acknowledges:
            self._note_acknowledge()
        if self._inputs_pending & ~self.via1.ifr:
            self._log_input_acknowledges(self.via1.ifr, self.cursor.rate.cycle_at(self.pacer.guest_ns))
        self._lines()

    def _port_b_written(self) -> None:
        self._port_b_changed(self.via1.orb | ~self.via1.ddrb, self.via2.orb | ~self.via2.ddrb)

    # Lines.

    def _settle(self) -> None:
        if self.pacer.guest_ns >= self._next_period_ns:
            self._note_periods()
        self.via1.advance(self.pacer.guest_ns)
        self._note_inputs()
        self.via2.advance(self.pacer.guest_ns)
        self._lines()

    def _lines(self) -> None:
        """Find the interrupt level and the next deadline, alarms that are due still to go off."""
        granted_until_ns = self.deadline_ns
        self.deadline_ns = min(self.via1.next_event(), self.via2.next_event())
        self.cursor.seek_ns(self.pacer.guest_ns)
        self._set_level(self.via1.irq, self.via2.irq)
        if self.deadline_ns <= self.pacer.guest_ns:
            # An alarm is due: no more code before it.
            self.granted_bytes -= self.budget_bytes
            self.budget_bytes = 0
        elif self.deadline_ns < granted_until_ns and not self.stop_requested:
            # The guest has set a timer: code was granted for longer than that.
            self._grant()

    def _via1_level(self) -> int:
        return 6 if self.via1.ddrb & ~self.via1.orb & 0x40 else 1

    def _rtc_drives(self, level: int) -> None:
        """Put the bit where QEMU puts it: into the port's register, if that is an input."""
        if self.via1.ddrb & 1 == 0:
            self.via1.orb = self.via1.orb & ~1 | level

    # What verdicts are made of.

    def _note_periods(self) -> None:
        """Log the T1 periods that ended since the last look, flag or no flag, if they make ticks."""
        self.via1.reach(self.pacer.guest_ns)
        periods = self.via1.t1_periods()
        at_ns = self.via1.t1_last_period_ns()
        if self.via1.ier & IFR_T1 == 0:
            pass
        elif self.via1.acr & ACR_T1_FREE_RUN:
            self._log_event(
                T1_SOURCE, UNDERFLOW, self.cursor.rate.cycle_at(at_ns), at_ns, periods - self._periods
            )
            self._pending = True
        elif self._periods == 0:
            # One-shot: the counter goes on, but only the first timeout means anything.
            self._log_event(T1_SOURCE, UNDERFLOW, self.cursor.rate.cycle_at(at_ns), at_ns, 1)
            self._pending = True
        self._periods = periods
        self._next_period_ns = self.via1.t1_next_period_ns()

    def _note_inputs(self) -> None:
        """Log the edges of the timing lines, and the ADB's answer, since the last look."""
        if self.via1.ca1_edges != self._ca1_edges:
            self._note_input(
                IFR_CA1, self.via1.sixty_hz_ns - SIXTY_HZ_PERIOD_NS, self.via1.ca1_edges - self._ca1_edges
            )
            self._ca1_edges = self.via1.ca1_edges
        if self.via1.ca2_edges != self._ca2_edges:
            self._note_input(IFR_CA2, self.via1.second_ns - SECOND_NS, self.via1.ca2_edges - self._ca2_edges)
            self._ca2_edges = self.via1.ca2_edges
        if self.via1.adb_ns != self._adb_ns:
            self._note_input(IFR_SR, self._adb_ns, 1)
            self._adb_ns = self.via1.adb_ns

    def _note_input(self, flag: int, at_ns: int, times: int) -> None:
        """Log what has set a flag so many times, the last time then, if it interrupts."""
        if self.via1.ier & flag:
            self._log_input(flag, self.cursor.rate.cycle_at(at_ns), at_ns, times)

    def _count_from_here(self) -> None:
        """Take T1's periods as they are now: the guest has changed the timer."""
        self._periods = self.via1.t1_periods()
        self._next_period_ns = self.via1.t1_next_period_ns()

    def _note_acknowledge(self) -> None:
        self._acknowledges = self.via1.t1_acknowledges
        if self._pending:
            self._pending = False
            cycle = self.cursor.rate.cycle_at(self.pacer.guest_ns)
            self._log_event(T1_SOURCE, ACKNOWLEDGE, cycle, self.pacer.guest_ns, 0)
