# C types of qemu_timer.py.  Time is 64-bit: see cycles_in and first_ns for why nothing overflows.
cimport cython
from libc.stdint cimport int64_t

from guestclock.chips.via_constants cimport NEVER

cdef enum:
    GROUP_CYCLES = 306
    GROUP_NS = 390625

    COUNTING = 0
    FLAG_SET = 1
    FLAG_CLEARED = 2


@cython.locals(groups=int64_t)
cpdef int64_t cycles_in(int64_t ns) noexcept nogil
@cython.locals(groups=int64_t)
cpdef int64_t cycles_begun(int64_t ns) noexcept nogil
@cython.locals(groups=int64_t)
cpdef int64_t last_ns(int64_t cycles) noexcept nogil
@cython.locals(groups=int64_t)
cpdef int64_t first_ns(int64_t cycles) noexcept nogil


@cython.final
cdef class Timer:
    cdef readonly int flag
    cdef readonly bint reloads
    cdef public int latch, count, progress
    cdef public int64_t load_ns, next_ns, alarm_ns, moved_cycles, passed
    cdef public bint spinning, done
    cdef void load(self, int count, int64_t now_ns) noexcept nogil
    cdef int64_t elapsed(self, int64_t now_ns) noexcept nogil


@cython.final
cdef class Arithmetic:
    cdef readonly bint ahead
    cdef bint _floored, _live_latch, _load_floored
    cdef int _reload_gap
    @cython.locals(since_reload=int64_t)
    cdef int countdown(self, Timer timer, int64_t cycles) noexcept nogil
    @cython.locals(cycles=int64_t)
    cdef int counter(self, Timer timer, int64_t now_ns) noexcept nogil
    @cython.locals(elapsed=int64_t, whole=int64_t)
    cdef void settle_latch(self, Timer timer, int64_t now_ns) noexcept nogil
    @cython.locals(cycles=int64_t, count=int, ahead=int64_t)
    cdef int64_t next_flag_ns(self, Timer timer, int64_t now_ns) noexcept nogil
    cdef int64_t _start_ns(self, Timer timer, int64_t cycles) noexcept nogil
    cdef int64_t reload_ns(self, Timer timer) noexcept nogil
    @cython.locals(beyond=int64_t, periods=int64_t, cycles=int64_t)
    cdef bint has_reloaded(self, Timer timer, int64_t now_ns) noexcept nogil
    cdef int64_t _flag_elapsed(self, Timer timer, int64_t now_ns) noexcept nogil
    cdef int64_t _flag_ns(self, Timer timer, int64_t cycles) noexcept nogil
    cdef int64_t _first_period(self, Timer timer) noexcept nogil
    cdef int64_t _later_periods(self, Timer timer) noexcept nogil
    cdef int64_t _whole_periods(self, Timer timer, int64_t cycles) noexcept nogil
    @cython.locals(cycles=int64_t)
    cdef int64_t periods(self, Timer timer, int64_t now_ns) noexcept nogil
    @cython.locals(cycles=int64_t, period=int64_t)
    cdef int64_t last_period_ns(self, Timer timer, int64_t now_ns) noexcept nogil
    @cython.locals(cycles=int64_t, period=int64_t)
    cdef int64_t next_period_ns(self, Timer timer, int64_t now_ns) noexcept nogil
    cdef int64_t _cycle_ns(self, Timer timer, int64_t cycles) noexcept nogil
