# cython: annotation_typing=False, boundscheck=False, wraparound=False, cdivision=True
"""The Quadra 800's I/O bus: where guest code meets the chips, and guest time is spent.

The window at 0x50000000 repeats every 256 KiB: VIA1 at 0, VIA2 at 0x2000 (a register every 0x200 bytes),
the SCC at 0xC020, and our own probe port at 0x3F000 (``docs/guest-protocol.md``).  Everything else reads
as zero and is counted.

An access first lets guest time follow (:mod:`guestclock.timebase.pacing`), then finds its φ2 cycle: that
is where :class:`Phi2Bus` and :class:`FastBus` differ.  ``deadline_ns`` is the guest time of the next
change of an interrupt line; code runs in budgets that end there, or at a quantum where only looking at the
host tells how late it is.
"""

from collections.abc import Callable

import cython

from guestclock.chips.mac_rtc import MacRtc
from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.z8530 import Z8530
from guestclock.quadra.cpu import Board
from guestclock.quadra.log import Log
from guestclock.readings.schema import EventKind
from guestclock.timebase.pacing import Pacer
from guestclock.timebase.rate import CycleCursor, Rate

if not cython.compiled:  # Compiled, these are C constants: see bus.pxd.
    from guestclock.chips.registers import *  # noqa: F403
    from guestclock.quadra.memory_map import *  # noqa: F403

    NEVER = 2**63 - 1
    UNDERFLOW = EventKind.UNDERFLOW
    IRQ = EventKind.IRQ
    ACKNOWLEDGE = EventKind.ACKNOWLEDGE
    # Reading these registers changes flags: the ports, T1CL, T2CL and SR (data sheet, "IFR").
    READS_WITH_EFFECT = 1 << ORB | 1 << ORA | 1 << T1CL | 1 << T2CL | 1 << SR
    PORT_B_WRITES = 1 << ORB | 1 << DDRB
    # A masked or late interrupt is looked after this often.
    PENDING_QUANTUM_BYTES = 4096
    HOUSEKEEPING_BYTES = 1 << 22
    # More than virtual time carries in two cycles of φ2, whatever the speed of code above 1 ns a byte.
    CYCLE_BYTES = 2600

PHI2_HZ = 783_360
EVENT_COLUMNS = ("kind", "guest_ns", "host_ns", "cycle", "code_bytes", "value", "masked")
PROBE_COLUMNS = ("guest_ns", "host_ns", "value", "tag", "calls", "ticks", "code_bytes")


