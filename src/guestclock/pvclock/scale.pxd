import cython

cdef extern from *:
    """
    typedef unsigned __int128 guestclock_u128;
    """
    ctypedef unsigned long long u128 "guestclock_u128"

ctypedef unsigned long long u64

cdef u64 MASK_64

@cython.locals(shift=int)
cpdef tuple time_scale(u64 scaled_hz, u64 base_hz)

@cython.locals(product=u128)
cpdef u64 scale_delta(u64 delta, unsigned int mul, int shift) noexcept

cpdef u64 pvclock_ns(u64 tsc, u64 tsc_timestamp, u64 system_time, unsigned int mul, int shift) noexcept

@cython.locals(wide=u128, lost=int)
cpdef u64 first_delta(u64 ns, unsigned int mul, int shift) except? 0

@cython.locals(product=u128)
cpdef u64 hyperv_ticks(u64 tsc, u64 scale, long long offset) noexcept

@cython.locals(product=u128, fraction=u128, whole=u64)
cpdef u64 vmclock_ns(u64 delta, u64 period_frac_sec, unsigned char period_shift, u64 sec, u64 frac_sec) noexcept

@cython.locals(room=int, overflow=u64, shift=int, mult=u64)
cpdef tuple mult_shift(u64 from_hz, u64 to_hz, u64 seconds_max)
