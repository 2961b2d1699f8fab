# C types of via_port.py.
cimport cython
from libc.stdint cimport int64_t

from guestclock.chips.via_constants cimport (
    C1_EDGE,
    C1_RISING,
    C2_EDGE,
    C2_HANDSHAKE,
    C2_INDEPENDENT_FALLING,
    C2_INDEPENDENT_RISING,
    C2_MODE,
    C2_PULSE,
    C2_RISING,
    NEVER,
)


@cython.final
cdef class ViaPort:
    cdef public int output, direction, pins, latch
    cdef public int c1, c2, c1_before, c2_before
    cdef public int64_t lines_cycle
    cdef public bint lines_wait
    cdef public int control
    cdef public int64_t low_from, low_until, accessed_cycle

    cdef int levels(self) noexcept nogil
    cdef int driven_levels(self) noexcept nogil

    cdef void set_c1(self, int level, int64_t now) noexcept nogil
    cdef void set_c2(self, int level, int64_t now) noexcept nogil
    cdef void _lines_may_change(self, int64_t now) noexcept nogil
    @cython.locals(flags=int, rises=int)
    cdef int edges(self) noexcept nogil
    @cython.locals(cycle=int64_t)
    cdef void lines_acted(self, bint c1_edge) noexcept nogil

    @cython.locals(mode=int)
    cdef int acknowledged(self) noexcept nogil
    cdef void access(self, int64_t now) noexcept nogil
    cdef void set_control(self, int control, int64_t now) noexcept nogil
    cdef bint _c2_is_low(self, int64_t cycle) noexcept nogil
    @cython.locals(mode=int)
    cdef bint c2_level(self, int64_t cycle) noexcept nogil
    @cython.locals(mode=int)
    cdef int64_t next_c2_change(self, int64_t now, bint c1_edge) noexcept nogil

    cdef void reset(self, int64_t now) noexcept nogil
