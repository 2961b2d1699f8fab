cimport cython


@cython.final
cdef class Rate:
    cdef readonly object hz
    cdef long long _cycles_64
    cdef long long _ns_64
    cpdef long long cycle_at(self, long long ns) noexcept nogil
    cpdef long long start_ns(self, long long cycle) noexcept nogil
