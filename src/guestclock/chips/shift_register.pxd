# C types of shift_register.py.
cimport cython
from libc.stdint cimport int64_t

from guestclock.chips.via_constants cimport (
    NEVER,
    SR_DISABLED,
    SR_IN_CB1,
    SR_IN_T2,
    SR_OUT_CB1,
    SR_OUT_FREE,
    SR_OUT_PHI2,
    SR_OUT_T2,
)


@cython.final
cdef class ShiftRegister:
    cdef public int value, mode, bits, clock, data
    cdef public bint busy
    cdef public int64_t ready, due, period

    cdef bint drives_cb1(self) noexcept nogil
    cdef bint clocked_by_t2(self) noexcept nogil
    cdef bint runs(self) noexcept nogil

    cdef void access(self, int64_t ready) noexcept nogil
    cdef void enter(self, int mode) noexcept nogil
    cdef void clock_with(self, int64_t due, int64_t period) noexcept nogil
    cdef bint catch_up(self, int64_t now, bint cb2) noexcept nogil
    @cython.locals(rises=int64_t, falls=int64_t)
    cdef bint _tick(self, int64_t ticks, bint cb2) noexcept nogil
    cdef bint cb1_moves(self, bint level, bint cb2) noexcept nogil
    cdef bint _count(self, int64_t bits) noexcept nogil
    cdef void _shift_in(self, int64_t bits, bint cb2) noexcept nogil
    cdef void _rotate(self, int64_t bits) noexcept nogil

    cdef bint cb1_completes(self, bint level) noexcept nogil
    cdef bint cb1_changes_data(self, bint level) noexcept nogil
    cdef int64_t flag_cycle(self) noexcept nogil
    @cython.locals(left=int, ones=int, bit=int)
    cdef int64_t data_cycle(self) noexcept nogil
    cdef int64_t _ticks_to_flag(self) noexcept nogil
    cdef int64_t _cycle_of_tick(self, int64_t ticks) noexcept nogil
