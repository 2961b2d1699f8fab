"""Where Linux guests lie, and what is said when one is not there."""

from pathlib import Path

import pytest

from guestclock.errors import BadInputError, UnavailableError
from guestclock.guests import compiler
from guestclock.guests.orders import Phase
from guestclock.linux import build, cache, kernel
from guestclock.linux.command_line import command_line


def put(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"built")


@pytest.mark.parametrize(
    ("xdg", "expected"), [("/var/cache/me", "/var/cache/me"), ("", "~/.cache"), ("cache", "~/.cache")]
)
def test_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, xdg: str, expected: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    assert cache.default_cache_dir() == Path(expected).expanduser() / "guestclock"


@pytest.mark.parametrize(
    ("variant", "command"),
    [(cache.PLAIN, "build-guest`"), (cache.DEBUG_TIMEKEEPING, "build-guest --debug-timekeeping`")],
)
def test_a_missing_guest_says_how_to_build_it(tmp_path: Path, variant: str, command: str) -> None:
    with pytest.raises(BadInputError, match=command):
        cache.find_guest(tmp_path, variant)
    image = cache.image_paths(tmp_path, variant)
    put(image.kernel)
    with pytest.raises(BadInputError, match=str(image.initrd)):
        cache.find_guest(tmp_path, variant)
    put(image.initrd)
    assert cache.find_guest(tmp_path, variant) == image


def test_a_built_guest_is_not_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = cache.image_paths(tmp_path)
    put(image.kernel)
    put(image.initrd)
    monkeypatch.setattr(kernel, "PACKAGES", {"nothing-brings-this": "no-such-command"})
    told = []
    assert build.build_guest(tmp_path, progress=lambda fraction, what: told.append((fraction, what))) == image
    assert told == [(1.0, "already built")]


def test_kernel_variants_share_the_init(tmp_path: Path) -> None:
    images = [cache.image_paths(tmp_path, variant) for variant in cache.VARIANTS]
    assert len({image.kernel for image in images}) == len(cache.VARIANTS)
    assert len({image.initrd for image in images}) == 1


def test_a_changed_source_is_another_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.image_paths(tmp_path)
    common = tmp_path / "common"
    common.mkdir()
    for path in compiler.COMMON.iterdir():
        (common / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(compiler, "COMMON", common)
    assert cache.image_paths(tmp_path) == before
    (common / "line.c").write_text("changed")
    after = cache.image_paths(tmp_path)
    assert after.initrd != before.initrd
    assert after.kernel == before.kernel


def test_missing_packages_are_all_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = {"first": "no-such-command", "second": tmp_path, "third": tmp_path / "missing"}
    monkeypatch.setattr(kernel, "PACKAGES", packages)
    with pytest.raises(
        UnavailableError, match=r"apt-get install --no-install-recommends first third$"
    ) as raised:
        build.build_guest(tmp_path / "cache")
    assert raised.value.exit_status == 4
    assert not (tmp_path / "cache").exists()


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "CROSS_GCC", "no-such-gcc")
    with pytest.raises(UnavailableError, match=r"apt-get install .*gcc-m68k-linux-gnu"):
        compiler.compile_program(compiler.GUESTS / "clockprobe", tmp_path / "elf", flags=())


def test_a_broken_archive_is_reported_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "broken.tar.xz"
    archive.write_bytes(b"not xz" * 10**6)
    monkeypatch.setattr(kernel, "ARCHIVE", archive)
    with pytest.raises(UnavailableError, match=r"broken\.tar\.xz could not be unpacked"):
        kernel.unpack(tmp_path / "source", kernel.silent)
    assert not (tmp_path / "source").exists()


def test_a_command_line_that_the_kernel_would_cut() -> None:
    with pytest.raises(BadInputError, match="the kernel takes 255"):
        command_line([Phase("hunt", 2)], ["x" * 240])
