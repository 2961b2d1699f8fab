# C types of mos6522.py, and what other compiled modules may call without the GIL.
#
# Names as in registers.py (tests/chips/test_registers.py compares them).  They are C constants
# here so that the register dispatch becomes a switch.
cimport cython
from libc.stdint cimport int64_t

cdef extern from *:
    """
    #define NEVER INT64_MAX
    """
    const int64_t NEVER

cdef enum:
    ORB = 0x0
    ORA = 0x1
    DDRB = 0x2
    DDRA = 0x3
    T1CL = 0x4
    T1CH = 0x5
    T1LL = 0x6
    T1LH = 0x7
    T2CL = 0x8
    T2CH = 0x9
    SR = 0xA
    ACR = 0xB
    PCR = 0xC
    IFR = 0xD
    IER = 0xE
    ORA_NO_HANDSHAKE = 0xF

    IFR_CA2 = 0x01
    IFR_CA1 = 0x02
    IFR_SR = 0x04
    IFR_CB2 = 0x08
    IFR_CB1 = 0x10
    IFR_T2 = 0x20
    IFR_T1 = 0x40
    IFR_ANY = 0x80
    IFR_FLAGS = 0x7F
    IER_SET = 0x80

    ACR_SR_MODE = 0x1C
    ACR_T2_PULSES = 0x20
    ACR_T1_FREE_RUN = 0x40
    ACR_T1_PB7 = 0x80
    SR_IN_T2 = 0x04
    SR_OUT_FREE = 0x10
    SR_OUT_T2 = 0x14

    PCR_CA2_MODE = 0x0E
    PCR_CB2_MODE = 0xE0
    CA2_INDEPENDENT_FALLING = 0x02
    CA2_INDEPENDENT_RISING = 0x06
    CB2_INDEPENDENT_FALLING = 0x20
    CB2_INDEPENDENT_RISING = 0x60

    PB6 = 0x40
    PB7 = 0x80

    WATCH_IRQ = 1
    WATCH_PB7 = 2

    READ_T1CL = 0x01
    WRITE_T1CH = 0x02
    WRITE_T1LH = 0x04
    READ_T2CL = 0x08
    WRITE_T2CH = 0x10
    WRITE_IFR = 0x20


@cython.final
cdef class Mos6522:
    cdef public str variant
    cdef public int timeout_beats

    cdef public int64_t now
    cdef public int64_t last_access
    cdef int64_t attention

    cdef public int ora, orb, ddra, ddrb, sr, acr, pcr, ifr, ier
    cdef public int pins_a, pins_b

    cdef public int t1_latch
    cdef public int64_t t1_zero
    cdef public bint t1_timed_out, t1_armed
    cdef public int64_t t1_underflows, t1_flag_half
    cdef public bint pb7_output

    cdef public int t2_latch
    cdef public int64_t t2_base, t2_low_zero, t2_loaded, t2_flag_half
    cdef public bint t2_borrowed, t2_armed, t2_pulse_waits
    cdef public int pb6, pb6_before
    cdef public int64_t pb6_cycle
    cdef int64_t t2_due

    cpdef int read(self, int register, int64_t cycle) except -1
    cpdef void write(self, int register, int value, int64_t cycle) except *
    cdef void _refuse(self, int register, int64_t cycle) except *
    cdef void _check_not_over(self, int64_t cycle) except *

    cpdef void advance(self, int64_t cycle) noexcept nogil
    cpdef int read_here(self, int register) noexcept nogil
    cpdef void write_here(self, int register, int value) noexcept nogil
    @cython.locals(flags=int)
    cdef bint irq_asserted(self) noexcept nogil
    @cython.locals(event=int64_t)
    cdef int64_t next_event_half(self, int watch) noexcept nogil

    cdef void _pins_at(self, int64_t cycle) except *
    cpdef int port_a_levels(self) noexcept nogil
    @cython.locals(rest=int)
    cpdef int port_b_levels(self) noexcept nogil
    cpdef int port_a_output(self) noexcept nogil
    @cython.locals(levels=int)
    cpdef int port_b_output(self) noexcept nogil

    cdef int _read_rest(self, int register) noexcept nogil
    cdef void _schedule(self) noexcept nogil
    cdef void _catch_up(self) noexcept nogil

    @cython.locals(period=int64_t, whole_periods=int64_t)
    cdef void _t1_catch_up(self) noexcept nogil
    cdef void _t1_times_out(self, int64_t times) noexcept nogil
    cdef int64_t _t1_next_half(self) noexcept nogil
    cdef bint _t1_beats(self, int access) noexcept nogil

    cdef bint _t2_beats(self, int access) noexcept nogil
    cdef int _t2_count(self) noexcept nogil
    @cython.locals(mode=int)
    cdef bint _t2_clocks_sr(self) noexcept nogil
    cdef int _t2_high(self) noexcept nogil
    cdef void _t2_start(self, int count, bint borrowed) noexcept nogil
    cdef bint _t2_low_byte_borrowed(self) noexcept nogil
    cdef int64_t _t2_timeout(self) noexcept nogil
    @cython.locals(timeout=int64_t)
    cdef int64_t _t2_next_half(self) noexcept nogil
    cdef int64_t _t2_next_due(self) noexcept nogil
    cdef void _t2_catch_up(self) noexcept nogil
    cdef void _t2_times_out(self, int64_t cycle) noexcept nogil
    cdef void _t2_counts_pulse(self) noexcept nogil
    @cython.locals(period=int64_t, passed=int64_t, reloads=int64_t, high=int)
    cdef void _t2_low_byte_reloads(self) noexcept nogil

    cdef void _next_cycle(self) noexcept nogil
    @cython.locals(access=int)
    cdef void _write_timer(self, int register, int value) noexcept nogil
    cdef void _load_t1(self) noexcept nogil
    cdef void _load_t2(self, int high) noexcept nogil
    cdef void _write_ifr(self, int value) noexcept nogil
    @cython.locals(timed_out=bint)
    cdef void _write_control(self, int register, int value) noexcept nogil
    @cython.locals(count=int, borrowed=bint)
    cdef void _set_acr(self, int value) noexcept nogil
    cdef void _write_port(self, int register, int value) noexcept nogil
    @cython.locals(mode=int)
    cdef void _clear_port_a_flags(self) noexcept nogil
    @cython.locals(mode=int)
    cdef void _clear_port_b_flags(self) noexcept nogil
    cdef void _pb6_may_change(self) noexcept nogil
