# C types of mos6522.py, and what other compiled modules may call without the GIL.
cimport cython
from libc.stdint cimport int64_t

from guestclock.chips.shift_register cimport ShiftRegister
from guestclock.chips.via_constants cimport *
from guestclock.chips.via_port cimport ViaPort


cdef int64_t _second_half(int64_t cycle) noexcept nogil


@cython.final
cdef class Mos6522:
    cdef public str variant
    cdef public int timeout_beats

    cdef public int64_t now
    cdef public int64_t last_access
    cdef int64_t attention

    cdef readonly ViaPort port_a, port_b
    cdef readonly ShiftRegister shifter
    cdef public int acr, pcr, ifr, ier
    cdef int64_t sr_tick

    cdef public int t1_latch
    cdef public int64_t t1_zero
    cdef public bint t1_timed_out, t1_armed
    cdef public int64_t t1_underflows, t1_flag_half
    cdef public bint pb7_output

    cdef public int t2_latch
    cdef public int64_t t2_base, t2_low_zero, t2_loaded, t2_reloaded, t2_flag_half
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
    @cython.locals(flags=int)
    cdef int _flags_of_next_cycle(self) noexcept nogil
    @cython.locals(event=int64_t)
    cdef int64_t next_event_half(self, int watch) noexcept nogil
    @cython.locals(event=int64_t, edge=bint)
    cdef int64_t _next_line_half(self, int watch) noexcept nogil
    @cython.locals(edge=bint)
    cdef int64_t _next_cb2_change(self) noexcept nogil

    cdef void _pins_at(self, int64_t cycle) except *
    cpdef int port_a_levels(self) noexcept nogil
    cpdef int port_b_levels(self) noexcept nogil
    cpdef int port_a_output(self) noexcept nogil
    cpdef int port_b_output(self) noexcept nogil
    cdef int _with_pb7(self, int levels) noexcept nogil
    cdef bint _cb2_level(self, int64_t cycle) noexcept nogil

    @cython.locals(shown=int)
    cdef int _read_rest(self, int register) noexcept nogil
    cdef int _port_a_inputs(self) noexcept nogil
    cdef int _port_b_inputs(self) noexcept nogil
    cdef void _schedule(self) noexcept nogil
    cdef void _catch_up(self) noexcept nogil
    @cython.locals(edges=int)
    cdef void _port_a_lines_act(self) noexcept nogil
    @cython.locals(edges=int)
    cdef void _port_b_lines_act(self) noexcept nogil
    @cython.locals(edges=int)
    cdef int _port_b_edges(self) noexcept nogil
    cdef bint _cb1_changes(self) noexcept nogil

    cdef void _access_sr(self, int64_t ready) noexcept nogil
    @cython.locals(earliest=int64_t)
    cdef int64_t _next_tick(self) noexcept nogil
    cdef int64_t _tick_period(self) noexcept nogil
    @cython.locals(ticks=int64_t)
    cdef void _ticks_act(self) noexcept nogil
    cdef int64_t _after_ticks(self, int64_t ticks) noexcept nogil
    cdef int64_t _shifted_at(self) noexcept nogil

    @cython.locals(period=int64_t, whole_periods=int64_t)
    cdef void _t1_catch_up(self) noexcept nogil
    cdef void _t1_times_out(self, int64_t times) noexcept nogil
    cdef int64_t _t1_next_half(self) noexcept nogil
    cdef bint _t1_beats(self, int access) noexcept nogil

    cdef bint _t2_beats(self, int access) noexcept nogil
    cdef int _t2_count(self) noexcept nogil
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
    cdef void _follow_open_latches(self) noexcept nogil
    @cython.locals(count=int, borrowed=bint)
    cdef void _set_acr(self, int value) noexcept nogil
    cdef void _set_pcr(self, int value) noexcept nogil
    cdef void _write_port(self, int register, int value) noexcept nogil
    cdef void _acknowledge_a(self) noexcept nogil
    cdef void _acknowledge_b(self) noexcept nogil
    cdef void _pb6_may_change(self) noexcept nogil
