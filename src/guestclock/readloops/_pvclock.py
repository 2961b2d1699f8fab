"""Stands in for guestclock.pvclock until that lands; to be deleted."""

import struct
from dataclasses import dataclass
from fractions import Fraction

U64 = 1 << 64


@dataclass(frozen=True)
class PvclockTime:
    version: int
    tsc_timestamp: int
    system_time: int
    tsc_to_system_mul: int
    tsc_shift: int
    flags: int

    @classmethod
    def unpack(cls, data: bytes) -> "PvclockTime":
        return cls(*struct.unpack("<I4xQQIbB2x", data[:32]))


def pvclock_ns(tsc: int, tsc_timestamp: int, system_time: int, mul: int, shift: int) -> int:
    delta = (tsc - tsc_timestamp) % U64
    delta = delta << shift & U64 - 1 if shift >= 0 else delta >> -shift
    return (system_time + (delta * mul >> 32)) % U64


def time_scale(scaled_hz: int, base_hz: int) -> tuple[int, int]:
    base, scaled = base_hz, scaled_hz
    shift = 0
    while base > 2 * scaled or base >= 1 << 32:
        base >>= 1
        shift -= 1
    while base <= scaled or scaled >= 1 << 32:
        if scaled >= 1 << 32 or base & 1 << 31:
            scaled >>= 1
        else:
            base <<= 1
        shift += 1
    return (scaled << 32) // base, shift


def mult_shift(from_hz: int, to_hz: int, seconds_max: int) -> tuple[int, int]:
    room = 32 - (seconds_max * from_hz >> 32).bit_length()
    return next(
        (mult, shift)
        for shift in range(32, 0, -1)
        if (mult := ((to_hz << shift) + from_hz // 2) // from_hz) < 1 << room
    )


def page_rate(mul: int, shift: int, tsc_hz: int) -> Fraction:
    return Fraction(mul, 1 << 32) * Fraction(2) ** shift * tsc_hz / 1_000_000_000


def clocksource_rate(mult: int, shift: int, counter_hz: int) -> Fraction:
    return Fraction(mult, 1 << shift) * counter_hz / 1_000_000_000
