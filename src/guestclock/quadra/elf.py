"""Reads 32-bit big-endian m68k executables (ELF), and refuses everything else by name and offset.

Layout:  System V gABI, "ELF Header" and "Program Header".  A segment goes to its physical address, because
a kernel is entered with the MMU off.
"""

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from guestclock.errors import BadInputError

MAGIC = b"\x7fELF"
ELFCLASS32, ELFCLASS64 = 1, 2
ELFDATA2LSB, ELFDATA2MSB = 1, 2
EM_68K = 4
ET_EXEC = 2
PT_LOAD = 1

EHDR = struct.Struct(">16sHHIIIIIHHHHHH")
PHDR = struct.Struct(">8I")

ADDRESS_LIMIT = 1 << 32
CLASS_OFFSET = 4
DATA_OFFSET = 5
TYPE_OFFSET = 16
MACHINE_OFFSET = 18
ENTRY_OFFSET = 24
PHENTSIZE_OFFSET = 42
PHNUM_OFFSET = 44

MACHINES = {
    2: "a SPARC",
    3: "an x86",
    8: "a MIPS",
    20: "a PowerPC",
    21: "a 64-bit PowerPC",
    22: "an S/390",
    40: "an ARM",
    42: "a SuperH",
    62: "an x86-64",
    183: "an AArch64",
    243: "a RISC-V",
}
TYPES = {0: "has no type", 1: "is an object file", 3: "is a shared object", 4: "is a core dump"}


@dataclass(frozen=True, slots=True)
class Segment:
    """What goes to physical address `paddr`: `data`, then zeros up to `memsize` bytes."""

    paddr: int
    data: bytes
    memsize: int

    @property
    def end(self) -> int:
        """First address behind the segment."""
        return self.paddr + self.memsize


@dataclass(frozen=True, slots=True)
class ElfImage:
    """An executable: where it starts, and its segments by rising address."""

    name: str
    entry: int
    segments: tuple[Segment, ...]

    @property
    def end(self) -> int:
        """First address behind the last segment."""
        return self.segments[-1].end


def load_elf(source: Path | str | bytes, name: str = "ELF image") -> ElfImage:
    """Read an executable from a file, or from bytes that errors call `name`.

    Raises BadInputError: the file cannot be read, is no m68k executable, is cut off, loads nothing, or
    loads two things to one address.
    """
    if isinstance(source, bytes):
        return _Reader(name, source).image()
    try:
        content = Path(source).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInputError(f"{source}: cannot be read: {reason}") from None
    return _Reader(str(source), content).image()


class _Reader:
    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.content = content

    def image(self) -> ElfImage:
        self.check_kind()
        header = EHDR.unpack_from(self.content)
        entry, table_at, entry_size, count = header[4], header[5], header[9], header[10]
        headers = self.program_headers(table_at, entry_size, count)
        segments = sorted(
            (self.segment(at, *fields) for at, fields in headers if fields[0] == PT_LOAD and fields[5] > 0),
            key=lambda segment: segment.paddr,
        )
        if not segments:
            raise self.error(PHNUM_OFFSET, f"none of its {count} program headers loads anything (PT_LOAD)")
        self.check_overlap(segments)
        if entry % 2 or not any(part.paddr <= entry < part.paddr + len(part.data) for part in segments):
            raise self.error(ENTRY_OFFSET, f"its entry {entry:#x} is no even address inside a loaded segment")
        return ElfImage(self.name, entry, tuple(segments))

    def check_kind(self) -> None:
        content = self.content
        if content[:4] != MAGIC:
            raise self.error(0, "is not an ELF file; a kernel is given as the uncompressed `vmlinux`")
        if len(content) < EHDR.size:
            raise self.error(len(content), f"the file ends inside its {EHDR.size}-byte ELF header")
        if content[DATA_OFFSET] not in (ELFDATA2LSB, ELFDATA2MSB):
            raise self.error(DATA_OFFSET, f"unknown ELF byte order {content[DATA_OFFSET]}")
        big = content[DATA_OFFSET] == ELFDATA2MSB
        machine = int.from_bytes(content[MACHINE_OFFSET : MACHINE_OFFSET + 2], "big" if big else "little")
        if machine != EM_68K:
            kind = MACHINES.get(machine, f"a machine {machine}")
            raise self.error(MACHINE_OFFSET, f"is {kind} program; a Quadra runs m68k (ELF machine {EM_68K})")
        if content[CLASS_OFFSET] != ELFCLASS32:
            raise self.error(
                CLASS_OFFSET, f"its ELF class is {content[CLASS_OFFSET]}; m68k has 32 bits (class 1)"
            )
        if not big:
            raise self.error(DATA_OFFSET, "is little-endian; m68k is big-endian (ELF data 2)")
        elf_type = int.from_bytes(content[TYPE_OFFSET : TYPE_OFFSET + 2], "big")
        if elf_type != ET_EXEC:
            said = TYPES.get(elf_type, f"is of ELF type {elf_type}")
            raise self.error(TYPE_OFFSET, f"{said}; the machine starts executables (ELF type {ET_EXEC})")

    def program_headers(
        self, table_at: int, entry_size: int, count: int
    ) -> list[tuple[int, tuple[int, ...]]]:
        if count and entry_size != PHDR.size:
            raise self.error(
                PHENTSIZE_OFFSET, f"its program headers have {entry_size} bytes, not {PHDR.size}"
            )
        end = table_at + count * PHDR.size
        if count and end > len(self.content):
            raise self.error(
                table_at,
                f"its {count} program headers reach to byte {end}; the file ends at {len(self.content)}",
            )
        places = range(table_at, end, PHDR.size)
        return [(at, PHDR.unpack_from(self.content, at)) for at in places]

    def segment(
        self, at: int, _type: int, offset: int, _vaddr: int, paddr: int, filesz: int, memsz: int, *_rest: int
    ) -> Segment:
        if filesz > memsz:
            raise self.error(at, f"a segment has {filesz} bytes in the file but {memsz} in memory")
        end = offset + filesz
        if end > len(self.content):
            raise self.error(
                at, f"a segment reaches to byte {end}; the file ends at {len(self.content)}: it was cut off"
            )
        if paddr + memsz > ADDRESS_LIMIT:
            raise self.error(at, f"a segment reaches from {paddr:#x} beyond the 32-bit address space")
        return Segment(paddr, self.content[offset:end], memsz)

    def check_overlap(self, segments: list[Segment]) -> None:
        for low, high in pairwise(segments):
            if low.end > high.paddr:
                raise BadInputError(
                    f"{self.name}: segments {low.paddr:#x}-{low.end - 1:#x} and "
                    f"{high.paddr:#x}-{high.end - 1:#x} overlap"
                )

    def error(self, offset: int, what: str) -> BadInputError:
        return BadInputError(f"{self.name}: byte {offset}: {what}")
