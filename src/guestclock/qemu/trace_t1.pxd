cimport cython

cdef enum:
    READ = 1
    WRITE = 2
    T1CL = 0x4
    T1CH = 0x5
    T1LL = 0x6
    T1LH = 0x7
    IFR = 0xD
    IER = 0xE
    FLAG_T1 = 0x40
    LINUX_PERIOD_CYCLES = 7833
    BINS = 1 << 20
    NONE = -1


@cython.final
cdef class T1Follower:
    cdef readonly long long acknowledges
    cdef readonly long long intervals
    cdef readonly long long intervals_us
    cdef readonly object histogram
    cdef readonly list long_us
    cdef readonly long long clock_reads
    cdef readonly long long backward_steps
    cdef readonly long long backward_cycles
    cdef readonly long long worst_cycles
    cdef readonly long long worst_line
    cdef readonly long long steps_at_reload
    cdef readonly long long steps_after_flag
    cdef readonly object sizes
    cdef readonly int period_cycles
    cdef readonly bint period_seen
    cdef long long[::1] _bins
    cdef bint _enabled
    cdef int _latch
    cdef long long _acknowledged_us
    cdef int _high
    cdef bint _flags_read
    cdef int _flags
    cdef long long _read_line
    cdef long long _total
    cdef long long _offset
    cdef long long _last
    cdef int _last_high
    cdef bint _last_offset

    cpdef void feed(self, object columns, int rows, long long first_line) except *
    @cython.locals(row=cython.int, kind=cython.int)
    cdef void _follow(self, unsigned char[::1] kinds, unsigned char[::1] regs, long long[::1] values,
                      long long[::1] stamps, int rows, long long first_line) except *
    cdef void _read(self, int reg, int value, long long line) except *
    cdef void _write(self, int reg, int value, long long stamp_us) except *
    cdef void _load(self, long long stamp_us) noexcept
    @cython.locals(interval_us=cython.longlong)
    cdef void _acknowledge(self, long long stamp_us) except *
    @cython.locals(ticks=cython.longlong, step=cython.longlong, high=cython.int)
    cpdef void finish(self) except *
    cdef void _step(self, long long cycles) except *
