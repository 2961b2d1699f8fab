cdef class Channel:
    cdef public int wr1, wr3, wr5, wr12, wr13, wr15
    cdef public bytearray fifo
    cdef public bytearray line
    cdef public int tx_held
    cdef public bint tx_emptied
    cdef public bint rx_armed
    cdef public bint rx_first

    cpdef reset(self)
    cpdef refill(self)
    cpdef int pop(self) except -1
    cpdef arm(self)
    cpdef int pending(self) noexcept
    cpdef int status(self) noexcept
    cpdef int special(self) noexcept


cdef class Z8530:
    cdef object _transmitted
    cdef Channel _a
    cdef Channel _b
    cdef int _pointer, _wr2, _wr9
    cdef public bint irq

    cpdef int read(self, int offset) except -1
    cpdef write(self, int offset, int value)
    cdef int _register(self, Channel channel, int register) except -1
    cdef _command(self, Channel channel, int value)
    cdef _configure(self, Channel channel, int register, int value)
    cdef _control(self, int value)
    cdef _transmit(self, Channel channel, int value)
    cdef int _pending(self) noexcept
    cdef int _modified_vector(self) noexcept
    cdef _update(self)
