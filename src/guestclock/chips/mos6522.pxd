# C types of mos6522.py, and what other compiled modules may call without the GIL.
cimport cython
from libc.stdint cimport int64_t

from guestclock.chips.shift_register cimport ShiftRegister
from guestclock.chips.via_constants cimport *
from guestclock.chips.via_port cimport ViaPort
from guestclock.chips.via_timer1 cimport Timer1
from guestclock.chips.via_timer2 cimport Timer2


cdef int64_t _half_before(int64_t cycle) noexcept nogil
cdef int64_t _half_within(int64_t cycle) noexcept nogil


@cython.final
cdef class Mos6522:
    cdef public str variant
    cdef public int timeout_beats

    cdef public int64_t now
    cdef public int64_t last_access
    cdef int64_t attention, rest_due, lines_due

    cdef readonly Timer1 timer1
    cdef readonly Timer2 timer2
    cdef readonly ShiftRegister shifter
    cdef readonly ViaPort port_a, port_b
    cdef public int acr, pcr, ifr, ier

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
    @cython.locals(edge=bint)
    cdef int64_t _next_ca2_change(self) noexcept nogil
    @cython.locals(edge=bint, waits=bint)
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
    cdef void _attend(self) noexcept nogil
    cdef void _catch_up(self) noexcept nogil
    @cython.locals(edges=int)
    cdef void _port_a_lines_act(self) noexcept nogil
    @cython.locals(edges=int)
    cdef void _port_b_lines_act(self) noexcept nogil
    @cython.locals(edges=int)
    cdef int _port_b_edges(self) noexcept nogil
    cdef bint _cb1_clocks(self) noexcept nogil

    @cython.locals(earliest=int64_t)
    cdef void _clock_shifter(self) noexcept nogil

    cdef int _t2_count(self) noexcept nogil
    cdef bint _t1_beats(self, int access) noexcept nogil
    cdef bint _t2_beats(self, int access) noexcept nogil

    cdef void _next_cycle(self) noexcept nogil
    @cython.locals(access=int)
    cdef void _write_timer(self, int register, int value) noexcept nogil
    cdef void _write_ifr(self, int value) noexcept nogil
    @cython.locals(timed_out=bint)
    cdef void _write_control(self, int register, int value) noexcept nogil
    cdef void _access_sr(self) noexcept nogil
    cdef void _follow_open_latches(self) noexcept nogil
    cdef void _set_acr(self, int value, bint timed_out) noexcept nogil
    cdef void _set_pcr(self, int value) noexcept nogil
    cdef void _write_port(self, int register, int value) noexcept nogil
    cdef void _acknowledge_a(self) noexcept nogil
    cdef void _acknowledge_b(self) noexcept nogil
    cdef void _pb6_may_change(self) noexcept nogil
