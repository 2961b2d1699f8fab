"""The known ways of reading a clock wrongly, each with what it says and what is right.

Every figure is computed: by the faulty arithmetic on one side, by ``readers`` and ``writers`` on the other.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from guestclock.errors import BadInputError
from guestclock.pvclock.exact import NSEC_PER_SEC, U64
from guestclock.pvclock.layouts import PvclockFlag, PvclockTime
from guestclock.pvclock.readers import find_reader, memory_of, ns_at, read
from guestclock.pvclock.scale import time_scale
from guestclock.pvclock.steps import At
from guestclock.pvclock.writers import ClockData, Host, KvmClock, publish

TSC_HZ = 2_300_000_000
SECOND = NSEC_PER_SEC
U32 = 1 << 32


@dataclass(frozen=True)
class Scenario:
    """A fault: ``wrong_ns`` is what a faulty reader (or writer) makes of a case, ``right_ns`` what is right.

    None stands for "refused": a sound reader takes no value from such a page.
    """

    name: str
    cause: str
    case: str
    wrong_ns: int | None
    right_ns: int | None


def _page(tsc_hz: int = TSC_HZ) -> PvclockTime:
    mul, shift = time_scale(NSEC_PER_SEC, tsc_hz)
    return PvclockTime(2, 0, 0, mul, shift, PvclockFlag.TSC_STABLE)


def negative_delta() -> Scenario:
    """A reading a little older than the base, subtracted as unsigned."""
    last_ns, now_ns = 1_000, 999
    return Scenario(
        "negative-delta",
        "a difference below zero is taken as unsigned",
        "kvm-clock read 1 ns before cycle_last",
        (now_ns - last_ns) % U64,
        max(0, now_ns - last_ns),
    )


def negative_system_time() -> Scenario:
    """SET_CLOCK to 0 against a clock read after the master clock was looked at (70 ns later)."""
    clock = KvmClock.created(Host(TSC_HZ), 0)
    clock.update_master_clock(SECOND)
    assert clock.master is not None
    clock.offset_ns = -clock.host.raw_ns(SECOND + 70)
    wrong = clock.update_page(0, SECOND).system_time
    clock.offset_ns = -clock.master.kernel_ns
    right = clock.update_page(0, SECOND).system_time
    return Scenario(
        "negative-system-time",
        "the offset is computed from a clock ahead of the page's own base: system_time wraps",
        "KVM_SET_CLOCK to 0, base 70 ns old; the guest reads at once",
        wrong,
        right,
    )


def _in_the_middle(reader: str, stores_done: int) -> int:
    """Return what a reader says whose page has seen so many stores of an update a second later."""
    old = _page()
    later = TSC_HZ
    new = replace(old, tsc_timestamp=later, system_time=ns_at(old, later))
    memory = memory_of(old)
    update = publish(memory, new)
    for _ in range(stores_done):
        next(update)

    def counter() -> int:
        for _ in update:
            pass  # the update goes on while the reader is at it
        return later

    return read(find_reader(reader), memory, counter)


def odd_version() -> Scenario:
    """Version checked for change but not for being odd, in the middle of an update."""
    old = _page()
    memory = memory_of(old)
    update = publish(memory, replace(old, tsc_timestamp=TSC_HZ, system_time=ns_at(old, TSC_HZ)))
    next(update)
    next(update)
    before, again = memory[At("version")], memory[At("version")]
    assert before == again
    half = PvclockTime(*(memory[At(name)] for name in PvclockTime.__dataclass_fields__))
    return Scenario(
        "odd-version",
        "the version is compared, but an odd one is not refused",
        "an update that has written tsc_timestamp and not yet system_time, 1 s after the one before",
        ns_at(half, TSC_HZ),
        _in_the_middle("pvclock", 2),
    )


def torn_read() -> Scenario:
    """Fields of two versions in one result: what a reader without the version check takes."""
    old, later = _page(), TSC_HZ
    new = replace(old, tsc_timestamp=later, system_time=ns_at(old, later))
    memory = memory_of(old)

    def counter() -> int:
        for _ in publish(memory, replace(new, tsc_timestamp=old.tsc_timestamp)):
            pass
        return later

    return Scenario(
        "torn-read",
        "without barrier or version check, fields of two updates meet",
        "old tsc_timestamp with new system_time, 1 s after the update before",
        read(find_reader("pvclock-unchecked"), memory, counter),
        _in_the_middle("pvclock", 0),
    )


def never_written() -> Scenario:
    """A page that KVM could not write: it crosses into the next one, or lies outside RAM."""
    empty = bytes(PvclockTime.LAYOUT.size)
    try:
        right = ns_at(PvclockTime.parse(empty), TSC_HZ)
    except BadInputError:
        right = None
    return Scenario(
        "never-written",
        "version 0 and mul 0 are read as a page",
        "a page that spans two frames or leaves RAM, 1 s after boot: the clock stands still",
        ns_at(PvclockTime.unpack(empty), TSC_HZ),
        right,
    )


def product_of_64_bits() -> Scenario:
    """The product delta * mul needs 96 bits."""
    page = _page()
    delta = 5 * TSC_HZ
    return Scenario(
        "product-64-bits",
        "delta * mul is cut to 64 bits: wraps every 2^32 ns",
        "5 s after the update",
        (delta >> 1) * page.tsc_to_system_mul % U64 >> 32,
        ns_at(page, delta),
    )


def left_shift_of_32_bits() -> Scenario:
    """A slow counter has a left shift, and the shifted difference does not fit 32 bits."""
    hz = 100_000_000
    page = _page(hz)
    delta = 3 * hz
    return Scenario(
        "left-shift-32-bits",
        "the difference is shifted left in a 32-bit register",
        f"a counter of 100 MHz (shift {page.tsc_shift}), 3 s after the update",
        (delta << page.tsc_shift) % U32 * page.tsc_to_system_mul >> 32,
        ns_at(page, delta),
    )


def kilohertz() -> Scenario:
    """A frequency known to the Hz, scaled in kHz."""
    hz = 2_299_999_999
    day = 86_400 * hz
    return Scenario(
        "khz-not-hz",
        "scaling in kHz drops up to 999 Hz: 0.4 ppm",
        f"a TSC of {hz} Hz: the clock's error after a day",
        ns_at(_page(hz // 1000 * 1000), day) - 86_400 * SECOND,
        ns_at(_page(hz), day) - 86_400 * SECOND,
    )


def _step_at_set_clock(*, realtime: bool) -> int:
    clock = KvmClock.created(Host(TSC_HZ), 0)
    clock.update_master_clock(SECOND)
    saved = clock.get_clock(SECOND)
    set_at = SECOND + 25_000
    before = clock.guest_ns(set_at)
    clock.set_clock(saved if realtime else ClockData(saved.clock_ns), set_at)
    return clock.guest_ns(set_at) - before


def rewound() -> Scenario:
    """GET_CLOCK and SET_CLOCK on a running guest."""
    return Scenario(
        "set-clock-rewinds",
        "the time between the two calls is lost; KVM_CLOCK_REALTIME adds it again",
        "KVM_GET_CLOCK, KVM_SET_CLOCK 25 µs later: the guest's step",
        _step_at_set_clock(realtime=False),
        _step_at_set_clock(realtime=True),
    )


def pages_apart() -> Scenario:
    """The master clock is off: each vCPU's page has a base of its own."""
    ahead = replace(_page(), system_time=SECOND)
    late = replace(ahead, system_time=SECOND - 150)
    at = TSC_HZ
    first = ns_at(ahead, at)
    step = ns_at(late, at + 46) - first
    return Scenario(
        "pages-apart",
        "vCPUs' pages differ and nothing clamps to the last value returned",
        "page 1 is 150 ns behind page 0; read on vCPU 0, then 20 ns later on vCPU 1: the step",
        step,
        max(0, step),
    )


