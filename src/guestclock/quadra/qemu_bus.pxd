cimport cython

from guestclock.chips.via_constants cimport ACR_T1_FREE_RUN, IFR_T1, T1CH, T1CL, T1LH
from guestclock.chips.qemu_via cimport QemuVia
from guestclock.quadra.board cimport ACKNOWLEDGE, PORT_B_WRITES, T1_SOURCE, UNDERFLOW, QuadraBoard


cdef class QemuBus(QuadraBoard):
    cdef readonly QemuVia via1
    cdef readonly QemuVia via2
    cdef long long _periods
    cdef long long _next_period_ns
    cdef long long _acknowledges
    cdef void _begin(self) noexcept nogil
    cdef void _end(self) noexcept nogil
    cdef void _port_b_written(self) noexcept nogil
    @cython.locals(granted_until_ns=cython.longlong)
    cdef void _lines(self) noexcept nogil
    @cython.locals(periods=cython.longlong, at_ns=cython.longlong)
    cdef void _note_periods(self) noexcept nogil
    cdef void _count_from_here(self) noexcept nogil
    cdef void _note_acknowledge(self) noexcept nogil
