"""The Linux/m68k boot information: what a boot loader tells the kernel of a Macintosh.

A chain of records right behind the kernel (uapi/asm/bootinfo.h, bootinfo-mac.h).  Each is a big-endian tag
(u16), its own size with this header (u16) and data;  BI_LAST ends the chain.  Names are the kernel's.
"""

import struct

from guestclock.errors import BadInputError

BI_LAST = 0x0000
BI_MACHTYPE = 0x0001
BI_CPUTYPE = 0x0002
BI_FPUTYPE = 0x0003
BI_MMUTYPE = 0x0004
BI_MEMCHUNK = 0x0005
BI_RAMDISK = 0x0006
BI_COMMAND_LINE = 0x0007
BI_MAC_MODEL = 0x8000
BI_MAC_VADDR = 0x8001
BI_MAC_VDEPTH = 0x8002
BI_MAC_VROW = 0x8003
BI_MAC_VDIM = 0x8004
BI_MAC_SCCBASE = 0x8006
BI_MAC_MEMSIZE = 0x8009
BI_MAC_CPUID = 0x800A

MACH_MAC = 3
CPU_68040 = 1 << 2
FPU_68040 = 1 << 2
MMU_68040 = 1 << 2
MAC_MODEL_Q800 = 35

SCC_BASE = 0x5000C020
# A screen that nobody looks at, in NuBus slot 9 as on a Quadra.
VIDEO_BASE = 0xF9000000
VIDEO_WIDTH, VIDEO_HEIGHT, VIDEO_DEPTH_BITS = 640, 480, 8

COMMAND_LINE_SIZE = 256  # uapi/asm/setup.h, with the final NUL
MIB = 1 << 20
# head.S maps the first 4 MiB whatever the records say; from 0x40000000 on a Quadra has ROM (0x40800000),
# then I/O (0x50000000).
RAM_MIN_BYTES = 4 * MIB
RAM_MAX_BYTES = 0x40000000


def boot_records(ram_bytes: int, command_line: str, ramdisk: tuple[int, int] | None) -> bytes:
    """Return the whole chain for a Quadra 800 with `ram_bytes` of RAM at address 0.

    `ramdisk` is the initrd's physical address and size in bytes.  Raises BadInputError for RAM or a command
    line that the records cannot carry.
    """
    check_ram(ram_bytes)
    row_bytes = VIDEO_WIDTH * VIDEO_DEPTH_BITS // 8
    chain = [
        record(BI_MACHTYPE, MACH_MAC),
        record(BI_CPUTYPE, CPU_68040),
        record(BI_FPUTYPE, FPU_68040),
        record(BI_MMUTYPE, MMU_68040),
        record(BI_MAC_CPUID, CPU_68040),
        record(BI_MAC_MODEL, MAC_MODEL_Q800),
        record(BI_MAC_MEMSIZE, ram_bytes // MIB),
        record(BI_MEMCHUNK, 0, ram_bytes),
        record(BI_MAC_VADDR, VIDEO_BASE),
        record(BI_MAC_VDEPTH, VIDEO_DEPTH_BITS),
        record(BI_MAC_VDIM, VIDEO_HEIGHT << 16 | VIDEO_WIDTH),
        record(BI_MAC_VROW, row_bytes),
        record(BI_MAC_SCCBASE, SCC_BASE),
        _record(BI_COMMAND_LINE, _text(command_line)),
    ]
    if ramdisk is not None:
        chain.append(record(BI_RAMDISK, *ramdisk))
    chain.append(record(BI_LAST))
    return b"".join(chain)


def record(tag: int, *words: int) -> bytes:
    """Return one record whose data are 32-bit words.

    >>> record(BI_MACHTYPE, MACH_MAC).hex(" ", 2)
    '0001 0008 0000 0003'
    """
    return _record(tag, struct.pack(f">{len(words)}I", *words))


def check_ram(ram_bytes: int) -> None:
    """Refuse RAM that the records cannot describe or that would reach into ROM and I/O space."""
    allowed = (
        f"a Quadra here has {RAM_MIN_BYTES // MIB} to {RAM_MAX_BYTES // MIB} MiB (ROM and I/O begin behind)"
    )
    if ram_bytes % MIB:
        raise BadInputError(
            f"RAM of {ram_bytes} bytes is no whole number of MiB, as the boot protocol counts; {allowed}"
        )
    if not RAM_MIN_BYTES <= ram_bytes <= RAM_MAX_BYTES:
        raise BadInputError(f"RAM of {ram_bytes // MIB} MiB is out of range: {allowed}")


def _record(tag: int, data: bytes) -> bytes:
    padded = data + bytes(-len(data) % 4)
    return struct.pack(">HH", tag, 4 + len(padded)) + padded


def _text(command_line: str) -> bytes:
    if not command_line.isascii() or not command_line.isprintable():
        raise BadInputError(f"kernel command line {command_line!r}: only printable ASCII can be passed")
    if len(command_line) >= COMMAND_LINE_SIZE:
        raise BadInputError(
            f"kernel command line of {len(command_line)} bytes: Linux/m68k takes at most "
            f"{COMMAND_LINE_SIZE - 1} (COMMAND_LINE_SIZE {COMMAND_LINE_SIZE} with the final NUL); shorten it"
        )
    return command_line.encode("ascii") + b"\0"
