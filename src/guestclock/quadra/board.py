# cython: annotation_typing=False, boundscheck=False, wraparound=False, cdivision=True
# ruff: noqa: F405
"""The Quadra 800's board: where guest code meets everything but its memory.

The window at 0x50000000 repeats every 256 KiB: VIA1 at 0, VIA2 at 0x2000 (a register every 0x200 bytes),
the SCC at 0xC020, and our own probe port at 0x3F000 (``docs/guest-protocol.md``).  Everything else reads
as zero and is counted.

The VIAs, and what an access to them costs, are for a subclass to add: the chip's in
:mod:`guestclock.quadra.bus`, QEMU's in :mod:`guestclock.quadra.qemu_bus`.  ``deadline_ns`` is the guest
time of the next change of an interrupt line; code runs in budgets that end there, or at a quantum where only
looking at the host tells how late it is.
"""

import mmap
from collections.abc import Callable
from typing import Any

import cython

from guestclock.chips.mac_rtc import MacRtc, MacRtcState
from guestclock.chips.z8530 import Z8530, ChannelState, Z8530State
from guestclock.quadra.cpu import Board
from guestclock.quadra.log import Log
from guestclock.quadra.probe_port import ProbePort
from guestclock.readings.schema import EventKind
from guestclock.timebase.pacing import Pacer
from guestclock.timebase.rate import CycleCursor, Rate

if not cython.compiled:  # Compiled, these are C constants: see board.pxd.
    from guestclock.chips.registers import DDRB, IFR_CA1, IFR_CA2, IFR_SR, NEVER, ORB
    from guestclock.quadra.memory_map import *  # noqa: F403

    UNDERFLOW = EventKind.UNDERFLOW
    IRQ = EventKind.IRQ
    ACKNOWLEDGE = EventKind.ACKNOWLEDGE
    T1_SOURCE = 0
    # A masked or late interrupt is looked after this often.
    PENDING_QUANTUM_BYTES = 4096
    HOUSEKEEPING_BYTES = 1 << 22
    PORT_B_WRITES = 1 << ORB | 1 << DDRB

PHI2_HZ = 783_360
EVENT_COLUMNS = ("kind", "guest_ns", "host_ns", "cycle", "code_bytes", "value", "masked", "source")
EVENT_SOURCES = ("via1.t1", "via1.ca1", "via1.ca2", "via1.sr")
"""What interrupts through VIA1, by the number in the column ``source``."""

# Flag of IFR -> the number in EVENT_SOURCES of what sets it from outside.
INPUT_SOURCES = {IFR_CA1: 1, IFR_CA2: 2, IFR_SR: 3}


