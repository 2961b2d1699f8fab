"""The read loops in this process: mapped executable, called through ctypes.

No compiler is needed, and nothing is ever both writable and executable.  Where the processor is
another one, or the system forbids such a mapping, :func:`load` says why and callers do with Python.
"""

import ctypes
import mmap
import os
import platform
import struct
import tempfile
import threading
from collections.abc import Callable, Sequence
from importlib.resources import files

from guestclock import readloops
from guestclock.errors import UnavailableError

_libc = ctypes.CDLL(None, use_errno=True)
_PR_GET_TSC = 25
_PR_TSC_SIGSEGV = 2
_SYS_ARCH_PRCTL = 158
_ARCH_GET_CPUID = 0x1011
_MAP_FAILED = ctypes.c_void_p(-1).value


class Block:
    """Memory for the loops: a cache line's alignment, at an address that stays."""

    def __init__(self, content: bytes | bytearray) -> None:
        self._buffer = ctypes.create_string_buffer(len(content) + 64)
        self.address = (ctypes.addressof(self._buffer) + 63) & ~63
        self._size = len(content)
        ctypes.memmove(self.address, bytes(content), len(content))

    def bytes(self) -> bytes:
        """Return what the block holds now."""
        return ctypes.string_at(self.address, self._size)


class Native:
    """The functions of the image, at C speed."""

    def __init__(self, base: int) -> None:
        self._base = base
        self._image = readloops.load()
        self._functions: dict[str, Callable[..., int]] = {}
        clock_gettime = ctypes.cast(_libc.clock_gettime, ctypes.c_void_p).value
        assert clock_gettime is not None
        self.clock_gettime = clock_gettime
        """Address of the C library's function."""

    def call(self, function: str, *arguments: int) -> int:
        """Call a function of the image with integers and addresses; return its result."""
        known = self._functions.get(function)
        if known is None:
            prototype = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * len(arguments))
            known = self._functions[function] = prototype(self._base + self._image.offset(function))
        return known(*arguments)

    def cpuid(self, leaf: int, subleaf: int = 0) -> tuple[int, int, int, int]:
        """Return eax, ebx, ecx and edx of a CPUID leaf."""
        out = (ctypes.c_uint32 * 4)()
        self.call("cpuid_leaf", leaf, subleaf, ctypes.addressof(out))
        return out[0], out[1], out[2], out[3]

    def tsc(self) -> int:
        """Return the TSC, read after all earlier loads."""
        return self.call("tsc")


def load() -> Native:
    """Map the image executable.

    Raises:
        UnavailableError: another processor than x86-64, or a system that forbids the mapping or the TSC.
    """
    if platform.machine() not in {"x86_64", "AMD64"}:
        raise UnavailableError(f"no machine code for {platform.machine()}: read loops exist for x86-64")
    if struct.calcsize("P") != 8:
        raise UnavailableError("no machine code for a 32-bit Python: read loops exist for x86-64")
    _check_instructions()
    return Native(_map(readloops.load().code))


def _check_instructions(
    prctl: Callable[..., int] = _libc.prctl, syscall: Callable[..., int] = _libc.syscall
) -> None:
    """Find out whether a sandbox makes RDTSC or CPUID a fault, which would end this process.

    Source: prctl(2), PR_GET_TSC; arch_prctl(2), ARCH_GET_CPUID.
    """
    state = ctypes.c_int(0)
    if prctl(_PR_GET_TSC, ctypes.byref(state)) == 0 and state.value == _PR_TSC_SIGSEGV:
        raise UnavailableError(
            "this process may not read the TSC (PR_SET_TSC): a sandbox or debugger forbids it"
        )
    if syscall(_SYS_ARCH_PRCTL, _ARCH_GET_CPUID, 0) == 0:
        raise UnavailableError(
            "this process may not use CPUID (ARCH_SET_CPUID): a sandbox or debugger forbids it"
        )


def _map(code: bytes) -> int:
    """Map the code read-and-execute from a file; from the package first, from a copy elsewhere else."""
    reasons = []
    for source in (_package_file, _anonymous_file, _temporary_file):
        try:
            fd = source(code)
        except OSError as error:
            reasons.append(str(error.strerror))
            continue
        try:
            _libc.mmap.restype = ctypes.c_void_p
            _libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
            protection = mmap.PROT_READ | mmap.PROT_EXEC
            address = _libc.mmap(None, len(code), protection, mmap.MAP_PRIVATE, fd, 0)
        finally:
            os.close(fd)
        if address not in {None, _MAP_FAILED}:
            return int(address)
        reasons.append(os.strerror(ctypes.get_errno()))
    raise UnavailableError(f"this system maps no code of ours executable ({'; '.join(reasons)})")


def _package_file(_code: bytes) -> int:
    return os.open(str(files(readloops) / "x86_64.bin"), os.O_RDONLY | os.O_CLOEXEC)


def _anonymous_file(code: bytes) -> int:
    fd = os.memfd_create("guestclock-loops")
    os.write(fd, code)
    return fd


def _temporary_file(code: bytes) -> int:
    with tempfile.TemporaryFile() as file:
        file.write(code)
        file.flush()
        return os.dup(file.fileno())


def on_cpus(work: Sequence[tuple[int, Callable[[], object]]]) -> None:
    """Run each function in a thread of its own on its CPU, all at the same time; re-raise the first error."""
    failures: list[BaseException] = []

    def pinned(cpu: int, function: Callable[[], object]) -> None:
        try:
            os.sched_setaffinity(0, {cpu})
            function()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=pinned, args=pair, daemon=True) for pair in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
