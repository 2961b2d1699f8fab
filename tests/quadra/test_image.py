"""What is written where before the first instruction."""

import pytest
from elves import Elf, Program
from hypothesis import given
from hypothesis import strategies as st
from records import parse, text, words

from guestclock.errors import BadInputError
from guestclock.quadra.bootinfo import MIB
from guestclock.quadra.elf import ElfImage, load_elf
from guestclock.quadra.image import INITIAL_A7, INITIAL_SR, BootImage, assemble


def kernel(size: int = 0x2001, bss: int = 0) -> ElfImage:
    code = b"\x4e\x71" * (size // 2) + bytes(size % 2)
    return load_elf(Elf([Program(0x1000, code, size + bss)]).build(), "vmlinux")


def memory(image: BootImage, ram_bytes: int) -> bytearray:
    """Do the writes, as a machine would; each must lie in RAM, where nothing was written before."""
    ram = bytearray(ram_bytes)
    written = 0
    for address, content in image.writes:
        assert written <= address, "writes overlap, or are out of order"
        written = address + len(content)
        assert written <= ram_bytes
        ram[address:written] = content
    return ram


def test_layout_of_a_kernel_with_an_initrd() -> None:
    initrd = b"070701" + bytes(5000)
    image = assemble(kernel(bss=5), initrd=initrd, command_line="quiet", ram_bytes=8 * MIB)
    ram = memory(image, 8 * MIB)
    assert image.entry == 0x1000
    assert image.records_at == 0x3006
    records = parse(bytes(ram[0x3006:]).partition(b"\0\0\0\x04" + bytes(64))[0] + b"\0\0\0\x04")
    assert text(records) == "quiet"
    address, size = words(records, 6)
    assert (address, size) == image.ramdisk == (8 * MIB - 8192, len(initrd))
    assert ram[address : address + size] == initrd
    assert (INITIAL_A7, INITIAL_SR) == (0x1000, 0x2700)


@pytest.mark.parametrize("size", [0x2000, 0x2001, 0x2002])
def test_records_follow_the_kernel_at_an_even_address(size: int) -> None:
    image = assemble(kernel(size), initrd=None, command_line="", ram_bytes=4 * MIB)
    assert image.records_at == 0x1000 + size + size % 2
    assert image.writes[-1][0] == image.records_at
    assert image.ramdisk is None


def test_a_segment_without_file_content_is_not_written() -> None:
    guest = load_elf(Elf([Program(0x1000, b"\x4e\x71"), Program(0x2000, b"", 0x1000)]).build())
    image = assemble(guest, initrd=None, command_line="", ram_bytes=4 * MIB)
    assert [address for address, _ in image.writes] == [0x1000, 0x3000]


@given(st.integers(4, 16), st.integers(2, 300_000), st.integers(0, 9_000_000), st.integers(1, 17 * MIB))
def test_fits_or_is_refused(ram_mib: int, size: int, bss: int, initrd_size: int) -> None:
    ram_bytes = ram_mib * MIB
    guest, initrd = kernel(size, bss), bytes(initrd_size)
    if guest.end + initrd_size + (128 << 10) <= ram_bytes:
        assemble(guest, initrd=initrd, command_line="x", ram_bytes=ram_bytes)
    try:
        image = assemble(guest, initrd=initrd, command_line="x", ram_bytes=ram_bytes)
    except BadInputError:
        return
    address = 0
    for start, content in image.writes:
        assert address <= start
        address = start + len(content)
    assert address <= ram_bytes
    assert image.ramdisk is not None
    assert image.ramdisk[0] % 4096 == 0
    assert image.ramdisk[0] >= guest.end


EARLY_TABLES = 0x10000  # behind the records, for head.S


@pytest.mark.parametrize("spare_pages", [0, 1])
def test_initrd_keeps_off_the_first_page_tables(spare_pages: int) -> None:
    """The records of this kernel end where a page ends, so that the boundary can be met exactly."""
    records = sum(
        len(part) for _, part in assemble(kernel(), initrd=b"x", command_line="", ram_bytes=8 * MIB).writes
    )
    records -= len(kernel().segments[0].data) + 1
    guest = kernel(0x2000, bss=0x1000 - records)
    free = 8 * MIB - 0x4000 - EARLY_TABLES
    image = assemble(guest, initrd=bytes(free - 4096 * spare_pages), command_line="", ram_bytes=8 * MIB)
    assert image.ramdisk is not None
    assert image.ramdisk[0] == 0x4000 + EARLY_TABLES + 4096 * spare_pages
    said = refusal(guest, bytes(free + 1), 8)
    assert said.startswith(f"root.cpio: {free + 1} bytes at the top of 8 MiB of RAM begin at 0x13000, inside")
    assert said.endswith("give the machine at least 9 MiB")


@pytest.mark.parametrize(
    ("size", "said"), [(8 * MIB, "begin at 0x0, inside"), (8 * MIB + 1, "do not fit into 8 MiB")]
)
def test_initrd_as_large_as_ram(size: int, said: str) -> None:
    assert said in refusal(kernel(), bytes(size), 8)


def test_records_end_with_ram_at_most() -> None:
    records = len(assemble(kernel(), initrd=None, command_line="", ram_bytes=4 * MIB).writes[-1][1])
    assemble(kernel(0x2000, bss=4 * MIB - 0x3000 - records), initrd=None, command_line="", ram_bytes=4 * MIB)
    said = refusal(kernel(0x2000, bss=4 * MIB - 0x3000 - records + 2), None, 4)
    assert said.endswith(f"reach to {4 * MIB + 2:#x}, beyond 4 MiB of RAM; give the machine at least 5 MiB")


def test_impossible_ram_is_named_before_anything_that_does_not_fit() -> None:
    with pytest.raises(BadInputError, match="RAM of 4096 bytes is no whole number of MiB"):
        assemble(kernel(), initrd=bytes(9000), command_line="", ram_bytes=4096)


def refusal(guest: ElfImage, initrd: bytes | None, ram_mib: int) -> str:
    with pytest.raises(BadInputError) as caught:
        assemble(guest, initrd=initrd, command_line="", ram_bytes=ram_mib * MIB, initrd_name="root.cpio")
    return str(caught.value)


def test_refusals_say_what_would_do() -> None:
    assert "root.cpio: 9437184 bytes do not fit into 8 MiB" in refusal(kernel(), bytes(9 * MIB), 8)
    assert "root.cpio: is empty" in refusal(kernel(), b"", 8)
    assert "vmlinux: the kernel and its boot records reach to" in refusal(kernel(bss=8 * MIB), None, 8)


@given(st.integers(4, 12), st.integers(0, 12 * MIB), st.integers(1, 12 * MIB))
def test_the_ram_a_refusal_asks_for_is_enough(ram_mib: int, bss: int, initrd_size: int) -> None:
    guest, initrd = kernel(bss=bss), bytes(initrd_size)
    for _ in range(4):  # each refusal may uncover the next
        try:
            assemble(guest, initrd=initrd, command_line="", ram_bytes=ram_mib * MIB)
            return
        except BadInputError as error:
            asked = int(str(error).rpartition(" MiB")[0].rpartition(" ")[2])
            assert asked > ram_mib
            ram_mib = asked
    pytest.fail("the advice leads nowhere")


def test_a_refusal_may_ask_for_all_that_a_quadra_has() -> None:
    records = len(assemble(kernel(), initrd=None, command_line="", ram_bytes=4 * MIB).writes[-1][1])
    assert refusal(kernel(0x2000, bss=1024 * MIB - 0x3000 - records), None, 8).endswith("at least 1024 MiB")


def test_no_refusal_asks_for_more_than_a_quadra_has() -> None:
    far = load_elf(Elf([Program(0xC0000000, b"\x4e\x71")], entry=0xC0000000).build(), "vmlinux")
    assert refusal(far, None, 8).endswith(
        "no Quadra here has more than 1024 MiB, so make it smaller or link it lower"
    )
