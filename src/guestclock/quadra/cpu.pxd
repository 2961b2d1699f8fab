from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    WINDOWS_MAX = 8

ctypedef uint64_t (*window_read_t)(void *, uint64_t, unsigned) noexcept nogil
ctypedef void (*window_write_t)(void *, uint64_t, unsigned, uint64_t) noexcept nogil

cdef struct Window:
    void *cpu
    uint64_t base
    window_read_t read
    window_write_t write


cdef class Board:
    cdef public int64_t budget_bytes
    cdef public int64_t granted_bytes
    cdef public int irq_level
    cdef public int interrupt_mask
    cdef public bint stop_requested
    cdef public object failure
    cdef uint64_t io_read(self, uint64_t address, unsigned size) noexcept nogil
    cdef void io_write(self, uint64_t address, unsigned size, uint64_t value) noexcept nogil
    cdef void attend(self) noexcept nogil


cdef class Cpu:
    cdef void *_uc
    cdef void *_core
    cdef uint32_t *_env
    cdef Board _board
    cdef list _memory
    cdef Window _windows[WINDOWS_MAX]
    cdef int _window_count
    cdef int _applied_level
    cdef bint _poll
    cdef bint _entering_access_error
    cdef bint _double_fault
    cdef readonly uint64_t exceptions
    cdef void _apply_level(self) noexcept nogil
    cdef void _force_attend(self) noexcept nogil
    cdef void _budget_used(self, uint32_t size) noexcept nogil
    cdef bint _interrupt_is_due(self) noexcept nogil
    cdef int _check(self, int status, what) except -1
