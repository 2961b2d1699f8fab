cimport cython


@cython.final
cdef class Rate:
    cdef readonly object hz
    cdef long long _cycles_64
    cdef long long _ns_64
    cpdef long long cycle_at(self, long long ns) noexcept nogil
    cpdef long long start_ns(self, long long cycle) noexcept nogil


@cython.final
cdef class CycleCursor:
    cdef readonly Rate rate
    cdef readonly long long cycle
    cdef readonly long long start_ns
    cdef readonly long long end_ns
    cdef long long _whole_ns
    cdef long long _rest
    cdef long long _end_rest
    cpdef long long seek_ns(self, long long ns) noexcept nogil
    cpdef long long seek_cycle(self, long long cycle) noexcept nogil
    cdef void _step(self) noexcept nogil
    cdef void _place(self, long long cycle) noexcept nogil
