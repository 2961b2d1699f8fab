# C types of via_timer2.py.
cimport cython
from libc.stdint cimport int64_t

from guestclock.chips.via_constants cimport NEVER


@cython.final
cdef class Timer2:
    cdef public int latch
    cdef public int64_t base, low_zero, loaded, reloaded, flag_half, due
    cdef public bint pulses, clocks_sr, borrowed, armed
    cdef public int pb6, pb6_before
    cdef public int64_t pb6_cycle
    cdef public bint pulse_waits

    cdef int count(self, int64_t now) noexcept nogil
    cdef int _high(self) noexcept nogil
    cdef int64_t timeout(self, int64_t now) noexcept nogil
    cdef int64_t next_tick(self, int64_t earliest) noexcept nogil

    cdef void disarm(self) noexcept nogil
    cdef void load(self, int high, int64_t now) noexcept nogil
    @cython.locals(count=int, borrowed=bint)
    cdef void set_modes(self, bint pulses, bint clocks_sr, int64_t now) noexcept nogil
    cdef void pb6_is(self, int level, int64_t now) noexcept nogil

    cdef void _start(self, int count, bint borrowed, int64_t now) noexcept nogil
    cdef bint _low_byte_borrowed(self, int64_t now) noexcept nogil
    cdef void _schedule(self, int64_t now) noexcept nogil
    @cython.locals(raised=bint)
    cdef bint catch_up(self, int64_t now) noexcept nogil
    cdef bint _times_out(self, int64_t cycle) noexcept nogil
    cdef bint _counts_pulse(self) noexcept nogil
    @cython.locals(period=int64_t, passed=int64_t, reloads=int64_t, high=int, raised=bint)
    cdef bint _low_byte_reloads(self, int64_t now) noexcept nogil
