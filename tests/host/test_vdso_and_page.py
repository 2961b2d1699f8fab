"""The vDSO's symbols and the machine's own pvclock page."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.host import page, vdso
from guestclock.host.tree import Tree

KVM_PAGE = bytes.fromhex("1800000000000000acd5aba900000000f639d75000000000f33ccff3ff010000")
MAPS = "7f00-8f00 r--p 00000000 00:00 0 [stack]\n{:x}-{:x} r--p 00000000 00:00 0     [{}]\n"


def own_image() -> bytes:
    base = vdso.address()
    if base is None:
        pytest.skip("this machine has no vDSO")
    return vdso.image(base)


def test_this_machines_vdso_has_clock_gettime() -> None:
    names = vdso.symbols(own_image())
    assert any(name.endswith("clock_gettime") for name in names)
    assert vdso.clock_gettime(vdso.address()) is not None


@given(cut=st.integers(0, 5000), at=st.integers(0, 5000), byte=st.integers(0, 255))
def test_a_damaged_image_is_survived(cut: int, at: int, byte: int) -> None:
    whole = bytearray(own_image())
    whole[at % len(whole)] = byte
    vdso.symbols(bytes(whole[: len(whole) - cut % len(whole)]))


@given(st.binary(max_size=200))
def test_what_is_no_image_has_no_symbols(data: bytes) -> None:
    assert vdso.symbols(data) == {}


def test_a_process_without_vdso() -> None:
    assert vdso.address(lambda _key: 0) is None
    assert vdso.clock_gettime(None) is None


def with_maps(root: Path, text: str) -> Tree:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/maps").write_text(text)
    return Tree(root)


def test_the_page_is_looked_for_where_the_kernel_puts_it(tmp_path: Path) -> None:
    asked = []

    def probe(mapping: str, skip: int) -> bytes:
        asked.append((mapping, skip))
        return KVM_PAGE

    new = page.find(with_maps(tmp_path / "new", MAPS.format(0x10000, 0x12000, "vvar_vclock")), probe)
    old = page.find(with_maps(tmp_path / "old", MAPS.format(0x10000, 0x14000, "vvar")), probe)
    assert (new.entry, old.entry) == (KVM_PAGE, KVM_PAGE)
    assert asked == [("vvar_vclock", 0), ("vvar", 4096)]


@pytest.mark.parametrize(
    "seen",
    [
        b"",  # SIGBUS
        bytes(32),  # never written
        KVM_PAGE[:31],
        b"\x19" + KVM_PAGE[1:],  # being written
        KVM_PAGE[:28] + b"\x40" + KVM_PAGE[29:],  # no such shift
    ],
)
def test_what_is_no_page_is_told(tmp_path: Path, seen: bytes) -> None:
    tree = with_maps(tmp_path, MAPS.format(0x10000, 0x12000, "vvar_vclock"))
    found = page.find(tree, lambda _mapping, _skip: seen)
    assert found.entry is None
    assert "no pvclock page behind" in found.where


def test_no_mapping_is_told(tmp_path: Path) -> None:
    def probe(_mapping: str, _skip: int) -> bytes:
        raise AssertionError("nothing to probe")

    assert "maps no page" in page.find(with_maps(tmp_path / "a", MAPS.format(1, 2, "heap")), probe).where
    assert "maps no page" in page.find(with_maps(tmp_path / "b", MAPS.format(0, 4096, "vvar")), probe).where
    assert "no such file" in page.find(Tree(tmp_path / "c"), probe).where


def test_without_a_child_the_reason_is_told(tmp_path: Path) -> None:
    def probe(_mapping: str, _skip: int) -> bytes:
        raise PermissionError(13, "Permission denied")

    tree = with_maps(tmp_path, MAPS.format(0x10000, 0x12000, "vvar_vclock"))
    assert page.find(tree, probe).where.endswith("Permission denied")


def test_a_child_that_finds_nothing_gives_nothing() -> None:
    assert page.try_in_child("no such mapping", 0) == b""


def test_a_child_that_dies_of_the_load_gives_nothing() -> None:
    """Far behind the stack's end there is no page: the load kills the child and nobody else."""
    assert page.try_in_child("stack", 1 << 40) == b""
