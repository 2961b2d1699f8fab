"""The loader takes m68k executables and refuses the rest in one line."""

import re
import sys
from pathlib import Path

import pytest
from elves import Elf, Program
from hypothesis import example, given
from hypothesis import strategies as st

from guestclock.errors import BadInputError
from guestclock.quadra.elf import ElfImage, load_elf


def refusal(content: bytes) -> str:
    with pytest.raises(BadInputError) as caught:
        load_elf(content, "kernel")
    message = str(caught.value)
    assert message.startswith("kernel: ")
    assert "\n" not in message
    return message


def test_segments_go_to_physical_addresses_in_order() -> None:
    programs = [
        Program(0x8000, b"data", 0x100, vaddr=0xC0008000),
        Program(0, b"note", kind=4),
        Program(0x1000, b"code"),
        Program(0x9000, b"", 0),
    ]
    image = load_elf(Elf(programs, entry=0x1002).build())
    assert [(part.paddr, part.data, part.memsize) for part in image.segments] == [
        (0x1000, b"code", 4),
        (0x8000, b"data", 0x100),
    ]
    assert (image.entry, image.end) == (0x1002, 0x8100)


def test_segments_may_touch() -> None:
    image = load_elf(Elf([Program(0x1000, bytes(8)), Program(0x1008, bytes(8))]).build())
    assert [part.end for part in image.segments] == [0x1008, 0x1010]


def test_file_is_named_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "vmlinux"
    path.write_bytes(Elf().build())
    assert load_elf(path).name == str(path)
    path.write_bytes(b"MZ")
    with pytest.raises(BadInputError, match=f"^{re.escape(str(path))}: byte 0: is not an ELF file"):
        load_elf(str(path))


@pytest.mark.parametrize("name", ["missing", "", "a\0b"])
def test_unreadable_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        load_elf(tmp_path / name)


def test_the_running_python_is_refused_by_its_kind() -> None:
    with pytest.raises(BadInputError, match=r"program; a Quadra runs m68k \(ELF machine 4\)"):
        load_elf(Path(sys.executable).resolve())


@pytest.mark.parametrize(
    ("elf", "said"),
    [
        (Elf(elf_class=2, byte_order=1, machine=62), r"byte 18: is an x86-64 program; a Quadra runs m68k"),
        (Elf(machine=2), r"byte 18: is a SPARC program"),
        (Elf(machine=3), r"byte 18: is an x86 program"),
        (Elf(machine=8), r"byte 18: is a MIPS program"),
        (Elf(machine=20), r"byte 18: is a PowerPC program"),
        (Elf(machine=21), r"byte 18: is a 64-bit PowerPC program"),
        (Elf(machine=22), r"byte 18: is an S/390 program"),
        (Elf(machine=40), r"byte 18: is an ARM program"),
        (Elf(machine=42), r"byte 18: is a SuperH program"),
        (Elf(machine=183), r"byte 18: is an AArch64 program"),
        (Elf(machine=243), r"byte 18: is a RISC-V program"),
        (Elf(machine=999), r"byte 18: is a machine 999 program"),
        (Elf(elf_class=2), r"byte 4: .*class is 2"),
        (Elf(byte_order=1), r"byte 5: is little-endian"),
        (Elf(byte_order=7), r"byte 5: unknown ELF byte order 7"),
        (Elf(elf_type=1), r"byte 16: is an object file"),
        (Elf(elf_type=3), r"byte 16: is a shared object"),
        (Elf(elf_type=9), r"byte 16: is of ELF type 9"),
        (Elf(entry_size=56), r"byte 42: .*56 bytes, not 32"),
        (Elf([]), r"byte 44: none of its 0 program headers loads"),
        (Elf([Program(0x1000, b"x", kind=6)]), r"byte 44: none of its 1 program headers loads"),
        (Elf([Program(0x1000, b"abcd", 3)]), r"byte 52: a segment has 4 bytes in the file but 3 in memory"),
        (Elf([Program(0xFFFFF000, b"abcd", 0x2000)]), r"byte 52: .*beyond the 32-bit address space"),
        (Elf([Program(0x1000, bytes(8)), Program(0x1007, b"x")]), r"0x1000-0x1007 and 0x1007-0x1007 overlap"),
        (Elf(entry=0x2000), r"byte 24: its entry 0x2000"),
        (Elf(entry=0x1001), r"byte 24: its entry 0x1001"),
        (Elf(entry=0x1010), r"byte 24: its entry 0x1010"),  # in the segment's zeros
    ],
)
def test_refusals_name_what_and_where(elf: Elf, said: str) -> None:
    assert re.search(said, refusal(elf.build()))


def test_every_truncation_is_refused() -> None:
    whole = Elf([Program(0x1000, b"code" * 4), Program(0x8000, b"data" * 4)]).build()
    for length in range(len(whole)):
        refusal(whole[:length])
    assert "not an ELF" in refusal(b"")
    assert "ends inside its 52-byte ELF header" in refusal(whole[:51])
    assert "program headers reach to byte 116; the file ends at 115" in refusal(whole[:115])
    assert "cut off" in refusal(whole[:-1])


def check(image: ElfImage, content: bytes) -> None:
    assert image.segments
    assert all(part.data in content and len(part.data) <= part.memsize for part in image.segments)
    assert all(0 <= part.paddr < part.end <= 1 << 32 for part in image.segments)
    ends = [part.end for part in image.segments]
    assert all(low <= part.paddr for low, part in zip(ends, image.segments[1:], strict=False))


def attempt(content: bytes) -> None:
    try:
        image = load_elf(content)
    except BadInputError:
        return
    check(image, content)


@given(st.binary(max_size=200))
@example(b"\x7fELF")
def test_random_bytes_raise_nothing_else(content: bytes) -> None:
    attempt(content)
    attempt(b"\x7fELF\x01\x02" + content)


@given(st.lists(st.tuples(st.integers(0, 147), st.integers(0, 255)), min_size=1, max_size=6))
def test_damaged_executables_raise_nothing_else(damage: list[tuple[int, int]]) -> None:
    content = bytearray(Elf([Program(0x1000, bytes(16)), Program(0x2000, bytes(16), 64)]).build())
    for place, value in damage:
        content[place] = value
    attempt(bytes(content))


segments = st.lists(
    st.tuples(st.integers(0, 30), st.binary(max_size=4), st.integers(0, 4)), min_size=1, max_size=5
)


@given(segments)
def test_accepts_exactly_what_does_not_overlap(parts: list[tuple[int, bytes, int]]) -> None:
    taken: list[int] = []
    for paddr, data, more in parts:
        taken += range(paddr, paddr + len(data) + more)
    programs = [Program(paddr, data, len(data) + more) for paddr, data, more in parts]
    programs.append(Program(0x1000, b"\x4e\x71"))
    content = Elf(programs).build()
    if len(taken) == len(set(taken)):
        assert load_elf(content).end == 0x1002
    else:
        assert "overlap" in refusal(content)
