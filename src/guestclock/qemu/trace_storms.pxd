cimport cython

cdef enum:
    READ = 1
    WRITE = 2
    RECOMPUTE = 3
    LATCHES = 65536
    NEAR_ACCESSES = 2


@cython.final
cdef class Storms:
    cdef readonly object lines
    cdef readonly object run
    cdef readonly long long storms
    cdef readonly long long storm_lines
    cdef readonly long long longest_lines
    cdef long long _storm_at
    cdef long long _accesses
    cdef long long[::1] _lines
    cdef long long[::1] _run
    cdef long long[::1] _seen

    cpdef void feed(self, object columns, int rows) except *
    @cython.locals(row=cython.int, latch=cython.int)
    cdef void _follow(self, unsigned char[::1] kinds, long long[::1] values, int rows) noexcept nogil
    @cython.locals(run=cython.longlong)
    cdef void _end(self, int latch) noexcept nogil
