"""Executables made to measure, field by field."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Program:
    """A PT_LOAD segment, unless `kind` says otherwise."""

    paddr: int
    data: bytes
    memsize: int | None = None
    vaddr: int | None = None
    kind: int = 1


@dataclass
class Elf:
    """An ELF32 executable; the defaults are what a Quadra runs."""

    programs: Sequence[Program] = field(default_factory=lambda: [Program(0x1000, b"\x4e\x71" * 8, 64)])
    entry: int = 0x1000
    elf_class: int = 1
    byte_order: int = 2
    machine: int = 4
    elf_type: int = 2
    entry_size: int = 32

    def build(self) -> bytes:
        order = ">" if self.byte_order == 2 else "<"
        offset = 52 + 32 * len(self.programs)
        headers, contents = b"", b""
        for part in self.programs:
            size = len(part.data) if part.memsize is None else part.memsize
            vaddr = part.paddr if part.vaddr is None else part.vaddr
            headers += struct.pack(
                order + "8I",
                part.kind,
                offset + len(contents),
                vaddr,
                part.paddr,
                len(part.data),
                size,
                5,
                0x1000,
            )
            contents += part.data
        ident = b"\x7fELF" + bytes([self.elf_class, self.byte_order, 1]) + bytes(9)
        header = struct.pack(
            order + "HHIIIIIHHHHHH",
            self.elf_type,
            self.machine,
            1,
            self.entry,
            52,
            0,
            0,
            52,
            self.entry_size,
            len(self.programs),
            40,
            0,
            0,
        )
        return ident + header + headers + contents
