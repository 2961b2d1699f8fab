# C types of qemu_via.py, and what other compiled modules may call without the GIL.
cimport cython
from libc.stdint cimport int64_t

from guestclock.chips.via_constants cimport (
    ACR,
    ACR_T1_FREE_RUN,
    ACR_T1_PB7,
    ACR_T2_PULSES,
    C1_RISING,
    C2_INDEPENDENT_FALLING,
    C2_RISING,
    DDRA,
    DDRB,
    IER,
    IER_SET,
    IFR,
    IFR_ANY,
    IFR_CA1,
    IFR_CA2,
    IFR_CB1,
    IFR_CB2,
    IFR_FLAGS,
    IFR_SR,
    IFR_T1,
    IFR_T2,
    NEVER,
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    PCR,
    PORT_B_CONTROL,
    SR,
    T1CH,
    T1CL,
    T1LH,
    T1LL,
    T2CH,
    T2CL,
)
from guestclock.chips.qemu_calibration cimport Calibration
from guestclock.chips.qemu_timer cimport COUNTING, FLAG_CLEARED, FLAG_SET, Arithmetic, Timer

cdef enum:
    SIXTY_HZ_PERIOD_NS = 16625800
    SECOND_NS = 1000000000
    ADB_POLL_NS = 20000000
    VADB_INT = 0x08


@cython.final
cdef class QemuVia:
    cdef readonly object deviations, wiring
    cdef public int64_t sixty_hz_ns, second_ns, adb_ns
    cdef Arithmetic _arithmetic
    cdef bint _ahead, _modes_without_alarm, _line_misses_read, _t2_fires_again, _latch_write_updates
    cdef bint _flag_after_reset, _line_misses_clear, _ifr_read_stale, _flag_returns, _ports_keep_flags
    cdef bint _answers_calibration
    cdef int _machine_bits, _machine
    cdef readonly Calibration calibration
    cdef public int64_t now_ns
    cdef public int control_lines
    cdef public int ora, orb, ddra, ddrb, sr, acr, pcr, ifr, ier
    cdef public bint irq
    cdef public int64_t t1_acknowledges
    cdef public int64_t ca1_edges, ca2_edges
    cdef readonly Timer t1, t2

    cpdef void advance(self, int64_t ns) noexcept nogil
    cpdef void reach(self, int64_t ns) noexcept nogil
    cpdef int64_t next_event(self) noexcept nogil
    cpdef int read_here(self, int register) noexcept nogil
    cpdef void write_here(self, int register, int value) noexcept nogil
    cpdef void set_control_line(self, int flag, bint high) noexcept nogil
    cpdef int64_t t1_periods(self) noexcept nogil
    cpdef int64_t t1_last_period_ns(self) noexcept nogil
    cpdef int64_t t1_next_period_ns(self) noexcept nogil

    cdef void _stop(self, Timer timer) noexcept nogil
    @cython.locals(at_ns=int64_t)
    cdef void _go_off(self) noexcept nogil
    @cython.locals(at_ns=int64_t)
    cdef void _ring(self, Timer timer) noexcept nogil
    cdef void _update(self, Timer timer, int64_t now_ns) noexcept nogil
    @cython.locals(through=bint)
    cdef bint _may_alarm(self, Timer timer) noexcept nogil
    @cython.locals(once=bint)
    cdef void _time_out(self, Timer timer) noexcept nogil
    @cython.locals(again=bint)
    cdef void _sync(self, Timer timer, int64_t now_ns) noexcept nogil
    cdef void _look(self) noexcept nogil
    cdef void _look_at(self, Timer timer) noexcept nogil
    cdef void _sync_both(self) noexcept nogil
    cdef int _counter(self, Timer timer) noexcept nogil
    cdef void _clear(self, int flags) noexcept nogil
    cdef void _cleared(self, Timer timer) noexcept nogil
    cdef void _update_line(self) noexcept nogil
    @cython.locals(value=int)
    cdef int _read_timer(self, int register) noexcept nogil
    cdef int _read_rest(self, int register) noexcept nogil
    cdef void _write_t1(self, int register, int value) noexcept nogil
    cdef void _write_t2_high(self, int value) noexcept nogil
    cdef void _write_rest(self, int register, int value) noexcept nogil
    cdef void _acknowledge_port(self, int register) noexcept nogil
    cdef void _pulse(self, int flag) noexcept nogil
    cdef void _adb_answers(self) noexcept nogil
    @cython.locals(control=int)
    cdef bint _counts_rising(self, int flag) noexcept nogil
