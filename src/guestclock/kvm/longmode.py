"""Guest memory and CPU state: 64-bit, flat, everything at CPL 3.

Some KVMs (software-nested ones) interpret code at CPL 0 and run only CPL 3 natively, so the guest
has no kernel at all: it starts in user mode and leaves by an OUT that the TSS permits.
"""

import mmap
import struct
from dataclasses import dataclass, field

from guestclock.kvm.api import Vcpu

# The guest's physical memory; virtual addresses are the same.
PML4 = 0x1000
PDPT = 0x2000
PAGE_DIRECTORY = 0x3000
GDT = 0x4000
GDT_STRIDE = 0x100
TSS = 0x8000
STACKS = 0x10000
STACK_BYTES = 0x4000
PVCLOCK = 0x20000
PVCLOCK_STRIDE = 64
WALL_CLOCK = 0x21000
UNSTABLE_COPY = 0x23000
TSC_PAGE = 0x24000
SHARED = 0x25000
CODE = 0x30000
COPIES = 0x100000
"""Copies of one page for every CPU number that getcpu can name (12 bits)."""
COPIES_COUNT = 4096
OUTPUTS = 0x200000
OUTPUT_BYTES = 0x200000
HUGE_PAGE = 0x200000

_IO_BITMAP_OFFSET = 0x68
_IO_BITMAP_BYTES = 8192
_TSS_LIMIT = _IO_BITMAP_OFFSET + _IO_BITMAP_BYTES
_CPU_NUMBER_ENTRY = 15

_CR0 = 0x80050033  # PG AM WP NE ET MP PE
_CR4 = 0x620  # PAE OSFXSR OSXMMEXCPT
_EFER = 0xD00  # LME LMA NXE


@dataclass(frozen=True)
class _Segment:
    """``kvm_segment``, with the descriptor's fields."""

    selector: int
    type: int
    base: int = 0
    limit: int = 0xFFFFFFFF
    attributes: tuple[int, ...] = field(default=(1, 3, 1, 1, 0, 1, 0))
    """present, dpl, db, s, l, g, avl"""
    unusable: int = 0

    def pack(self) -> bytes:
        present, dpl, db, s, long, g, avl = self.attributes
        head = struct.pack("<QIHB", self.base, self.limit, self.selector, self.type)
        return head + struct.pack("<8Bx", present, dpl, db, s, long, g, avl, self.unusable)


_USER_SEGMENTS = (_Segment(0x23, 0xB, attributes=(1, 3, 0, 1, 1, 1, 0)), _Segment(0x1B, 0x3))
_KERNEL_SEGMENTS = (
    _Segment(0x08, 0xB, attributes=(1, 0, 0, 1, 1, 1, 0)),
    _Segment(0x10, 0x3, attributes=(1, 0, 1, 1, 0, 1, 0)),
)
_TASK = _Segment(0x28, 0xB, base=TSS, limit=_TSS_LIMIT, attributes=(1, 0, 0, 0, 0, 0, 0))
_NO_LDT = _Segment(0, 2, limit=0, attributes=(0, 0, 0, 0, 0, 0, 0), unusable=1)


def write_tables(memory: mmap.mmap, memory_bytes: int, vcpus: int) -> None:
    """Write page tables, descriptor tables and the TSS into guest memory."""
    user = 0x67  # dirty, accessed, user, writable, present
    struct.pack_into("<Q", memory, PML4, PDPT | user)
    struct.pack_into("<Q", memory, PDPT, PAGE_DIRECTORY | user)
    for index in range(memory_bytes // HUGE_PAGE):
        entry = index * HUGE_PAGE | 0x80 | user
        struct.pack_into("<Q", memory, PAGE_DIRECTORY + 8 * index, entry)
    # IOPL is not enough at CPL 3 everywhere: a bitmap of zeros permits every port.
    struct.pack_into("<H", memory, TSS + 0x66, _IO_BITMAP_OFFSET)
    struct.pack_into("<B", memory, TSS + _TSS_LIMIT, 0xFF)
    for vcpu in range(vcpus):
        struct.pack_into("<16Q", memory, GDT + vcpu * GDT_STRIDE, *_descriptors(vcpu))


def _descriptors(vcpu: int) -> list[int]:
    """Return the GDT of one vCPU; entry 15 carries the vCPU's number in its limit, as Linux has it."""
    gdt = [0] * 16
    gdt[1] = 0x00AF9B000000FFFF  # 64-bit code, DPL 0
    gdt[2] = 0x00CF93000000FFFF  # data, DPL 0
    gdt[3] = 0x00CFF3000000FFFF  # data, DPL 3
    gdt[4] = 0x00AFFB000000FFFF  # 64-bit code, DPL 3
    gdt[5] = _TSS_LIMIT & 0xFFFF | TSS << 16 | 0x8B << 40
    gdt[_CPU_NUMBER_ENTRY] = 0x0040F50000000000 | vcpu  # DPL 3, read-only, accessed, limit = number
    return gdt


def enter_user_mode(vcpu: Vcpu, number: int) -> None:
    """Put a vCPU into 64-bit user mode with the tables of :func:`write_tables`."""
    _enter(vcpu, number, _USER_SEGMENTS)


def enter_kernel_mode(vcpu: Vcpu, number: int) -> None:
    """Put a vCPU into 64-bit kernel mode: for telling whether kernel code runs natively."""
    _enter(vcpu, number, _KERNEL_SEGMENTS)


def _enter(vcpu: Vcpu, number: int, code_and_data: tuple[_Segment, _Segment]) -> None:
    code, data = code_and_data
    block = vcpu.special_registers()
    segments = [code, *[data] * 5, _TASK, _NO_LDT]
    block[0:192] = b"".join(segment.pack() for segment in segments)
    struct.pack_into("<QH6x", block, 192, GDT + number * GDT_STRIDE, 16 * 8 - 1)
    struct.pack_into("<QH6x", block, 208, 0, 0)
    (apic_base,) = struct.unpack_from("<Q", block, 272)
    struct.pack_into("<7Q", block, 224, _CR0, 0, PML4, _CR4, 0, _EFER, apic_base)
    vcpu.set_special_registers(block)


def stack_top(vcpu: int) -> int:
    """Return where the vCPU's stack starts: 16-byte aligned, as the calling convention has it."""
    return STACKS + STACK_BYTES * (vcpu + 1)


def output(vcpu: int) -> int:
    """Return the vCPU's own output area."""
    return OUTPUTS + OUTPUT_BYTES * vcpu
