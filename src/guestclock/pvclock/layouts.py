"""The pages that hypervisors publish: parse, build, and refuse what nobody has filled in.

Every class has the three methods of `Page`.  Fields keep the names of the published structures;
all are little-endian.

- ``pvclock_vcpu_time_info``, ``pvclock_wall_clock``: KVM and Xen, arch/x86/include/asm/pvclock-abi.h
- the reference TSC page: Hyper-V Top Level Functional Specification, "Partition Reference TSC"
- ``vmclock_abi``: include/uapi/linux/vmclock-abi.h
"""

import struct
from dataclasses import astuple, dataclass
from enum import IntEnum, IntFlag
from typing import ClassVar, Self

from guestclock.errors import BadInputError

MSR_KVM_WALL_CLOCK = 0x4B564D00
MSR_KVM_SYSTEM_TIME = 0x4B564D01
MSR_HV_TIME_REF_COUNT = 0x40000020


class Page:
    """A published structure: ``unpack`` takes any bytes, ``parse`` only what a reader may use."""

    TITLE: ClassVar[str]
    LAYOUT: ClassVar[struct.Struct]

    @classmethod
    def unpack(cls, raw: bytes | bytearray | memoryview) -> Self:
        """Return the fields in the first ``LAYOUT.size`` bytes, whatever they say.

        Raises BadInputError when there are too few bytes.
        """
        if len(raw) < cls.LAYOUT.size:
            raise BadInputError(f"{cls.TITLE}: {len(raw)} bytes: it has {cls.LAYOUT.size}")
        return cls(*cls.LAYOUT.unpack_from(raw))

    @classmethod
    def parse(cls, raw: bytes | bytearray | memoryview) -> Self:
        """Return the fields of a page that tells a time; BadInputError says why it does not."""
        page = cls.unpack(raw)
        complaint = page._complaint()
        if complaint:
            raise BadInputError(f"{cls.TITLE}: {complaint}")
        return page

    def build(self) -> bytes:
        """Return the page as the guest sees it."""
        return self.LAYOUT.pack(*self._values())

    def _values(self) -> tuple[int, ...]:
        return tuple(astuple(self))  # type: ignore[call-overload]  # every page is a dataclass

    def _complaint(self) -> str:
        raise NotImplementedError


class PvclockFlag(IntFlag):
    """Bits of ``pvclock_vcpu_time_info.flags``."""

    TSC_STABLE = 1
    GUEST_STOPPED = 2


@dataclass(frozen=True, slots=True)
class PvclockTime(Page):
    """``pvclock_vcpu_time_info``: one vCPU's clock.

    ns = system_time + (((tsc - tsc_timestamp) << tsc_shift) * tsc_to_system_mul >> 32)

    >>> page = PvclockTime(2, 1000, 0, 0x80000000, 1, PvclockFlag.TSC_STABLE)
    >>> PvclockTime.parse(page.build()) == page
    True
    >>> PvclockTime.parse(bytes(32))
    Traceback (most recent call last):
    guestclock.errors.BadInputError: pvclock page: version 0 and mul 0: never written. Set MSR 0x4b564d01 to \
its address and let the vCPU run; a page that leaves RAM or crosses into the next one stays like this
    """

    version: int
    tsc_timestamp: int
    system_time: int
    tsc_to_system_mul: int
    tsc_shift: int
    flags: int

    TITLE = "pvclock page"
    LAYOUT = struct.Struct("<I4xQQIbB2x")

    def _complaint(self) -> str:
        if self.version == 0 or self.tsc_to_system_mul == 0:
            return (
                f"version {self.version} and mul {self.tsc_to_system_mul}: never written. Set MSR "
                f"{MSR_KVM_SYSTEM_TIME:#x} to its address and let the vCPU run; a page that leaves RAM or "
                "crosses into the next one stays like this"
            )
        if self.version & 1:
            return f"version {self.version} is odd: an update is under way, copy the page again"
        return ""


@dataclass(frozen=True, slots=True)
class PvclockWallClock(Page):
    """``pvclock_wall_clock``: the wall time at system_time 0; now = wall clock + system_time."""

    version: int
    sec: int
    nsec: int

    TITLE = "pvclock wall clock"
    LAYOUT = struct.Struct("<III")

    def _complaint(self) -> str:
        if self.version == 0:
            return f"version 0: never written. Set MSR {MSR_KVM_WALL_CLOCK:#x} to its address"
        if self.version & 1:
            return f"version {self.version} is odd: an update is under way, copy it again"
        if self.nsec >= 1_000_000_000:
            return f"nsec {self.nsec} is no part of a second"
        return ""


@dataclass(frozen=True, slots=True)
class HypervTsc(Page):
    """Hyper-V's reference TSC page: time in 100 ns units = (tsc * scale >> 64) + offset."""

    sequence: int
    scale: int
    offset: int

    TITLE = "Hyper-V reference TSC page"
    LAYOUT = struct.Struct("<I4xQq")

    def _complaint(self) -> str:
        if self.sequence == 0:
            return f"sequence 0: it tells no time now, read MSR {MSR_HV_TIME_REF_COUNT:#x} instead"
        if self.scale == 0:
            return "scale 0: never written"
        return ""