def cycles_times_1e9() -> Scenario:
    """cycles * 10^9 / Hz in 64 bits."""
    cycles = 10 * TSC_HZ
    return Scenario(
        "cycles-times-1e9",
        "cycles * 10^9 overflows 64 bits after 2^64 / 10^9 cycles",
        "10 s of a 2.3 GHz counter",
        cycles * NSEC_PER_SEC % U64 // TSC_HZ,
        cycles * NSEC_PER_SEC // TSC_HZ,
    )


ACPI_PM_HZ, ACPI_PM_MASK = 3_579_545, (1 << 24) - 1


def masked_wrap() -> Scenario:
    """A counter of 24 bits wraps between two reads."""
    last, now = ACPI_PM_MASK - 15, 16
    return Scenario(
        "masked-wrap",
        "the difference is not masked to the counter's width: a wrap looks like a step back",
        "ACPI PM timer (24 bits) read before and 32 ticks later, after its wrap",
        (now - last) * NSEC_PER_SEC // ACPI_PM_HZ,
        ((now - last) & ACPI_PM_MASK) * NSEC_PER_SEC // ACPI_PM_HZ,
    )


def watchdog_wrong() -> Scenario:
    """The watchdog's clock wraps while the vCPU is not running; the TSC gets the blame."""
    stalled = 5 * SECOND
    tsc_ns = stalled
    ticks = stalled * ACPI_PM_HZ // NSEC_PER_SEC
    watchdog_ns = (ticks & ACPI_PM_MASK) * NSEC_PER_SEC // ACPI_PM_HZ
    return Scenario(
        "watchdog-wrong",
        "the watchdog trusts a clock that wraps: the TSC is marked unstable",
        "the vCPU is held for 5 s, the ACPI PM timer wraps after 4.69 s: the TSC's error as it is seen",
        tsc_ns - watchdog_ns,
        tsc_ns - stalled,
    )


_ALL: tuple[Callable[[], Scenario], ...] = (
    negative_delta,
    negative_system_time,
    odd_version,
    torn_read,
    never_written,
    product_of_64_bits,
    left_shift_of_32_bits,
    kilohertz,
    rewound,
    pages_apart,
    cycles_times_1e9,
    masked_wrap,
    watchdog_wrong,
)


def scenarios() -> tuple[Scenario, ...]:
    """Return every known fault, computed now."""
    return tuple(make() for make in _ALL)
