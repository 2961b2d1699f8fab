from guestclock.timebase.host cimport HostClock

cdef enum:
    IDLE_NS = 10000000
    BUDGET_MAX_BYTES = 1 << 22


cdef class Pacer:
    cdef readonly long long guest_ns
    cdef readonly long long host_ns
    cdef readonly long long largest_step_ns
    cdef readonly long long largest_lag_ns
    cdef void follow(self, long long code_bytes) noexcept nogil
    cdef void charge_until(self, long long code_bytes, long long guest_ns) noexcept nogil
    cdef long long room_ns(self) noexcept nogil
    cdef long long budget_bytes(self, long long until_ns) noexcept nogil
    cdef void idle_until(self, long long code_bytes, long long event_ns) noexcept nogil


cdef class VirtualPacer(Pacer):
    cdef readonly long long ps_per_byte
    cdef long long _skipped_ns


cdef class PacedPacer(Pacer):
    cdef readonly HostClock host
    cdef readonly long long ns_per_byte_max
    cdef readonly long long quantum_bytes
    cdef long long _followed_bytes


cdef class HostPacer(Pacer):
    cdef readonly HostClock host
    cdef readonly long long quantum_bytes
    cdef void _set(self, long long now_ns) noexcept nogil
