from libc.stdint cimport int64_t, uint64_t

from guestclock.chips.mos6522 cimport (
    ACR_T1_FREE_RUN,
    DDRB,
    IFR_T1,
    NEVER,
    ORA,
    ORB,
    SR,
    T1CL,
    T2CL,
    WATCH_IRQ,
    Mos6522,
)
from guestclock.quadra.cpu cimport Board
from guestclock.quadra.log cimport Log
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
    PROBE_VERSION = 0x04
    PROBE_TAG = 0x10
    PROBE_CALLS = 0x14
    PROBE_TICKS = 0x18
    PROBE_HIGH = 0x20
    PROBE_LOW = 0x24
    PROBE_MAGIC = 0x47434C4B

    UNDERFLOW = 1
    IRQ = 2
    ACKNOWLEDGE = 3

    READS_WITH_EFFECT = 1 << ORB | 1 << ORA | 1 << T1CL | 1 << T2CL | 1 << SR
    PORT_B_WRITES = 1 << ORB | 1 << DDRB
    PENDING_QUANTUM_BYTES = 4096
    HOUSEKEEPING_BYTES = 1 << 22
    CYCLE_BYTES = 2600


cdef class Bus(Board):
    cdef readonly Mos6522 via1
    cdef readonly Mos6522 via2
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
    cdef int64_t _last_cycle
    cdef bint _last_was_write
    cdef int64_t _irq_delay_cycles
    cdef int64_t _line_since
    cdef bint _line
    cdef bint _scc_line
    cdef bint _pending
    cdef long long _underflows
    cdef int _rtc_pins
    cdef long long _probe_high
    cdef long long _probe_tag
    cdef long long _probe_calls
    cdef long long _probe_ticks
    cdef uint64_t io_read(self, uint64_t address, unsigned size) noexcept nogil
    cdef void io_write(self, uint64_t address, unsigned size, uint64_t value) noexcept nogil
    cdef void attend(self) noexcept nogil
    cdef void _begin(self, bint write) noexcept nogil
    cdef void _charge(self, long long until_ns) noexcept nogil
    cdef int _via_read(self, Mos6522 via, int register) noexcept nogil
    cdef void _via_write(self, Mos6522 via, int register, int value) noexcept nogil
    cdef void _settle(self) noexcept nogil
    cdef void _grant(self) noexcept nogil
    cdef int _via1_level(self) noexcept nogil
    cdef void _set_level(self, bint via1_line) noexcept nogil
    cdef void _note_underflows(self) noexcept nogil
    cdef void _note_acknowledge(self) noexcept nogil
    cdef void _log_event(self, int kind, long long cycle, long long guest_ns, long long value) noexcept nogil
    cdef void _probe_write(self, uint64_t offset, uint64_t value) noexcept nogil
    cdef uint64_t _slow_read(self, uint64_t address, unsigned size) noexcept nogil
    cdef void _slow_write(self, uint64_t address, unsigned size, uint64_t value) noexcept nogil
    cdef void _ports_changed(self) noexcept nogil
    cdef void _housekeeping(self) noexcept nogil


cdef class Phi2Bus(Bus):
    pass


cdef class FastBus(Bus):
    pass
