"""The few ioctls of /dev/kvm that a micro-VMM needs, and nothing above them.

Source: Linux, Documentation/virt/kvm/api.rst and include/uapi/linux/kvm.h.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from guestclock.errors import UnavailableError

API_VERSION = 12


def _io(number: int) -> int:
    return 0xAE00 | number


def _ior(number: int, size: int) -> int:
    return 2 << 30 | size << 16 | 0xAE00 | number


def _iow(number: int, size: int) -> int:
    return 1 << 30 | size << 16 | 0xAE00 | number


def _iowr(number: int, size: int) -> int:
    return 3 << 30 | size << 16 | 0xAE00 | number


GET_API_VERSION = _io(0x00)
CREATE_VM = _io(0x01)
GET_VCPU_MMAP_SIZE = _io(0x04)
GET_SUPPORTED_CPUID = _iowr(0x05, 8)
CREATE_VCPU = _io(0x41)
SET_USER_MEMORY_REGION = _iow(0x46, 32)
SET_TSS_ADDR = _io(0x47)
SET_IDENTITY_MAP_ADDR = _iow(0x48, 8)
SET_CLOCK = _iow(0x7B, 48)
GET_CLOCK = _ior(0x7C, 48)
RUN = _io(0x80)
GET_REGS = _ior(0x81, 144)
SET_REGS = _iow(0x82, 144)
GET_SREGS = _ior(0x83, 312)
SET_SREGS = _iow(0x84, 312)
GET_MSRS = _iowr(0x88, 8)
SET_MSRS = _iow(0x89, 8)
SET_CPUID2 = _iow(0x90, 8)
GET_TSC_KHZ = _io(0xA3)
GET_DEVICE_ATTR = _iow(0xE2, 24)

MSR_TSC = 0x10
MSR_TSC_AUX = 0xC0000103

CLOCK_TSC_STABLE = 2
CLOCK_REALTIME = 4
CLOCK_HOST_TSC = 8

EXIT_IO = 2
EXIT_INTERNAL_ERROR = 17
_EXITS = {
    0: "unknown", 1: "exception", 2: "io", 3: "hypercall", 4: "debug", 5: "hlt", 6: "mmio",
    7: "irq window open", 8: "shutdown (triple fault)", 9: "entry failed", 10: "interrupted",
    17: "internal error",
}  # fmt: skip

REGISTERS = (
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rsp", "rbp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15", "rip", "rflags",
)  # fmt: skip

# Python 3.14 repeats an ioctl that a signal ended; RUN must come back, so it goes past Python.
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_long]


@dataclass(frozen=True)
class ClockReading:
    """KVM_GET_CLOCK: the VM's clock, and where the flags say so, the host's clocks of that moment."""

    clock_ns: int
    flags: int
    realtime_ns: int
    host_tsc: int


class Vm:
    """A virtual machine: memory, a clock, vCPUs.  A context manager; closing ends it all."""

    def __init__(self, memory_bytes: int, device: Path = Path("/dev/kvm")) -> None:
        self._device = open_device(device)
        self.vcpus: list[Vcpu] = []
        try:
            self.fd = fcntl.ioctl(self._device, CREATE_VM, 0)
        except OSError as error:
            os.close(self._device)
            raise UnavailableError(
                f"{device}: cannot create a virtual machine: {error.strerror}:"
                " is another hypervisor holding the processor?"
            ) from error
        self._run_bytes = fcntl.ioctl(self._device, GET_VCPU_MMAP_SIZE, 0)
        # VT-x without unrestricted guest wants these three pages; others refuse or ignore them.
        for request, argument in ((SET_TSS_ADDR, 0xFFFBD000), (SET_IDENTITY_MAP_ADDR, 0xFFFBC000)):
            try:
                fcntl.ioctl(self.fd, request, argument if request == SET_TSS_ADDR else _u64(argument))
            except (OSError, OverflowError):
                continue
        self.memory = mmap.mmap(-1, memory_bytes, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
        self._memory_handle = ctypes.c_char.from_buffer(self.memory)
        self._map_memory(memory_bytes)

    def __enter__(self) -> "Vm":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give everything back."""
        for vcpu in self.vcpus:
            vcpu.close()
        os.close(self.fd)
        os.close(self._device)
        del self._memory_handle
        self.memory.close()

    def _map_memory(self, memory_bytes: int) -> None:
        region = struct.pack("<IIQQQ", 0, 0, 0, memory_bytes, ctypes.addressof(self._memory_handle))
        fcntl.ioctl(self.fd, SET_USER_MEMORY_REGION, region)

    def take_memory_away(self) -> None:
        """Leave the guest without memory: whatever its vCPUs run, they come back at once."""
        self._map_memory(0)

    def create_vcpu(self) -> "Vcpu":
        """Add a vCPU, numbered in order."""
        vcpu = Vcpu(fcntl.ioctl(self.fd, CREATE_VCPU, len(self.vcpus)), self._run_bytes)
        self.vcpus.append(vcpu)
        return vcpu

    def supported_cpuid(self, room: int = 256) -> list[tuple[int, ...]]:
        """Return KVM's CPUID entries: function, index, flags, eax, ebx, ecx, edx and padding."""
        block = bytearray(8 + 40 * room)
        struct.pack_into("<I", block, 0, room)
        fcntl.ioctl(self._device, GET_SUPPORTED_CPUID, block, True)
        (count,) = struct.unpack_from("<I", block)
        return [struct.unpack_from("<10I", block, 8 + 40 * index) for index in range(count)]

    def get_clock(self) -> ClockReading:
        """Return the VM's clock now."""
        block = bytearray(48)
        fcntl.ioctl(self.fd, GET_CLOCK, block)
        clock_ns, flags, _pad, realtime_ns, host_tsc = struct.unpack_from("<QIIQQ", block)
        return ClockReading(clock_ns, flags, realtime_ns, host_tsc)

    def set_clock(self, clock_ns: int, flags: int = 0, realtime_ns: int = 0) -> None:
        """Set the VM's clock; with CLOCK_REALTIME, KVM adds what passed since ``realtime_ns``."""
        block = struct.pack("<QIIQQ16x", clock_ns, flags, 0, realtime_ns, 0)
        fcntl.ioctl(self.fd, SET_CLOCK, block)


