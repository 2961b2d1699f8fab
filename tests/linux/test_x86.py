"""The x86 Linux guest: where its kernel comes from.  apt is a script here."""

import os
from pathlib import Path

import pytest

from guestclock.errors import BadInputError, UnavailableError
from guestclock.guests.x86_init import build as init_build
from guestclock.linux import x86

NAME = "vmlinuz-6.1.0-57-cloud-amd64"


def put(path: Path, text: str = "kernel") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def tools(folder: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> None:
    """Leave nothing on the PATH but these scripts (and what they need of the system)."""
    for name, text in scripts.items():
        program = put(folder / name.replace("_", "-"), f"#!/bin/sh\n{text}\n")
        os.chmod(program, 0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_the_newest_cloud_kernel_is_taken(tmp_path: Path) -> None:
    boot, cache = tmp_path / "boot", tmp_path / "cache"
    put(boot / "vmlinuz-6.12.0-1-amd64")  # without a console that an initramfs could do without modules for
    put(boot / "vmlinuz-6.1.0-9-cloud-amd64")
    newest = put(boot / "vmlinuz-6.1.0-57-cloud-amd64")
    assert x86.find_kernel(cache, boot) == newest
    fetched = put(cache / "linux-x86/kernel/vmlinuz-6.1.0-30-cloud-amd64")
    assert x86.find_kernel(cache, boot) == fetched


def test_no_kernel_anywhere(tmp_path: Path) -> None:
    assert x86.find_kernel(tmp_path / "cache", tmp_path / "boot") is None


def test_a_guest_that_is_not_built_says_how(tmp_path: Path) -> None:
    boot = tmp_path / "boot"
    with pytest.raises(
        BadInputError, match="no kernel of the x86 Linux guest: run `guestclock build-guest linux-x86`"
    ):
        x86.find_x86_guest(tmp_path, boot)
    put(boot / NAME)
    with pytest.raises(BadInputError, match="no initramfs"):
        x86.find_x86_guest(tmp_path, boot)
    initrd = put(x86.initrd_path(tmp_path))
    assert x86.find_x86_guest(tmp_path, boot).initrd == initrd


def test_the_kernel_is_taken_out_of_debians_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools(
        tmp_path / "bin",
        monkeypatch,
        apt_cache="echo linux-image-cloud-amd64; echo '  Depends: linux-image-6.1.0-57-cloud-amd64'",
        apt_get='[ "$1 $3" = "download linux-image-6.1.0-57-cloud-amd64" ] && echo deb > image.deb',
        dpkg_deb=f'[ "$2" = image.deb ] && /bin/mkdir -p tree/boot && echo kernel > tree/boot/{NAME}',
    )
    told: list[str] = []
    kernel = x86.fetch_kernel(tmp_path / "kernel", lambda _share, what: told.append(what))
    assert kernel == tmp_path / "kernel" / NAME
    assert kernel.read_text() == "kernel\n"
    assert [path.name for path in kernel.parent.iterdir()] == [NAME]
    assert told == [f"{verb} linux-image-6.1.0-57-cloud-amd64" for verb in ("downloading", "unpacking")]


def test_a_system_without_apt_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools(tmp_path / "bin", monkeypatch)
    with pytest.raises(UnavailableError, match="apt-cache is missing: on another system than Debian"):
        x86.fetch_kernel(tmp_path / "kernel")


def test_an_apt_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools(
        tmp_path / "bin",
        monkeypatch,
        apt_cache="echo '  Depends: linux-image-6.1.0-57-cloud-amd64'",
        apt_get="echo 'E: Unable to locate package' >&2; exit 100",
        dpkg_deb="exit 0",
    )
    with pytest.raises(UnavailableError, match="failed: E: Unable to locate package"):
        x86.fetch_kernel(tmp_path / "kernel")
    assert list((tmp_path / "kernel").iterdir()) == []


def test_an_apt_without_lists_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools(tmp_path / "bin", monkeypatch, apt_cache="exit 0", apt_get="exit 0", dpkg_deb="exit 0")
    with pytest.raises(UnavailableError, match="apt knows no linux-image-cloud-amd64: apt-get update"):
        x86.fetch_kernel(tmp_path / "kernel")


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="gcc is missing: apt-get install"):
        init_build.build_init(tmp_path / "init")


def test_the_initramfs_is_named_after_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = x86.initrd_path(tmp_path)
    changed = put(tmp_path / "cost.c", "int other;")
    sources = [changed if path.name == "cost.c" else path for path in init_build.sources()]
    monkeypatch.setattr(init_build, "sources", lambda: sources)
    assert x86.initrd_path(tmp_path) != before
