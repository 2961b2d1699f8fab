"""The page against KVM's own clock, and the guest's arithmetic against exact arithmetic."""

import random
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from guestclock.kvm import longmode
from guestclock.kvm.api import CLOCK_HOST_TSC, ClockReading
from guestclock.kvm.microvm import Call, MicroVm, pvclock_address
from guestclock.pvclock.exact import pvclock_ns, time_scale
from guestclock.pvclock.layouts import PvclockTime, PvclockWallClock
from guestclock.readloops import LIVE_RECORD

U64 = (1 << 64) - 1
CASE_BYTES = 64


def read_page(vm: MicroVm, vcpu: int = 0) -> PvclockTime:
    """Return the page of a vCPU as it stands; no vCPU may be running."""
    return PvclockTime.unpack(vm.read(pvclock_address(vcpu), 32))


def page_ns(page: PvclockTime, tsc: int) -> int:
    """Return the time of a page at a TSC value, in exact integers."""
    return pvclock_ns(tsc, page.tsc_timestamp, page.system_time, page.tsc_to_system_mul, page.tsc_shift)


def guest_tsc(vm: MicroVm, host_tsc: int, vcpu: int = 0) -> int | None:
    """Return what the guest's TSC showed at a host TSC; None where KVM does not tell the offset."""
    offset = vm.vcpus[vcpu].tsc_offset()
    return None if offset is None else host_tsc + offset & U64


@dataclass(frozen=True)
class PageAgainstClock:
    """Page − KVM_GET_CLOCK at the same TSC, look by look."""

    differences_ns: tuple[int, ...]
    mul_shift: tuple[int, int]
    mul_shift_expected: tuple[int, int]

    @property
    def exact(self) -> int:
        """How many looks differ by 0 ns."""
        return self.differences_ns.count(0)


def against_get_clock(vm: MicroVm, looks: int) -> PageAgainstClock | None:
    """Compare the page with KVM_GET_CLOCK; None where KVM does not say its TSC (before Linux 5.16)."""
    page = read_page(vm)
    differences = []
    for _ in range(looks):
        clock = vm.vm.get_clock()
        tsc = guest_tsc(vm, clock.host_tsc)
        if tsc is None or not clock.flags & CLOCK_HOST_TSC:
            return None
        differences.append(page_ns(page, tsc) - clock.clock_ns)
    expected = time_scale(1_000_000_000, vm.tsc_khz * 1000)
    return PageAgainstClock(tuple(differences), (page.tsc_to_system_mul, page.tsc_shift), expected)


@dataclass(frozen=True)
class Arithmetic:
    """The guest's results against exact integers."""

    live: int
    live_wrong: int
    random: int
    random_wrong: int
    seed: int


def arithmetic(vm: MicroVm, count: int, seed: int) -> Arithmetic:
    """Have the guest scale its live page and random ones; compare with Python's integers."""
    page = read_page(vm)
    output = longmode.output(0)
    vm.call(Call("live", (longmode.PVCLOCK, count, output)))
    live = np.frombuffer(vm.read(output, count * LIVE_RECORD.itemsize), LIVE_RECORD)
    live_wrong = sum(
        page_ns(page, int(tsc)) != int(ns) for tsc, ns in zip(live["tsc"], live["ns"], strict=True)
    )
    cases = [random_case(rng) for rng in [random.Random(seed)] for _ in range(count)]
    inputs = longmode.output(1)
    vm.write(inputs, b"".join(cases))
    vm.call(Call("scale", (inputs, count, output)))
    results = vm.read_words(output, count)
    random_wrong = sum(exact(case) != result for case, result in zip(cases, results, strict=True))
    return Arithmetic(count, live_wrong, count, random_wrong, seed)


def random_case(rng: random.Random) -> bytes:
    """Return a page with any contents, then the TSC to read it at; padded as ``scale`` wants it."""
    page = PvclockTime(
        version=2,
        tsc_timestamp=rng.getrandbits(64),
        system_time=rng.getrandbits(64),
        tsc_to_system_mul=rng.getrandbits(32),
        tsc_shift=rng.randint(-31, 31),
        flags=1,
    )
    return (page.build() + struct.pack("<Q", rng.getrandbits(64))).ljust(CASE_BYTES, b"\0")


def exact(case: bytes) -> int:
    """Return what reading a case must give."""
    (tsc,) = struct.unpack_from("<Q", case, 32)
    return page_ns(PvclockTime.unpack(case), tsc)


@dataclass(frozen=True)
class WallClock:
    """The wall clock page plus the guest's clock, against the host's CLOCK_REALTIME around it."""

    host_before_ns: int
    guest_ns: int
    host_after_ns: int

    @property
    def error_ns(self) -> int:
        """By how much the guest's wall clock lies outside the host's two readings (0: inside)."""
        return max(self.guest_ns - self.host_after_ns, 0) or min(self.guest_ns - self.host_before_ns, 0)


def wall_clock(vm: MicroVm, realtime_ns: Callable[[], int] = time.time_ns) -> WallClock:
    """Have KVM write the wall clock and read it as a guest does: wall + system time."""
    vm.write_wall_clock()
    before = realtime_ns()
    _tsc, system_ns = observe(vm)
    after = realtime_ns()
    wall = PvclockWallClock.parse(vm.read(longmode.WALL_CLOCK, PvclockWallClock.LAYOUT.size))
    return WallClock(before, wall.sec * 1_000_000_000 + wall.nsec + system_ns, after)


def observe(vm: MicroVm, vcpu: int = 0) -> tuple[int, int]:
    """Read a vCPU's clock in the guest; return its TSC and the nanoseconds."""
    output = longmode.output(vcpu)
    vm.call(Call("live", (pvclock_address(vcpu), 1, output)), vcpu)
    tsc, ns = vm.read_words(output, 2)
    return tsc, ns


def elapsed_ns(vm: MicroVm, before: ClockReading, after: ClockReading) -> int:
    """Return the time between two clock readings by the TSC (their clock may have been set)."""
    return (after.host_tsc - before.host_tsc) * 1_000_000 // vm.tsc_khz
