cimport cython
from libc.stdint cimport uint64_t

from guestclock.quadra.log cimport Log

cdef enum:
    PROBE_VERSION = 0x04
    PROBE_TAG = 0x10
    PROBE_CALLS = 0x14
    PROBE_TICKS = 0x18
    PROBE_HIGH = 0x20
    PROBE_LOW = 0x24
    PROBE_MAGIC = 0x47434C4B


@cython.final
cdef class ProbePort:
    cdef readonly Log log
    cdef long long _high, _tag, _calls, _ticks
    cdef void write(self, uint64_t offset, uint64_t value) noexcept nogil
    @cython.locals(row=cython.longlong)
    cdef void commit(self, uint64_t low, long long guest_ns, long long host_ns, long long code_bytes) noexcept nogil
