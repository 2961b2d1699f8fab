# C types of via_timer1.py.
cimport cython
from libc.stdint cimport int64_t

from guestclock.chips.via_constants cimport ACR_T1_FREE_RUN, ACR_T1_PB7, NEVER


@cython.final
cdef class Timer1:
    cdef public int latch
    cdef public int64_t zero
    cdef public bint timed_out, armed, output
    cdef public int64_t underflows, flag_half

    cdef void load(self, int64_t now, int acr) noexcept nogil
    cdef void acr_written(self, int acr, bint timed_out) noexcept nogil
    @cython.locals(period=int64_t, whole_periods=int64_t, raised=bint)
    cdef bint catch_up(self, int64_t now, int acr) noexcept nogil
    cdef bint _times_out(self, int64_t times, int acr) noexcept nogil
    cdef int64_t next_half(self, int64_t now, int acr) noexcept nogil
