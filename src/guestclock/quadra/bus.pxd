from libc.stdint cimport int64_t

from guestclock.chips.mos6522 cimport Mos6522
from guestclock.chips.via_constants cimport (
    ACR_T1_FREE_RUN,
    IFR_CA1,
    IFR_CA2,
    IFR_T1,
    NEVER,
    ORA,
    ORB,
    SR,
    T1CL,
    T2CL,
    WATCH_IRQ,
)
from guestclock.quadra.board cimport ACKNOWLEDGE, PORT_B_WRITES, T1_SOURCE, UNDERFLOW, QuadraBoard

cdef enum:
    READS_WITH_EFFECT = 1 << ORB | 1 << ORA | 1 << T1CL | 1 << T2CL | 1 << SR
    CYCLE_BYTES = 2600
    TIMING_LINES = IFR_CA1 | IFR_CA2
    ADB_STATE = 0x30
    ADB_INTERRUPT = 0x08


cdef class Bus(QuadraBoard):
    cdef readonly Mos6522 via1
    cdef readonly Mos6522 via2
    cdef int64_t _last_cycle
    cdef bint _last_was_write
    cdef int64_t _irq_delay_cycles
    cdef int64_t _line_since
    cdef bint _line
    cdef long long _underflows
    cdef readonly object inputs
    cdef int64_t _lines_due
    cdef int64_t _inputs_due
    cdef int64_t _input_cycle
    cdef int _adb_state
    cdef int _rtc_level
    cdef void _begin(self, bint write) noexcept nogil
    cdef void _charge(self, long long until_ns) noexcept nogil
    cdef int _via_read(self, Mos6522 via, int register) noexcept nogil
    cdef void _via_write(self, Mos6522 via, int register, int value) noexcept nogil
    cdef void _note_underflows(self) noexcept nogil
    cdef void _note_acknowledge(self) noexcept nogil
    cdef void _advance_inputs(self, int64_t cycle) noexcept nogil
    cdef void _change_adb_state(self, int state) noexcept nogil


cdef class Phi2Bus(Bus):
    pass


cdef class FastBus(Bus):
    pass
