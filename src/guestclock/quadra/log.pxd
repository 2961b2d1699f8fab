cimport cython

cdef enum:
    LOG_ROWS = 4096


@cython.final
cdef class Log:
    cdef readonly int columns
    cdef readonly long long count
    cdef list _full
    cdef long long[:, ::1] chunk
    cdef void _grow(self) noexcept nogil
    cdef long long reserve(self) noexcept nogil
