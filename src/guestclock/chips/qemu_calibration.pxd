# C types of qemu_calibration.py.
cimport cython
from libc.stdint cimport int64_t

from guestclock.chips.via_constants cimport IER, PCR, T2CH, T2CL

cdef enum:
    IDLE = 0
    BEGUN = 1
    MACOS_LOW_WRITTEN = 2
    MACOS_MEASURES = 3
    MACOS_DONE = 4
    AUX_LOW_WRITTEN = 5
    AUX_MEASURES = 6
    AUX_DONE = 7

    BEGIN = PCR << 8 | 0x22
    MACOS_LOW = T2CL << 8 | 0x0C
    MACOS_HIGH = T2CH << 8 | 0x03
    AUX_LOW = T2CL << 8 | 0xF0
    AUX_HIGH = T2CH << 8 | 0x3C
    END = IER << 8 | 0x20

    AUX_ERROR = 5


@cython.final
cdef class Calibration:
    cdef public int state
    cdef public object memory

    cpdef void reset(self) noexcept nogil
    @cython.locals(write=int)
    cpdef void written(self, int register, int value) noexcept nogil
    cpdef int t2_high(self, int value, int64_t now_ns) noexcept nogil
    cdef bint _has_results(self) noexcept nogil
    cdef void _put_results(self) noexcept nogil
