"""Boot records, read back the way the kernel reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import number, parse, text, words

from guestclock.errors import BadInputError
from guestclock.quadra.bootinfo import MIB, boot_records

printable = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=255)


def test_a_quadra_is_described() -> None:
    found = parse(boot_records(64 * MIB, "console=ttyS0", (0x3F00000, 0x1234)))
    assert {tag: number(found, tag) for tag in found if tag not in (5, 6, 7, 0)} == {
        1: 3,
        2: 4,
        3: 4,
        4: 4,
        0x8000: 35,
        0x8001: 0xF9000000,
        0x8002: 8,
        0x8003: 640,
        0x8004: 480 << 16 | 640,
        0x8006: 0x5000C020,
        0x8009: 64,
        0x800A: 4,
    }
    assert words(found, 5) == [0, 64 * MIB]
    assert words(found, 6) == [0x3F00000, 0x1234]
    assert text(found) == "console=ttyS0"


@given(
    printable,
    st.integers(4, 1024),
    st.none() | st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)),
)
def test_round_trip(command_line: str, ram_mib: int, ramdisk: tuple[int, int] | None) -> None:
    content = boot_records(ram_mib * MIB, command_line, ramdisk)
    found = parse(content)
    assert text(found) == command_line
    assert number(found, 0x8009) == ram_mib
    assert words(found, 5) == [0, ram_mib * MIB]
    assert (6 in found) == (ramdisk is not None)
    assert ramdisk is None or words(found, 6) == list(ramdisk)
    assert len(content) % 4 == 0


def test_command_line_ends_at_the_kernels_limit() -> None:
    assert text(parse(boot_records(8 * MIB, "x" * 255, None))) == "x" * 255
    with pytest.raises(BadInputError, match=r"of 256 bytes: .* at most 255 \(COMMAND_LINE_SIZE 256"):
        boot_records(8 * MIB, "x" * 256, None)


@pytest.mark.parametrize("command_line", ["naïve", "two\nlines", "nul\0"])
def test_command_line_of_odd_characters(command_line: str) -> None:
    with pytest.raises(BadInputError, match="only printable ASCII"):
        boot_records(8 * MIB, command_line, None)


@pytest.mark.parametrize("ram_bytes", [0, -MIB, 3 * MIB, 1025 * MIB, 0x50000000, 1 << 32])
def test_ram_out_of_range(ram_bytes: int) -> None:
    with pytest.raises(
        BadInputError, match=f"RAM of {ram_bytes // MIB} MiB is out of range: .*4 to 1024 MiB"
    ):
        boot_records(ram_bytes, "", None)


@pytest.mark.parametrize("ram_bytes", [8 * MIB + 1, 8 * MIB - 4096, 1])
def test_ram_of_broken_mib(ram_bytes: int) -> None:
    with pytest.raises(BadInputError, match=f"RAM of {ram_bytes} bytes is no whole number of MiB"):
        boot_records(ram_bytes, "", None)
