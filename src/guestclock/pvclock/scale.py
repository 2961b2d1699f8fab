# cython: annotation_typing=False
"""The arithmetic of paravirtual clocks as registers do it: 64 bits, with 96- and 128-bit products.

Compiled (``scale.pxd``); ``exact`` is the oracle.  The masks do nothing in C: they make the
uncompiled module wrap where a register does.

>>> time_scale(1_000_000_000, 2_300_000_000)  # what a live KVM wrote into its page at 2.3 GHz
(3734754170, -1)
>>> scale_delta(2_300_000_000, 3734754170, -1)
999999999
>>> mult_shift(2_300_000, 1_000_000, 600_000)  # and its host's TSC clocksource
(7294442, 24)
"""

from guestclock.errors import BadInputError

MASK_64 = 0xFFFF_FFFF_FFFF_FFFF


def time_scale(scaled_hz: int, base_hz: int) -> tuple[int, int]:
    """Return (mul, shift) that turn counts at ``base_hz`` into counts at ``scaled_hz``.

    scaled = (base << shift) * mul >> 32; a negative shift shifts right.  ``kvm_get_time_scale``
    in arch/x86/kvm/x86.c, with ``scaled_hz`` = 10^9 for a pvclock page.
    """
    if not (0 < base_hz < 1 << 62 and 0 < scaled_hz < 1 << 62):
        raise BadInputError(f"{scaled_hz} Hz from {base_hz} Hz: both must be above 0 and below 2^62")
    shift = 0
    while base_hz > 2 * scaled_hz or base_hz >> 32:
        base_hz >>= 1
        shift -= 1
    while base_hz <= scaled_hz or scaled_hz >> 32:
        if scaled_hz >> 32 or base_hz >> 31:
            scaled_hz >>= 1
        else:
            base_hz <<= 1
        shift += 1
    return (scaled_hz << 32) // base_hz, shift


def scale_delta(delta: int, mul: int, shift: int) -> int:
    """Return (delta << shift) * mul >> 32, a negative shift shifting right: ``pvclock_scale_delta``.

    The left shift loses high bits; the right shift loses low bits before they are multiplied.
    """
    if shift <= -64 or shift >= 64:
        return 0
    if shift < 0:
        delta >>= -shift
    else:
        delta = (delta << shift) & MASK_64
    product = delta
    product = (product * mul) >> 32
    return product & MASK_64


def pvclock_ns(tsc: int, tsc_timestamp: int, system_time: int, mul: int, shift: int) -> int:
    """Return the time of a pvclock page at a TSC value, in ns, modulo 2^64 as in the guest."""
    return (system_time + scale_delta((tsc - tsc_timestamp) & MASK_64, mul, shift)) & MASK_64


def first_delta(ns: int, mul: int, shift: int) -> int:
    """Return the smallest delta with ``scale_delta(delta, mul, shift) >= ns``: its inverse.

    The page shows ``ns`` from delta ``first_delta(ns)`` up to, not including, ``first_delta(ns + 1)``;
    when the two are equal it never shows that value.  BadInputError when no 64-bit delta gets there
    before the left shift loses bits.

    >>> first_delta(999_999_999, 3734754170, -1), first_delta(1_000_000_000, 3734754170, -1)
    (2299999998, 2300000002)
    """
    if mul == 0 or shift <= -64 or shift >= 64:
        raise BadInputError(f"mul {mul}, shift {shift}: this page's clock stands still")
    wide = ns
    wide = ((wide << 32) + mul - 1) // mul
    lost = shift
    if shift > 0:
        wide = ((wide - 1) >> shift) + 1 if wide else wide
    else:
        lost = -shift
    if wide > MASK_64 >> lost:
        raise BadInputError(f"{ns} ns at mul {mul}, shift {shift}: no 64-bit delta reaches it")
    return wide if shift > 0 else wide << lost


def hyperv_ticks(tsc: int, scale: int, offset: int) -> int:
    """Return the time of a Hyper-V reference TSC page, in units of 100 ns, modulo 2^64."""
    product = tsc
    product = (product * scale) >> 64
    return (product + offset) & MASK_64


def vmclock_ns(delta: int, period_frac_sec: int, period_shift: int, sec: int, frac_sec: int) -> int:
    """Return the time of a vmclock page, in whole ns since its epoch, modulo 2^64.

    ``delta`` is counter - counter_value modulo 2^64.  The product has 128 bits and is shifted before
    ``frac_sec`` is added, as the Linux driver does.
    """
    if period_shift >= 128:
        product = 0
    else:
        product = delta
        product = (product * period_frac_sec) >> period_shift
    product += frac_sec
    whole = (sec + (product >> 64)) & MASK_64
    fraction = product & MASK_64
    fraction = (fraction * 1_000_000_000) >> 64
    return (whole * 1_000_000_000 + fraction) & MASK_64


def mult_shift(from_hz: int, to_hz: int, seconds_max: int) -> tuple[int, int]:
    """Return (mult, shift) for to = from * mult >> shift: ``clocks_calc_mult_shift``.

    Linux registers the TSC with ``from_hz`` in kHz, ``to_hz`` 10^6 and ``seconds_max`` 600,000:
    ten minutes must fit 64 bits.  BadInputError where no pair does (the kernel would take a wrong one).
    """
    if not (0 < from_hz < 1 << 31 and 0 < to_hz < 1 << 31 and 0 < seconds_max < 1 << 31):
        raise BadInputError(
            f"mult and shift from {from_hz} to {to_hz} over {seconds_max} s: all above 0, below 2^31"
        )
    room = 32
    overflow = (seconds_max * from_hz) >> 32
    while overflow:
        overflow >>= 1
        room -= 1
    for shift in range(32, 0, -1):
        mult = ((to_hz << shift) + from_hz // 2) // from_hz
        if mult >> room == 0:
            return mult, shift
    raise BadInputError(f"from {from_hz} to {to_hz}: no mult leaves room for {seconds_max} s in 64 bits")
