cimport cython
from libc.stdint cimport uint64_t

from guestclock.chips.via_constants cimport NEVER
from guestclock.quadra.board cimport QuadraBoard
from guestclock.quadra.bus cimport FastBus, Phi2Bus
from guestclock.quadra.qemu_bus cimport QemuBus

cdef enum:
    TRACE_ROWS = 1024


@cython.final
cdef class AccessTrace:
    cdef readonly long long count
    cdef readonly long long stop_after
    cdef readonly long long until_bytes
    cdef public object on_stop
    cdef long long[:, ::1] _ring
    @cython.locals(row=cython.longlong, code_bytes=cython.longlong)
    cdef void note(self, QuadraBoard board, bint write, uint64_t address, uint64_t value) noexcept nogil
    cdef void _stop(self, QuadraBoard board) noexcept nogil


@cython.final
cdef class TracedPhi2Bus(Phi2Bus):
    cdef readonly AccessTrace trace


@cython.final
cdef class TracedFastBus(FastBus):
    cdef readonly AccessTrace trace


@cython.final
cdef class TracedQemuBus(QemuBus):
    cdef readonly AccessTrace trace
