"""The vDSO: the kernel's own code in every process, found through the auxiliary vector.

Source: Linux, Documentation/ABI/stable/vdso; the image is an ELF file in memory.
"""

import ctypes
import struct
from collections.abc import Mapping

from guestclock.host.tree import Tree

_AT_SYSINFO_EHDR = 33
_PT_LOAD = 1
_SHT_DYNSYM = 11
_ELF64 = b"\x7fELF\x02"
_CLOCK_GETTIME = ("__vdso_clock_gettime", "__kernel_clock_gettime")


def address(tree: Tree) -> int | None:
    """Return where the kernel mapped its vDSO into this process; None when it has none (``vdso=0``)."""
    try:
        vector = tree.path("/proc/self/auxv").read_bytes()
    except OSError as error:
        tree.unreadable["/proc/self/auxv"] = (error.strerror or str(error)).lower()
        return None
    word = struct.calcsize("@N")
    pairs = struct.iter_unpack("@NN", vector[: len(vector) // (2 * word) * 2 * word])
    return next((value for key, value in pairs if key == _AT_SYSINFO_EHDR and value), None)


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


def clock_gettime(tree: Tree) -> int | None:
    """Return the address of the vDSO's clock_gettime; None when there is none."""
    base = address(tree)
    if base is None:
        return None
    known = symbols(image(base))
    return next((base + known[name] for name in _CLOCK_GETTIME if name in known), None)
