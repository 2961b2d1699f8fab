cimport cython

cdef enum:
    DAMAGED = 0
    READ = 1
    WRITE = 2
    RECOMPUTE = 3
    SET_COUNTER = 4
    OTHER = 5
    BLANK = 6
    ROWS_MAX = 65536
    NO_STAMP = -1
    NEWLINE = 10

cdef const unsigned char* _EVENT
cdef const unsigned char* _READ
cdef const unsigned char* _WRITE
cdef const unsigned char* _RECOMPUTE
cdef const unsigned char* _SET_COUNTER
cdef const unsigned char* _REG
cdef const unsigned char* _VAL
cdef const unsigned char* _LATCH
cdef const unsigned char* _COUNTER
cdef const unsigned char* _DELTA
cdef const unsigned char* _COUNTER_END


@cython.final
cdef class LineDecoder:
    cdef readonly object columns
    cdef readonly int rows
    cdef unsigned char[::1] _kind
    cdef unsigned char[::1] _reg
    cdef long long[::1] _value
    cdef long long[::1] _stamp
    cdef long long[::1] _start
    cdef Py_ssize_t _at
    cdef bint _bad

    @cython.locals(text=cython.p_const_uchar, end=cython.Py_ssize_t)
    cpdef Py_ssize_t decode(self, bytes chunk, Py_ssize_t at)
    @cython.locals(row=cython.int, kind=cython.int)
    cdef void _rows(self, const unsigned char* text, Py_ssize_t at, Py_ssize_t end) noexcept nogil
    @cython.locals(begin=cython.Py_ssize_t, kind=cython.int)
    cdef int _line(self, const unsigned char* text, int row) noexcept nogil
    @cython.locals(at=cython.Py_ssize_t, number=cython.longlong)
    cdef long long _stamp_us(self, const unsigned char* text) noexcept nogil
    @cython.locals(seconds=cython.longlong, micros=cython.longlong)
    cdef long long _epoch_us(self, const unsigned char* text) noexcept nogil
    @cython.locals(year=cython.longlong, month=cython.longlong, day=cython.longlong, hour=cython.longlong,
                   minute=cython.longlong, second=cython.longlong, micros=cython.longlong, leap_days=cython.longlong, days=cython.longlong)
    cdef long long _iso_us(self, const unsigned char* text) noexcept nogil
    @cython.locals(at=cython.Py_ssize_t, micros=cython.longlong)
    cdef long long _fraction_us(self, const unsigned char* text) noexcept nogil
    @cython.locals(at=cython.Py_ssize_t, closing=cython.int)
    cdef void _skip_context(self, const unsigned char* text) noexcept nogil
    @cython.locals(begin=cython.Py_ssize_t)
    cdef int _event(self, const unsigned char* text, int row) noexcept nogil
    @cython.locals(reg=cython.ulonglong, value=cython.ulonglong)
    cdef int _access(self, const unsigned char* text, int row, int kind) noexcept nogil
    @cython.locals(latch=cython.longlong)
    cdef int _recompute(self, const unsigned char* text, int row) noexcept nogil
    @cython.locals(timer=cython.longlong, value=cython.longlong)
    cdef int _set_counter(self, const unsigned char* text, int row) noexcept nogil
    @cython.locals(joined=cython.bint)
    cdef int _named(self, const unsigned char* text) noexcept nogil
    @cython.locals(index=cython.int)
    cdef bint _take(self, const unsigned char* text, const unsigned char* word, int length) noexcept nogil
    cdef void _expect(self, const unsigned char* text, const unsigned char* word, int length) noexcept nogil
    cdef void _expect_char(self, const unsigned char* text, int code) noexcept nogil
    @cython.locals(value=cython.ulonglong, begin=cython.Py_ssize_t, code=cython.int, digit=cython.int)
    cdef unsigned long long _hex(self, const unsigned char* text) noexcept nogil
    @cython.locals(value=cython.longlong, begin=cython.Py_ssize_t)
    cdef long long _decimal(self, const unsigned char* text) noexcept nogil
