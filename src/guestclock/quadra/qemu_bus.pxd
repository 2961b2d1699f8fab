cimport cython

from guestclock.chips.via_constants cimport (
    ACR_T1_FREE_RUN,
    IFR_CA1,
    IFR_CA2,
    IFR_SR,
    IFR_T1,
    T1CH,
    T1CL,
    T1LH,
)
from guestclock.chips.qemu_via cimport SECOND_NS, SIXTY_HZ_PERIOD_NS, QemuVia
from guestclock.quadra.board cimport ACKNOWLEDGE, PORT_B_WRITES, T1_SOURCE, UNDERFLOW, QuadraBoard


cdef class QemuBus(QuadraBoard):
    cdef readonly QemuVia via1
    cdef readonly QemuVia via2
    cdef long long _periods
    cdef long long _next_period_ns
    cdef long long _acknowledges
    cdef long long _ca1_edges
    cdef long long _ca2_edges
    cdef long long _adb_ns
    cdef void _begin(self) noexcept nogil
    cdef void _end(self) noexcept nogil
    cdef void _port_b_written(self) noexcept nogil
    @cython.locals(granted_until_ns=cython.longlong)
    cdef void _lines(self) noexcept nogil
    @cython.locals(periods=cython.longlong, at_ns=cython.longlong)
    cdef void _note_periods(self) noexcept nogil
    cdef void _note_inputs(self) noexcept nogil
    cdef void _note_input(self, int flag, long long at_ns, long long times) noexcept nogil
    cdef void _count_from_here(self) noexcept nogil
    cdef void _note_acknowledge(self) noexcept nogil
