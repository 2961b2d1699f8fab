cdef enum:
    NS_PER_S = 1000000000
    SPIN_NS = 100000


cdef long long monotonic_ns() noexcept nogil
cdef void sleep_ns(long long length_ns) noexcept nogil


cdef class HostClock:
    cdef object _stalls
    cdef public list suffered
    cdef long long _stall_at_ns
    cdef long long _stall_for_ns
    cdef long long now(self, long long code_bytes) noexcept nogil
    cdef long long wait_until(self, long long code_bytes, long long until_ns) noexcept nogil
    cdef void _next_stall(self) noexcept nogil


cdef class RealHost(HostClock):
    cdef long long _zero_ns


cdef class SimulatedHost(HostClock):
    cdef readonly long long ps_per_byte
    cdef readonly long long look_ns
    cdef long long _offset_ns
    cdef void _record(self) noexcept nogil
