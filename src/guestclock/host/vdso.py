"""The vDSO: the kernel's own code in every process, found through the auxiliary vector.

Source: Linux, Documentation/ABI/stable/vdso; the image is an ELF file in memory.
"""

import ctypes
import struct
from collections.abc import Callable, Mapping

_libc = ctypes.CDLL(None)
_libc.getauxval.restype = ctypes.c_ulong
_libc.getauxval.argtypes = [ctypes.c_ulong]
_AT_SYSINFO_EHDR = 33
_PT_LOAD = 1
_SHT_DYNSYM = 11
_ELF64 = b"\x7fELF\x02"
_CLOCK_GETTIME = ("__vdso_clock_gettime", "__kernel_clock_gettime")


def address(getauxval: Callable[[int], int] = _libc.getauxval) -> int | None:
    """Return where the kernel mapped its vDSO into this process; None when it has none (``vdso=0``)."""
    return getauxval(_AT_SYSINFO_EHDR) or None


def image(base: int) -> bytes:
    """Copy the image out of this process's memory, as far as its headers reach."""
    header = ctypes.string_at(base, 64)
    if header[:5] != _ELF64:
        return header
    section_offset, sections = (
        struct.unpack_from("<Q", header, 40)[0],
        struct.unpack_from("<H", header, 60)[0],
    )
    return ctypes.string_at(base, max(section_offset + sections * 64, 64))


def symbols(elf: bytes) -> Mapping[str, int]:
    """Return the functions of a 64-bit little-endian image by name: offsets from its start.

    An image that is another kind of file, or damaged, has none.
    """
    if elf[:6] != _ELF64 + b"\x01":
        return {}
    try:
        return dict(_dynamic_symbols(elf))
    except (struct.error, IndexError, UnicodeDecodeError, ValueError):
        return {}


def _dynamic_symbols(elf: bytes) -> list[tuple[str, int]]:
    (table,) = struct.unpack_from("<Q", elf, 40)
    (count,) = struct.unpack_from("<H", elf, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + 64 * index) for index in range(count)]
    base = _load_address(elf)
    found = []
    for header in headers:
        if header[1] != _SHT_DYNSYM:
            continue
        strings = headers[header[6]][4]
        for offset in range(header[4], header[4] + header[5], 24):
            name, _info, _other, section, value, _size = struct.unpack_from("<IBBHQQ", elf, offset)
            end = elf.index(b"\0", strings + name)
            if section and end > strings + name:
                found.append((elf[strings + name : end].decode("ascii"), value - base))
    return found


def _load_address(elf: bytes) -> int:
    """Return the address that the first loaded byte was linked for."""
    (table,) = struct.unpack_from("<Q", elf, 32)
    (count,) = struct.unpack_from("<H", elf, 56)
    for index in range(count):
        kind, _flags, offset, virtual = struct.unpack_from("<IIQQ", elf, table + 56 * index)
        if kind == _PT_LOAD:
            return int(virtual - offset)
    return 0


def clock_gettime(base: int | None) -> int | None:
    """Return the address of clock_gettime in the vDSO at ``base``; None when there is none."""
    if base is None:
        return None
    known = symbols(image(base))
    return next((base + known[name] for name in _CLOCK_GETTIME if name in known), None)
