"""The arithmetic of paravirtual clocks in unbounded integers: the oracle of ``scale``.

Never compiled, and written from the formulas instead of the loops where there is a formula.
Results that a register cannot hold are cut to 64 bits in the one place where the register is.
"""

from fractions import Fraction

NSEC_PER_SEC = 1_000_000_000
U64 = 1 << 64


def time_scale(scaled_hz: int, base_hz: int) -> tuple[int, int]:
    """Return (mul, shift) of ``kvm_get_time_scale``: scaled = (base << shift) * mul >> 32."""
    shift = 0
    while base_hz > 2 * scaled_hz or base_hz >= 1 << 32:
        base_hz >>= 1
        shift -= 1
    while base_hz <= scaled_hz or scaled_hz >= 1 << 32:
        if scaled_hz >= 1 << 32 or base_hz >= 1 << 31:
            scaled_hz >>= 1
        else:
            base_hz <<= 1
        shift += 1
    return (scaled_hz << 32) // base_hz, shift


def scale_delta(delta: int, mul: int, shift: int) -> int:
    """Return ``pvclock_scale_delta``: the shift drops bits of a 64-bit register, the product none."""
    shifted = delta // (1 << -shift) if shift < 0 else delta * (1 << shift) % U64
    return shifted * mul // (1 << 32)


def pvclock_ns(tsc: int, tsc_timestamp: int, system_time: int, mul: int, shift: int) -> int:
    """Return the time of a pvclock page at a TSC value, in ns."""
    return (system_time + scale_delta((tsc - tsc_timestamp) % U64, mul, shift)) % U64


def first_delta(ns: int, mul: int, shift: int) -> int:
    """Return the smallest delta with ``scale_delta(delta, mul, shift) >= ns``."""
    shifted = -(-ns * (1 << 32) // mul)
    return shifted * (1 << -shift) if shift < 0 else -(-shifted // (1 << shift))


def hyperv_ticks(tsc: int, scale: int, offset: int) -> int:
    """Return the time of a reference TSC page at a TSC value, in units of 100 ns."""
    return (tsc * scale // U64 + offset) % U64


def vmclock_fraction(
    delta: int, period_frac_sec: int, period_shift: int, sec: int, frac_sec: int
) -> Fraction:
    """Return the time of a vmclock page in seconds, to the 2^-64 s that its arithmetic resolves."""
    passed = delta * period_frac_sec // (1 << period_shift)
    return sec + Fraction(frac_sec + passed, U64)


def mult_shift(from_hz: int, to_hz: int, seconds_max: int) -> tuple[int, int]:
    """Return (mult, shift) of ``clocks_calc_mult_shift``: the largest shift whose mult leaves room."""
    room = 32 - (seconds_max * from_hz >> 32).bit_length()
    return next(
        (mult, shift)
        for shift in range(32, 0, -1)
        if (mult := ((to_hz << shift) + from_hz // 2) // from_hz) < 1 << room
    )


def page_rate(mul: int, shift: int, tsc_hz: int) -> Fraction:
    """Return how many seconds a page's clock counts in a second of a TSC of ``tsc_hz``."""
    return Fraction(mul, 1 << 32) * Fraction(2) ** shift * tsc_hz / NSEC_PER_SEC


def clocksource_rate(mult: int, shift: int, counter_hz: int) -> Fraction:
    """Return how many seconds a Linux clocksource counts in a second of its counter."""
    return Fraction(mult, 1 << shift) * counter_hz / NSEC_PER_SEC
