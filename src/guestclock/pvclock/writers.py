"""The hypervisor's side, as KVM does it: host clocks, the master clock, pages, GET_CLOCK and SET_CLOCK.

True time is an argument: ns since the host booted.  The names are those of arch/x86/kvm/x86.c, where
each step is taken from.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property

from guestclock.errors import BadInputError
from guestclock.pvclock.exact import NSEC_PER_SEC, U64
from guestclock.pvclock.layouts import HypervTsc, Page, PvclockFlag, PvclockTime, Vmclock
from guestclock.pvclock.readers import ns_at
from guestclock.pvclock.scale import mult_shift, time_scale
from guestclock.pvclock.steps import At, Barrier, Fence, Memory, Program, Store, run

TSC_SECONDS_MAX = 600  # for which __clocksource_update_freq_scale keeps cycles * mult within 64 bits
HYPERV_SEQUENCE_UNUSED = 0xFFFF_FFFF


@dataclass(frozen=True)
class Host:
    """A host: its TSC, the clock that its kernel makes of it, and its wall clock.

    ``realtime_offset_ns`` is what its wall clock shows at boot; two hosts differ in what they would show
    at one moment.
    """

    tsc_hz: int
    tsc_at_boot: int = 0
    realtime_offset_ns: int = 0

    def tsc(self, true_ns: int) -> int:
        """Return the TSC."""
        return self.tsc_at_boot + true_ns * self.tsc_hz // NSEC_PER_SEC

    @property
    def tsc_khz(self) -> int:
        """The frequency as the kernel knows it."""
        return self.tsc_hz // 1000

    @cached_property
    def mult_shift(self) -> tuple[int, int]:
        """The mult and shift of the host's tsc clocksource (clocksource_register_khz)."""
        return mult_shift(self.tsc_khz, NSEC_PER_SEC // 1000, TSC_SECONDS_MAX * 1000)

    def raw_ns(self, true_ns: int) -> int:
        """Return CLOCK_MONOTONIC_RAW: the TSC since boot by the clocksource's mult and shift."""
        mult, shift = self.mult_shift
        return (self.tsc(true_ns) - self.tsc_at_boot) * mult >> shift

    def realtime_ns(self, true_ns: int) -> int:
        """Return CLOCK_REALTIME."""
        return self.realtime_offset_ns + true_ns


@dataclass(frozen=True)
class ClockData:
    """``kvm_clock_data``; ``realtime_ns`` is None without KVM_CLOCK_REALTIME."""

    clock_ns: int
    realtime_ns: int | None = None
    host_tsc: int | None = None


@dataclass(frozen=True)
class MasterClock:
    """One look at TSC and raw clock together, from which all vCPUs' pages are made."""

    cycle_now: int
    kernel_ns: int


@dataclass
class KvmClock:
    """The clock of one virtual machine on one host.

    ``master`` is None when the master clock is off: each page is then made from a look of its own, and
    none is TSC_STABLE.  A vCPU's TSC is the host's plus ``tsc_offset``.
    """

    host: Host
    tsc_offset: int = 0
    offset_ns: int = 0  # kvmclock_offset
    master: MasterClock | None = None
    pages: dict[int, PvclockTime] = field(default_factory=dict)

    @classmethod
    def created(cls, host: Host, true_ns: int, tsc_offset: int = 0) -> "KvmClock":
        """Return the clock of a new machine: its time begins at 0, its master clock is on."""
        clock = cls(host, tsc_offset)
        clock.update_master_clock(true_ns)
        clock.offset_ns = -clock.host.raw_ns(true_ns)
        return clock

    def update_master_clock(self, true_ns: int) -> None:
        """Look at the host's clock anew; every page is yanked to it (pvclock_update_vm_gtod_copy)."""
        self.master = MasterClock(self.host.tsc(true_ns), self.host.raw_ns(true_ns))
        for vcpu in self.pages:
            self.update_page(vcpu, true_ns)

    def stop_master_clock(self) -> None:
        """The host left the tsc clocksource, or TSCs differ."""
        self.master = None

    def update_page(self, vcpu: int, true_ns: int) -> PvclockTime:
        """Make a vCPU's page anew (kvm_guest_time_update, kvm_setup_guest_pvclock)."""
        seen = self.master or MasterClock(self.host.tsc(true_ns), self.host.raw_ns(true_ns))
        mul, shift = time_scale(NSEC_PER_SEC, self.host.tsc_khz * 1000)
        before = self.pages[vcpu].version if vcpu in self.pages else 0
        self.pages[vcpu] = PvclockTime(
            version=next_guards(PvclockTime, before)[1],
            tsc_timestamp=(seen.cycle_now + self.tsc_offset) % U64,
            system_time=(seen.kernel_ns + self.offset_ns) % U64,
            tsc_to_system_mul=mul,
            tsc_shift=shift,
            flags=PvclockFlag.TSC_STABLE if self.master else 0,
        )
        return self.pages[vcpu]

    def guest_tsc(self, true_ns: int) -> int:
        """Return the TSC that the guest reads."""
        return (self.host.tsc(true_ns) + self.tsc_offset) % U64

    def guest_ns(self, true_ns: int, vcpu: int = 0) -> int:
        """Return what a guest reads from a vCPU's page, written when first asked for."""
        page = self.pages.get(vcpu) or self.update_page(vcpu, true_ns)
        return ns_at(page, self.guest_tsc(true_ns))

    def get_clock(self, true_ns: int) -> ClockData:
        """KVM_GET_CLOCK: with the master clock on, exactly what the pages say, with wall time and TSC."""
        if self.master is None:
            return ClockData(self.host.raw_ns(true_ns) + self.offset_ns)
        mul, shift = time_scale(NSEC_PER_SEC, self.host.tsc_khz * 1000)
        page = PvclockTime(
            *(2, self.master.cycle_now, (self.master.kernel_ns + self.offset_ns) % U64),
            *(mul, shift, PvclockFlag.TSC_STABLE),
        )
        tsc = self.host.tsc(true_ns)
        return ClockData(ns_at(page, tsc), self.host.realtime_ns(true_ns), tsc)

    def set_clock(self, data: ClockData, true_ns: int) -> None:
        """KVM_SET_CLOCK: with a wall time, the time since then is added; never less than nothing.

        >>> clock = KvmClock.created(Host(2_000_000_000), 0)
        >>> saved = clock.get_clock(1_000_000)
        >>> clock.set_clock(ClockData(saved.clock_ns), 1_025_000)  # 25 µs later, without wall time
        >>> clock.guest_ns(1_025_000)
        1000000
        >>> clock.set_clock(saved, 1_025_000)
        >>> clock.guest_ns(1_025_000)
        1025000
        """
        now_ns = data.clock_ns
        if data.realtime_ns is not None:
            now_ns += max(0, self.host.realtime_ns(true_ns) - data.realtime_ns)
        if self.master is not None:
            self.update_master_clock(true_ns)
        self.offset_ns = now_ns - (self.master.kernel_ns if self.master else self.host.raw_ns(true_ns))
        for vcpu in self.pages:
            self.update_page(vcpu, true_ns)


def next_guards(page: type[Page], guard: int) -> tuple[int, int]:
    """Return (the guard while a page is rewritten, the guard after), given the one before.

    >>> next_guards(PvclockTime, 2), next_guards(PvclockTime, 7), next_guards(HypervTsc, 0xFFFF_FFFE)
    ((3, 4), (9, 10), (0, 1))
    """
    if page is HypervTsc:
        following = guard + 1
        return 0, 1 if following in (HYPERV_SEQUENCE_UNUSED, 1 << 32) else following
    busy = (guard + 1 | 1) % (1 << 32)
    return busy, (busy + 1) % (1 << 32)


GUARDS: dict[type[Page], str] = {PvclockTime: "version", HypervTsc: "sequence", Vmclock: "seq_count"}


def stores(page: Page, guard_before: int, number: int = 0) -> Program:
    """Return the stores that publish a page: guard, fields, guard, with write barriers between.

    The guard in ``page`` itself is not looked at.
    """
    guard = GUARDS.get(type(page))
    if guard is None:
        raise BadInputError(f"{type(page).__name__} has no guard: it is written once, before the guest runs")
    busy, ready = next_guards(type(page), guard_before)
    data = tuple(
        Store(At(f.name, number), getattr(page, f.name))
        for f in fields(page)  # type: ignore[arg-type]  # every page is a dataclass
        if f.name != guard
    )
    barrier = Fence(Barrier.WRITE)
    return (Store(At(guard, number), busy), barrier, *data, barrier, Store(At(guard, number), ready))


def publish(memory: Memory, page: Page, number: int = 0) -> Iterator[None]:
    """Publish a page in memory; stops after each store, so that a reader may look in between."""
    program = stores(page, memory[At(GUARDS[type(page)], number)], number)
    for step in program:
        if isinstance(step, Store):
            run((step,), memory, counter=int, formulas={})
            yield
