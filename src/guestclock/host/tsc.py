"""The TSC and the pvclock page as figures: frequency, rate error, the jump to expect."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from guestclock.host.clocks import RAW
from guestclock.host.drift import Looker, tsc_hz
from guestclock.host.native import Native
from guestclock.pvclock.exact import clocksource_rate, mult_shift, page_rate, pvclock_ns, time_scale
from guestclock.pvclock.layouts import PvclockFlag, PvclockTime
from guestclock.readloops import SHAPES, Shape

NS_PER_S = 1_000_000_000
_DAY_S = 86_400


@dataclass(frozen=True)
class TscFacts:
    """The TSC's frequency, by who says so."""

    measured_hz: int
    """Against CLOCK_MONOTONIC_RAW over a short while: good to some ten ppm."""
    page_khz: int | None
    """By the pvclock page's multiplier."""
    cpuid_khz: int | None
    """By CPUID: the hypervisor's leaf 0x40000010, or the processor's leaf 0x15."""
    cycles_per_turn: float
    """Of an empty loop: tells native code from interpreted code."""

    @property
    def hz(self) -> int:
        """The best frequency known."""
        khz = self.page_khz or self.cpuid_khz
        return khz * 1000 if khz else self.measured_hz


@dataclass(frozen=True)
class PageFacts:
    """The pvclock page of CPU 0, decoded, and what follows from it.

    The page's clock runs on the TSC by its multiplier; at each master-clock update it is set to the host's
    raw clock, whose own multiplier is coarser.  So it drifts by ``rate_error_ppb`` and jumps back into line.
    """

    where: str
    version: int
    tsc_timestamp: int
    system_time_ns: int
    mul: int
    shift: int
    tsc_stable: bool
    tsc_khz: int
    now_ns: int
    since_update_s: float
    rate_error_ppb: float
    """Guest − host, for a host whose clocksource is the TSC at this frequency."""
    jump_at_next_update_ns: float
    jump_per_day_ns: float


def facts(code: Native, entry: bytes | None, measured_hz: int) -> TscFacts:
    """Gather what is known of the TSC's frequency."""
    spin = min(code.call("spin", 20_000) for _ in range(5)) / 20_000
    page_khz = None if entry is None else page_frequency_khz(PvclockTime.unpack(entry))
    return TscFacts(measured_hz, page_khz, _cpuid_khz(code), spin)


def measure_hz(look: Looker, seconds: float = 0.05, sleep: Callable[[float], None] = time.sleep) -> int:
    """Return the TSC's frequency by CLOCK_MONOTONIC_RAW."""
    first = look(RAW)
    sleep(seconds)
    hz = tsc_hz([first, look(RAW)])
    return max(round(hz or NS_PER_S), 1)


def _cpuid_khz(code: Native) -> int | None:
    if code.cpuid(1)[2] >> 31 & 1 and code.cpuid(0x40000000)[0] >= 0x40000010:
        return code.cpuid(0x40000010)[0] or None
    if code.cpuid(0)[0] < 0x15:
        return None
    denominator, numerator, crystal_hz, _reserved = code.cpuid(0x15)
    if not (denominator and numerator and crystal_hz):
        return None
    return crystal_hz * numerator // denominator // 1000


def page_frequency_khz(page: PvclockTime) -> int:
    """Return the TSC frequency that a page's multiplier is made for, to the kHz that hypervisors keep.

    >>> page_frequency_khz(PvclockTime(2, 0, 0, 0xDE9BD37A, -1, 1))
    2300000
    """
    mul, shift = page.tsc_to_system_mul, page.tsc_shift
    numerator, denominator = 1_000_000 << 32, mul
    if shift >= 0:
        denominator <<= shift
    else:
        numerator <<= -shift
    return (2 * numerator + denominator) // (2 * denominator)


def rate_error_ppb(mul: int, shift: int, tsc_khz: int) -> float:
    """Return how much faster the page's clock runs than the raw clock of a host with that TSC.

    The host's multiplier is that of its tsc clocksource: ``clocks_calc_mult_shift`` in kHz for 600 s.

    >>> round(rate_error_ppb(0xDE9BD37A, -1, 2_300_000), 3)
    -35.879
    """
    host_mult, host_shift = mult_shift(tsc_khz, 1_000_000, 600_000)
    host = clocksource_rate(host_mult, host_shift, tsc_khz * 1000)
    return float((page_rate(mul, shift, tsc_khz * 1000) / host - 1) * NS_PER_S)


def page_ns(entry: bytes, tsc: int) -> int:
    """Return the time of a page at a TSC value."""
    page = PvclockTime.unpack(entry)
    return pvclock_ns(tsc, page.tsc_timestamp, page.system_time, page.tsc_to_system_mul, page.tsc_shift)


def page_facts(entry: bytes, where: str, tsc_now: int) -> PageFacts:
    """Decode a page and say what follows from it."""
    page = PvclockTime.unpack(entry)
    khz = page_frequency_khz(page)
    error_ppb = rate_error_ppb(page.tsc_to_system_mul, page.tsc_shift, khz)
    since_s = (tsc_now - page.tsc_timestamp) / (khz * 1000)
    return PageFacts(
        where=where,
        version=page.version,
        tsc_timestamp=page.tsc_timestamp,
        system_time_ns=page.system_time,
        mul=page.tsc_to_system_mul,
        shift=page.tsc_shift,
        tsc_stable=bool(page.flags & PvclockFlag.TSC_STABLE),
        tsc_khz=khz,
        now_ns=page_ns(entry, tsc_now),
        since_update_s=since_s,
        rate_error_ppb=error_ppb,
        jump_at_next_update_ns=-error_ppb * since_s,
        jump_per_day_ns=-error_ppb * _DAY_S,
    )


def made_up_page(tsc_hz: int) -> bytes:
    """Return a page for a machine that has none, so that the shapes of a read can be timed all the same."""
    mul, shift = time_scale(NS_PER_S, tsc_hz)
    page = PvclockTime(
        version=2,
        tsc_timestamp=0,
        system_time=0,
        tsc_to_system_mul=mul,
        tsc_shift=shift,
        flags=PvclockFlag.TSC_STABLE,
    )
    return page.build()


def usable_shapes(code: Native) -> tuple[Shape, ...]:
    """Return the shapes whose instructions this processor has."""
    has_rdtscp = code.cpuid(0x80000000)[0] >= 0x80000001 and bool(code.cpuid(0x80000001)[3] >> 27 & 1)
    return tuple(shape for shape in SHAPES if has_rdtscp or not shape.needs_rdtscp)