VMCLOCK_MAGIC = 0x4B4C4356
VMCLOCK_SIZE_MIN = 0x68  # as published in 2024, before vm_generation_counter (VM_GEN_COUNTER_PRESENT)


class VmclockCounter(IntEnum):
    """``vmclock_abi.counter_id``."""

    ARM_VCNT = 0
    X86_TSC = 1
    INVALID = 0xFF


class VmclockTimeType(IntEnum):
    """``vmclock_abi.time_type``."""

    UTC = 0
    TAI = 1
    MONOTONIC = 2
    INVALID_SMEARED = 3
    INVALID_MAYBE_SMEARED = 4


class VmclockStatus(IntEnum):
    """``vmclock_abi.clock_status``."""

    UNKNOWN = 0
    INITIALIZING = 1
    SYNCHRONIZED = 2
    FREERUNNING = 3
    UNRELIABLE = 4


class VmclockFlag(IntFlag):
    """Bits of ``vmclock_abi.flags``."""

    TAI_OFFSET_VALID = 1 << 0
    DISRUPTION_SOON = 1 << 1
    DISRUPTION_IMMINENT = 1 << 2
    PERIOD_ESTERROR_VALID = 1 << 3
    PERIOD_MAXERROR_VALID = 1 << 4
    TIME_ESTERROR_VALID = 1 << 5
    TIME_MAXERROR_VALID = 1 << 6
    TIME_MONOTONIC = 1 << 7
    VM_GEN_COUNTER_PRESENT = 1 << 8
    NOTIFICATION_PRESENT = 1 << 9


@dataclass(frozen=True, slots=True)
class Vmclock(Page):
    """``vmclock_abi``: time of day from a counter, with the marks of a migration.

    time = time_sec + time_frac_sec / 2^64
           + (counter - counter_value) * counter_period_frac_sec / 2^(64 + counter_period_shift)

    A page may be valid and tell no time (``counter_id`` INVALID): it then only carries
    ``disruption_marker`` and ``vm_generation_counter``.
    """

    magic: int
    size: int
    version: int
    counter_id: int
    time_type: int
    seq_count: int
    disruption_marker: int
    flags: int
    clock_status: int
    leap_second_smearing_hint: int
    tai_offset_sec: int
    leap_indicator: int
    counter_period_shift: int
    counter_value: int
    counter_period_frac_sec: int
    counter_period_esterror_rate_frac_sec: int
    counter_period_maxerror_rate_frac_sec: int
    time_sec: int
    time_frac_sec: int
    time_esterror_nanosec: int
    time_maxerror_nanosec: int
    vm_generation_counter: int

    TITLE = "vmclock page"
    LAYOUT = struct.Struct("<IIHBBIQQ2xBBhBBQQQQQQQQQ")

    @property
    def tells_time(self) -> bool:
        """Is there a counter, a period and a status by which a reader may compute the time?"""
        return (
            self.counter_id in (VmclockCounter.ARM_VCNT, VmclockCounter.X86_TSC)
            and self.counter_period_frac_sec != 0
            and self.clock_status != VmclockStatus.UNRELIABLE
        )

    @property
    def utc_minus_time_sec(self) -> int:
        """Seconds to add to the page's time for UTC.

        ``tai_offset_sec`` is UTC - TAI (now -37), opposite in sign to the usual table.  Raises
        BadInputError when the page does not relate its time to UTC.
        """
        if self.time_type == VmclockTimeType.UTC:
            return 0
        if self.time_type == VmclockTimeType.TAI and self.flags & VmclockFlag.TAI_OFFSET_VALID:
            return self.tai_offset_sec
        raise BadInputError(
            f"{self.TITLE}: time_type {self.time_type}, flags {self.flags:#x}: how far from UTC is unknown"
        )

    def _complaint(self) -> str:
        if self.magic != VMCLOCK_MAGIC:
            return f"magic {self.magic:#010x} is not {VMCLOCK_MAGIC:#010x}: this is no vmclock page"
        if self.version != 1:
            return f"version {self.version}: only version 1 is known"
        if self.size < VMCLOCK_SIZE_MIN:
            return f"size {self.size}: the fields up to time_maxerror_nanosec need {VMCLOCK_SIZE_MIN} bytes"
        if self.seq_count & 1:
            return f"seq_count {self.seq_count} is odd: an update is under way, copy the page again"
        if self.time_type not in (VmclockTimeType.UTC, VmclockTimeType.TAI, VmclockTimeType.MONOTONIC):
            return f"time_type {self.time_type}: smeared or unknown, no time can be told from it"
        return ""


# The published sizes; vmclock_abi ends behind vm_generation_counter at 0x68.
assert PvclockTime.LAYOUT.size == 32
assert PvclockWallClock.LAYOUT.size == 12
assert HypervTsc.LAYOUT.size == 24
assert Vmclock.LAYOUT.size == 0x70