class Bus(Board):
    """What both buses share: decoding, interrupt lines, logs."""

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
        self.via1 = Mos6522()
        self.via2 = Mos6522()
        self.scc = Z8530(transmitted)
        self.cursor = CycleCursor(Rate(PHI2_HZ))
        self.events = Log(len(EVENT_COLUMNS))
        self.probes = Log(len(PROBE_COLUMNS))
        self.unmapped: dict[tuple[str, int], int] = {}
        self.on_power_off: Callable[[], None] = lambda: None
        self.on_housekeeping: Callable[[], None] = lambda: None
        self.next_housekeeping_bytes = HOUSEKEEPING_BYTES
        self.deadline_ns = NEVER
        self.via_accesses = 0
        self._last_cycle = 0
        self._last_was_write = False
        self._irq_delay_cycles = 0
        self._line_since = 0
        self._line = False
        self._scc_line = False
        self._pending = False
        self._underflows = 0
        self._rtc_pins = -1
        self._probe_high = 0
        self._probe_tag = 0
        self._probe_calls = 0
        self._probe_ticks = 0

    # The CPU's side.

    def io_read(self, address: int, size: int) -> int:
        """Answer a read of 1, 2 or 4 bytes at a physical address."""
        offset = cython.declare(cython.ulonglong, address & IO_MASK)
        value = cython.declare(cython.ulonglong)
        if offset >= VIA_END or address < IO_BASE or address >= IO_END:
            return self._slow_read(address, size)
        if offset < VIA2_START:
            value = self._via_read(self.via1, offset >> 9 & 15)
        else:
            value = self._via_read(self.via2, offset >> 9 & 15)
        if size == 1:
            return value
        return value * (0x01010101 if size == 4 else 0x0101)

    def io_write(self, address: int, size: int, value: int) -> None:
        """Take a write of 1, 2 or 4 bytes at a physical address."""
        offset = cython.declare(cython.ulonglong, address & IO_MASK)
        if address < IO_BASE or address >= IO_END:
            self._slow_write(address, size, value)
        elif offset < VIA2_START:
            self._via_write(self.via1, offset >> 9 & 15, value & 0xFF)
        elif offset < VIA_END:
            self._via_write(self.via2, offset >> 9 & 15, value & 0xFF)
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

    # Time and the VIAs.

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
        via.advance(self._last_cycle)
        if READS_WITH_EFFECT >> register & 1 == 0:
            return via.read_here(register)
        self._note_underflows()
        value = via.read_here(register)
        self._note_acknowledge()
        self._settle()
        return value

    def _via_write(self, via: Mos6522, register: int, value: int) -> None:
        self.via_accesses += 1
        self._begin(True)
        via.advance(self._last_cycle)
        self._note_underflows()
        via.write_here(register, value)
        self._note_acknowledge()
        if PORT_B_WRITES >> register & 1:
            self._ports_changed()
        self._settle()

    def _settle(self) -> None:
        """Advance the chips to now, then find the interrupt level and the next deadline."""
        cycle = cython.declare(cython.longlong, self.cursor.seek_ns(self.pacer.guest_ns))
        granted_until_ns = cython.declare(cython.longlong, self.deadline_ns)
        line = cython.declare(cython.bint)
        half = cython.declare(cython.longlong)
        other = cython.declare(cython.longlong)
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
        self.deadline_ns = NEVER if half == NEVER else self.cursor.rate.start_ns((half + 1) // 2)
        if line and cycle < self._line_since + self._irq_delay_cycles:
            self.deadline_ns = self.cursor.end_ns
            line = False
        self._set_level(line)
        if self.deadline_ns < granted_until_ns and not self.stop_requested:
            # The guest has set a timer: code was granted for longer than that.
            self._grant()

    def _via1_level(self) -> int:
        """Return the level of VIA1's interrupt: 6 while it drives port B bit 6 low, as on Quadras, else 1."""
        return 6 if self.via1.ddrb & ~self.via1.orb & 0x40 else 1

    def _set_level(self, via1_line: bool) -> None:
        """Put the highest line on the CPU's pins: VIA1 at 6 or 1, SCC 4, VIA2 2."""
        level = cython.declare(cython.int, 0)
        if via1_line:
            level = self._via1_level()
        if self._scc_line and level < 4:
            level = 4
        if level < 2 and self.via2.irq_asserted():
            level = 2
        if via1_line and level > self.irq_level and self._pending:
            self._log_event(IRQ, self.cursor.cycle, self.pacer.guest_ns, level)
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

    def _note_underflows(self) -> None:
        """Log the T1 periods that ended since the last look, if they make ticks."""
        passed = cython.declare(cython.longlong, self.via1.t1_underflows - self._underflows)
        if passed == 0:
            return
        self._underflows = self.via1.t1_underflows
        if self.via1.ier & IFR_T1 == 0 or self.via1.ifr & IFR_T1 == 0:
            return
        if self.via1.acr & ACR_T1_FREE_RUN == 0:
            # One-shot: the counter goes on, but only the first timeout means anything.
            if self._pending:
                return
            passed = 1
        cycle = cython.declare(cython.longlong, self.via1.t1_flag_half // 2)
        self._log_event(UNDERFLOW, cycle, self.cursor.rate.start_ns(cycle), passed)
        self._pending = True

    def _note_acknowledge(self) -> None:
        if self._pending and self.via1.ifr & IFR_T1 == 0:
            self._pending = False
            self._log_event(ACKNOWLEDGE, self._last_cycle, self.pacer.guest_ns, 0)

    def _log_event(self, kind: int, cycle: int, guest_ns: int, value: int) -> None:
        row = cython.declare(cython.longlong, self.events.reserve())
        self.events.chunk[row, 0] = kind
        self.events.chunk[row, 1] = guest_ns
        self.events.chunk[row, 2] = self.pacer.host_ns
        self.events.chunk[row, 3] = cycle
        self.events.chunk[row, 4] = self.granted_bytes - self.budget_bytes
        self.events.chunk[row, 5] = value
        self.events.chunk[row, 6] = self.interrupt_mask >= self._via1_level()

    def _probe_write(self, offset: int, value: int) -> None:
        if offset == PROBE_LOW:
            self.pacer.follow(self.granted_bytes - self.budget_bytes)
            row = cython.declare(cython.longlong, self.probes.reserve())
            self.probes.chunk[row, 0] = self.pacer.guest_ns
            self.probes.chunk[row, 1] = self.pacer.host_ns
            self.probes.chunk[row, 2] = self._probe_high << 32 | cython.cast(cython.uint, value)
            self.probes.chunk[row, 3] = self._probe_tag
            self.probes.chunk[row, 4] = self._probe_calls
            self.probes.chunk[row, 5] = self._probe_ticks
            self.probes.chunk[row, 6] = self.granted_bytes - self.budget_bytes
        elif offset == PROBE_HIGH:
            self._probe_high = cython.cast(cython.uint, value)
            self._probe_high -= self._probe_high >> 31 << 32  # the value is signed; uncompiled, nothing wraps
        elif offset == PROBE_TAG:
            self._probe_tag = cython.cast(cython.uint, value)
        elif offset == PROBE_CALLS:
            self._probe_calls = cython.cast(cython.uint, value)
        elif offset == PROBE_TICKS:
            self._probe_ticks = cython.cast(cython.uint, value)

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

    def _ports_changed(self) -> None:
        """Show the VIAs' port B outputs to the clock chip and to the power switch."""
        pins = cython.declare(cython.int, (self.via1.orb | ~self.via1.ddrb) & 7)
        off = cython.declare(cython.bint, self.via2.ddrb & ~self.via2.orb & 4 != 0)
        if pins == self._rtc_pins and not off:
            return
        self._rtc_pins = pins
        with cython.gil:
            try:
                self.rtc.lines(pins & 4 == 0, pins & 2 != 0, pins & 1 != 0)
                self.via1.set_pins_b(0xFE | self.rtc.data_out, self.via1.now)
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
