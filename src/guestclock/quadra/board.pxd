from libc.stdint cimport uint64_t

from guestclock.chips.via_constants cimport DDRB, IFR_CA1, IFR_CA2, IFR_SR, NEVER, ORB
from guestclock.quadra.cpu cimport Board
from guestclock.quadra.log cimport Log
from guestclock.quadra.probe_port cimport PROBE_LOW, PROBE_MAGIC, PROBE_VERSION, ProbePort
from guestclock.timebase.pacing cimport Pacer
from guestclock.timebase.rate cimport CycleCursor

cdef enum:
    IO_BASE = 0x50000000
    IO_END = 0x51000000
    IO_MASK = 0x3FFFF
    VIA2_START = 0x2000
    VIA_END = 0x4000
    SCC_START = 0xC020
    SCC_END = 0xC028
    PROBE_START = 0x3F000

    UNDERFLOW = 1
    IRQ = 2
    ACKNOWLEDGE = 3

    T1_SOURCE = 0

    PENDING_QUANTUM_BYTES = 4096
    HOUSEKEEPING_BYTES = 1 << 22
    PORT_B_WRITES = 1 << ORB | 1 << DDRB


cdef class QuadraBoard(Board):
    cdef readonly Pacer pacer
    cdef readonly CycleCursor cursor
    cdef readonly Log events
    cdef readonly Log probes
    cdef readonly object scc
    cdef readonly object rtc
    cdef readonly dict unmapped
    cdef public object on_power_off
    cdef public object on_housekeeping
    cdef public long long next_housekeeping_bytes
    cdef readonly long long deadline_ns
    cdef readonly long long via_accesses
    cdef ProbePort _probe_port
    cdef bint _scc_line
    cdef bint _pending
    cdef int _inputs_pending
    cdef int _rtc_pins
    cdef uint64_t io_read(self, uint64_t address, unsigned size) noexcept nogil
    cdef void io_write(self, uint64_t address, unsigned size, uint64_t value) noexcept nogil
    cdef void attend(self) noexcept nogil
    cdef int _via1_read(self, int register) noexcept nogil
    cdef int _via2_read(self, int register) noexcept nogil
    cdef void _via1_write(self, int register, int value) noexcept nogil
    cdef void _via2_write(self, int register, int value) noexcept nogil
    cdef int _via1_level(self) noexcept nogil
    cdef void _settle(self) noexcept nogil
    cdef void _grant(self) noexcept nogil
    cdef void _set_level(self, bint via1_line, bint via2_line) noexcept nogil
    cdef void _log_event(
        self, int source, int kind, long long cycle, long long guest_ns, long long value
    ) noexcept nogil
    cdef void _log_input(self, int flag, long long cycle, long long guest_ns, long long times) noexcept nogil
    cdef void _log_input_acknowledges(self, int ifr, long long cycle) noexcept nogil
    cdef void _probe_write(self, uint64_t offset, uint64_t value) noexcept nogil
    cdef uint64_t _slow_read(self, uint64_t address, unsigned size) noexcept nogil
    cdef void _slow_write(self, uint64_t address, unsigned size, uint64_t value) noexcept nogil
    cdef void _port_b_changed(self, int via1_pins, int via2_pins) noexcept nogil
    cdef void _housekeeping(self) noexcept nogil