class QuadraBoard(Board):
    """What all boards share: decoding, time, interrupt levels, the SCC, the clock chip, logs."""

    def __init__(self, pacer: Pacer, rtc: MacRtc, transmitted: Callable[[int, int], None]) -> None:
        """Take what makes time advance, the clock chip, and what receives the SCC's output."""
        self.budget_bytes = 0
        self.granted_bytes = 0
        self.irq_level = 0
        self.interrupt_mask = 7
        self.stop_requested = False
        self.failure: BaseException | None = None
        self.pacer = pacer
        self.rtc = rtc
        self.scc = Z8530(transmitted)
        self.cursor = CycleCursor(Rate(PHI2_HZ))
        self.events = Log(len(EVENT_COLUMNS))
        self._probe_port = ProbePort()
        self.probes = self._probe_port.log
        self.unmapped: dict[tuple[str, int], int] = {}
        self.on_power_off: Callable[[], None] = lambda: None
        self.on_housekeeping: Callable[[], None] = lambda: None
        self.next_housekeeping_bytes = HOUSEKEEPING_BYTES
        self.deadline_ns = NEVER
        self.via_accesses = 0
        self._scc_line = False
        self._pending = False
        self._inputs_pending = 0
        self._rtc_pins = -1

    # The CPU's side.

    def io_read(self, address: int, size: int) -> int:
        """Answer a read of 1, 2 or 4 bytes at a physical address."""
        offset = cython.declare(cython.ulonglong, address & IO_MASK)
        value = cython.declare(cython.ulonglong)
        if offset >= VIA_END or address < IO_BASE or address >= IO_END:
            return self._slow_read(address, size)
        if offset < VIA2_START:
            value = self._via1_read(offset >> 9 & 15)
        else:
            value = self._via2_read(offset >> 9 & 15)
        if size == 1:
            return value
        return value * (0x01010101 if size == 4 else 0x0101)

    def io_write(self, address: int, size: int, value: int) -> None:
        """Take a write of 1, 2 or 4 bytes at a physical address."""
        offset = cython.declare(cython.ulonglong, address & IO_MASK)
        if address < IO_BASE or address >= IO_END:
            self._slow_write(address, size, value)
        elif offset < VIA2_START:
            self._via1_write(offset >> 9 & 15, value & 0xFF)
        elif offset < VIA_END:
            self._via2_write(offset >> 9 & 15, value & 0xFF)
        elif offset >= PROBE_START:
            self._probe_write(offset - PROBE_START, value)
        else:
            self._slow_write(address, size, value)

    def attend(self) -> None:
        """Look at the time between two blocks of code."""
        code_bytes = cython.declare(cython.longlong, self.granted_bytes - self.budget_bytes)
        self.pacer.follow(code_bytes)
        if self.pacer.guest_ns >= self.deadline_ns or self._pending:
            self._settle()
        if code_bytes >= self.next_housekeeping_bytes:
            self.next_housekeeping_bytes = code_bytes + HOUSEKEEPING_BYTES
            self._housekeeping()
        self._grant()

    def idle(self) -> None:
        """Let a stopped CPU wait for the next event, or for as long as a wait may last."""
        self.pacer.idle_until(self.granted_bytes - self.budget_bytes, self.deadline_ns)
        self._settle()
        self._grant()

    def settle(self) -> None:
        """Bring lines and deadline up to date after something outside the guest changed."""
        self._settle()
        self._grant()

    # Frozen and thawed.

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data: the time, the chips, the lines; the logs are apart."""
        return {
            "budget_bytes": self.budget_bytes,
            "granted_bytes": self.granted_bytes,
            "irq_level": self.irq_level,
            "interrupt_mask": self.interrupt_mask,
            "next_housekeeping_bytes": self.next_housekeeping_bytes,
            "deadline_ns": self.deadline_ns,
            "via_accesses": self.via_accesses,
            "cycle": self.cursor.cycle,
            "scc_line": bool(self._scc_line),
            "pending": bool(self._pending),
            "inputs_pending": self._inputs_pending,
            "rtc_pins": self._rtc_pins,
            "pacer": self.pacer.snapshot(),
            "scc": self.scc.snapshot(),
            "rtc": self.rtc.snapshot(),
            "probe_port": self._probe_port.snapshot(),
            "unmapped": [[access, address, count] for (access, address), count in self.unmapped.items()],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Become what :meth:`snapshot` saw; the host's time goes on from what it was then."""
        self.budget_bytes = state["budget_bytes"]
        self.granted_bytes = state["granted_bytes"]
        self.irq_level = state["irq_level"]
        self.interrupt_mask = state["interrupt_mask"]
        self.next_housekeeping_bytes = state["next_housekeeping_bytes"]
        self.deadline_ns = state["deadline_ns"]
        self.via_accesses = state["via_accesses"]
        self.cursor.seek_cycle(state["cycle"])
        self._scc_line = state["scc_line"]
        self._pending = state["pending"]
        self._inputs_pending = state["inputs_pending"]
        self._rtc_pins = state["rtc_pins"]
        self.pacer.restore(state["pacer"])
        pointer, wr2, wr9, b, a = state["scc"]
        self.scc.restore(Z8530State(pointer, wr2, wr9, ChannelState(*b), ChannelState(*a)))
        self.rtc.restore(MacRtcState(*state["rtc"]))
        self._probe_port.restore(state["probe_port"])
        self.unmapped = {(access, address): count for access, address, count in state["unmapped"]}

    # What a subclass adds.

    def attach_memory(self, memory: mmap.mmap) -> None:
        """Take the guest's memory, from address 0: for a board that reaches into it."""

    def _via1_read(self, register: int) -> int:
        """Return what a read of VIA1's register gives, now."""
        return 0

    def _via2_read(self, register: int) -> int:
        """Return what a read of VIA2's register gives, now."""
        return 0

    def _via1_write(self, register: int, value: int) -> None:
        """Write VIA1's register, now."""

    def _via2_write(self, register: int, value: int) -> None:
        """Write VIA2's register, now."""

    def _via1_level(self) -> int:
        """Return the level of VIA1's interrupt: 6 while it drives port B bit 6 low, as on Quadras, else 1."""
        return 6

    def _settle(self) -> None:
        """Advance the VIAs to now, then find the interrupt level and the next deadline."""

    def _rtc_drives(self, level: int) -> None:
        """Take what the clock chip puts on VIA1's PB0."""

    # Interrupts and budgets.

    def _set_level(self, via1_line: bool, via2_line: bool) -> None:
        """Put the highest line on the CPU's pins: VIA1 at 6 or 1, SCC 4, VIA2 2."""
        level = cython.declare(cython.int, 0)
        if via1_line:
            level = self._via1_level()
        if self._scc_line and level < 4:
            level = 4
        if level < 2 and via2_line:
            level = 2
        if via1_line and level > self.irq_level and self._pending:
            self._log_event(T1_SOURCE, IRQ, self.cursor.cycle, self.pacer.guest_ns, level)
        self.irq_level = level

    def _grant(self) -> None:
        """Grant code until the deadline, or until the next look."""
        code_bytes = cython.declare(cython.longlong, self.granted_bytes - self.budget_bytes)
        grant = cython.declare(cython.longlong, self.pacer.budget_bytes(self.deadline_ns))
        if self._pending and grant > PENDING_QUANTUM_BYTES:
            grant = PENDING_QUANTUM_BYTES
        grant = min(grant, self.next_housekeeping_bytes - code_bytes)
        self.granted_bytes = code_bytes + grant
        self.budget_bytes = grant

    # What verdicts are made of.

    def _log_event(self, source: int, kind: int, cycle: int, guest_ns: int, value: int) -> None:
        row = cython.declare(cython.longlong, self.events.reserve())
        self.events.chunk[row, 0] = kind
        self.events.chunk[row, 1] = guest_ns
        self.events.chunk[row, 2] = self.pacer.host_ns
        self.events.chunk[row, 3] = cycle
        self.events.chunk[row, 4] = self.granted_bytes - self.budget_bytes
        self.events.chunk[row, 5] = value
        self.events.chunk[row, 6] = self.interrupt_mask >= self._via1_level()
        self.events.chunk[row, 7] = source

    def _log_input(self, flag: int, cycle: int, guest_ns: int, times: int) -> None:
        """Log that VIA1's flag was set from outside, at the last of so many occasions, and interrupts."""
        with cython.gil:
            self._inputs_pending |= flag
            self._log_event(INPUT_SOURCES[flag], UNDERFLOW, cycle, guest_ns, times)

    def _log_input_acknowledges(self, ifr: int, cycle: int) -> None:
        """Log which of those flags the guest has cleared."""
        with cython.gil:
            for flag, source in INPUT_SOURCES.items():
                if self._inputs_pending & flag & ~ifr:
                    self._inputs_pending &= ~flag
                    self._log_event(source, ACKNOWLEDGE, cycle, self.pacer.guest_ns, 0)

    def _probe_write(self, offset: int, value: int) -> None:
        code_bytes = cython.declare(cython.longlong, self.granted_bytes - self.budget_bytes)
        if offset == PROBE_LOW:
            self.pacer.follow(code_bytes)
            self._probe_port.commit(value, self.pacer.guest_ns, self.pacer.host_ns, code_bytes)
        else:
            self._probe_port.write(offset, value)

    # What needs the interpreter.

    def _slow_read(self, address: int, size: int) -> int:
        with cython.gil:
            try:
                return self._device_read(address, size)
            except BaseException as error:
                self._fail(error)
                return 0

    def _slow_write(self, address: int, size: int, value: int) -> None:
        with cython.gil:
            try:
                self._device_write(address, size, value)
            except BaseException as error:
                self._fail(error)

    def _port_b_changed(self, via1_pins: int, via2_pins: int) -> None:
        """Show the levels that the VIAs' port B drives to the clock chip and to the power switch."""
        pins = cython.declare(cython.int, via1_pins & 7)
        off = cython.declare(cython.bint, via2_pins & 4 == 0)
        if pins == self._rtc_pins and not off:
            return
        self._rtc_pins = pins
        with cython.gil:
            try:
                self.rtc.lines(pins & 4 == 0, pins & 2 != 0, pins & 1 != 0)
                self._rtc_drives(self.rtc.data_out)
                if off:
                    self.on_power_off()
                    self.stop_requested = True
            except BaseException as error:
                self._fail(error)

    def _housekeeping(self) -> None:
        with cython.gil:
            try:
                self.on_housekeeping()
            except BaseException as error:
                self._fail(error)

    def _device_read(self, address: int, size: int) -> int:
        offset = address & IO_MASK
        if IO_BASE <= address < IO_END:
            if SCC_START <= offset < SCC_END:
                value = self.scc.read(offset & 7)
                self._scc_changed()
                return value
            if offset == PROBE_START:
                return PROBE_MAGIC
            if offset == PROBE_START + PROBE_VERSION:
                return 1
        self._count_unmapped("read", address)
        return 0

    def _device_write(self, address: int, size: int, value: int) -> None:
        offset = address & IO_MASK
        if IO_BASE <= address < IO_END and SCC_START <= offset < SCC_END:
            self.scc.write(offset & 7, value & 0xFF)
            self._scc_changed()
        else:
            self._count_unmapped("write", address)

    def _count_unmapped(self, access: str, address: int) -> None:
        key = (access, address & ~0xFFF)
        self.unmapped[key] = self.unmapped.get(key, 0) + 1

    def receive(self, channel: int, data: bytes) -> None:
        """Put input into a channel of the SCC."""
        self.scc.receive(channel, data)
        self._scc_changed()

    def _scc_changed(self) -> None:
        if self.scc.irq != self._scc_line:
            self._scc_line = self.scc.irq
            self._settle()