class Vcpu:
    """One virtual CPU."""

    def __init__(self, fd: int, run_bytes: int) -> None:
        self.fd = fd
        self._run = mmap.mmap(fd, run_bytes)

    def close(self) -> None:
        """Give the vCPU back."""
        self._run.close()
        os.close(self.fd)

    def registers(self) -> dict[str, int]:
        """Return the general registers by name."""
        block = bytearray(144)
        fcntl.ioctl(self.fd, GET_REGS, block)
        return dict(zip(REGISTERS, struct.unpack("<18Q", block), strict=True))

    def set_registers(self, values: dict[str, int]) -> None:
        """Set the general registers; those not named become 0 (rflags: 2)."""
        merged = dict.fromkeys(REGISTERS, 0) | {"rflags": 2} | values
        fcntl.ioctl(self.fd, SET_REGS, struct.pack("<18Q", *(merged[name] for name in REGISTERS)))

    def special_registers(self) -> bytearray:
        """Return ``kvm_sregs`` as it is."""
        block = bytearray(312)
        fcntl.ioctl(self.fd, GET_SREGS, block)
        return block

    def set_special_registers(self, block: bytearray) -> None:
        """Set ``kvm_sregs``."""
        fcntl.ioctl(self.fd, SET_SREGS, bytes(block))

    def set_cpuid(self, entries: Sequence[tuple[int, ...]]) -> None:
        """Give the vCPU its CPUID."""
        block = struct.pack("<II", len(entries), 0) + b"".join(struct.pack("<10I", *e) for e in entries)
        # A bytearray: Python copies an immutable buffer into 1024 bytes and refuses a larger one.
        fcntl.ioctl(self.fd, SET_CPUID2, bytearray(block))

    def set_msr(self, index: int, value: int) -> bool:
        """Set one MSR; False when KVM does not take it."""
        # A bytearray: for an immutable buffer Python returns the buffer and not the count.
        block = bytearray(struct.pack("<IIIIQ", 1, 0, index, 0, value))
        return bool(fcntl.ioctl(self.fd, SET_MSRS, block, True) == 1)

    def get_msr(self, index: int) -> int | None:
        """Return one MSR; None when KVM does not have it."""
        block = bytearray(struct.pack("<IIIIQ", 1, 0, index, 0, 0))
        count = fcntl.ioctl(self.fd, GET_MSRS, block, True)
        return int(struct.unpack_from("<Q", block, 16)[0]) if count == 1 else None

    def tsc_khz(self) -> int:
        """Return the frequency of the guest's TSC as KVM knows it."""
        return fcntl.ioctl(self.fd, GET_TSC_KHZ, 0)

    def tsc_offset(self) -> int | None:
        """Return guest TSC − host TSC (modulo 2^64); None before Linux 5.16."""
        value = ctypes.c_uint64(0)
        attribute = struct.pack("<IIQQ", 0, 0, 0, ctypes.addressof(value))  # KVM_VCPU_TSC_CTRL, TSC_OFFSET
        try:
            fcntl.ioctl(self.fd, GET_DEVICE_ATTR, attribute)
        except OSError:
            return None
        return value.value

    def run(self) -> None:
        """Run until the guest leaves.  A signal repeats it: Python's handlers run in between."""
        while _libc.ioctl(self.fd, RUN, 0) < 0:
            code = ctypes.get_errno()
            if code != errno.EINTR:
                raise UnavailableError(f"KVM_RUN: {os.strerror(code)}: this KVM cannot run the guest")

    def exit_reason(self) -> int:
        """Return why the guest left."""
        return int(struct.unpack_from("<I", self._run, 8)[0])

    def exit_port(self) -> int:
        """Return the port of an exit for I/O."""
        return int(struct.unpack_from("<H", self._run, 34)[0])

    def describe_exit(self) -> str:
        """Return the reason of the last exit in words."""
        reason = self.exit_reason()
        text = _EXITS.get(reason, f"exit {reason}")
        if reason == EXIT_INTERNAL_ERROR:
            suberror, _count = struct.unpack_from("<II", self._run, 32)
            text += f", suberror {suberror}"
        return text


def open_device(device: Path) -> int:
    """Open /dev/kvm; UnavailableError says why it cannot be had and what to do."""
    if platform.machine() not in {"x86_64", "AMD64"}:
        raise UnavailableError(f"this is {platform.machine()}: the micro-VM runs x86-64 code only")
    try:
        fd = os.open(device, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise UnavailableError(
            f"{device} is not there: load kvm_intel or kvm_amd, or have nested virtualization switched on"
        ) from error
    except PermissionError as error:
        raise UnavailableError(
            f"{device}: not permitted: join its group (usually `adduser $USER kvm`) or run as root"
        ) from error
    except OSError as error:
        raise UnavailableError(f"{device}: {error.strerror}") from error
    try:
        version = fcntl.ioctl(fd, GET_API_VERSION, 0)
    except OSError as error:
        os.close(fd)
        raise UnavailableError(f"{device} is not a KVM device: {error.strerror}") from error
    if version != API_VERSION:
        os.close(fd)
        raise UnavailableError(f"{device}: API version {version}, not {API_VERSION}: a kernel too old or new")
    return fd


def _u64(value: int) -> bytes:
    return struct.pack("<Q", value)
