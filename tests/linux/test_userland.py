"""The userland's archive, its configuration, and where its source comes from."""

import stat
from pathlib import Path

import pytest
from test_initramfs import unpack

from guestclock.errors import BadInputError, UnavailableError
from guestclock.linux import userland


def test_the_archive_boots_to_a_shell() -> None:
    entries = unpack(userland.userland_initramfs(b"program"))
    assert entries["bin/busybox"] == (stat.S_IFREG | 0o755, (0, 0), b"program")
    assert entries["init"][0] == stat.S_IFLNK | 0o777
    assert entries["init"][2] == b"bin/busybox"
    assert entries["dev/console"][1] == (5, 1)
    assert entries["etc/inittab"][2] == b"::respawn:-/bin/sh\n"
    assert userland.PROMPT.encode() in entries["etc/profile"][2]
    assert all(entries[f"bin/{applet}"][2] == b"busybox" for applet in userland.APPLETS)


def test_every_applet_is_built() -> None:
    fragment = userland.FRAGMENT.read_text()
    assert all(f"CONFIG_{applet.upper()}" in fragment for applet in userland.APPLETS if applet != "sh")


def test_a_setting_takes_the_place_of_the_old_one() -> None:
    config = '# CONFIG_LS is not set\nCONFIG_LSOF=y\nCONFIG_PREFIX="x"\n# a word\n'
    assert (
        userland.configured(config, 'CONFIG_LS=y\nCONFIG_PREFIX="m68k-"\n')
        == 'CONFIG_LS=y\nCONFIG_LSOF=y\nCONFIG_PREFIX="m68k-"\n# a word\n'
    )


def test_what_is_not_built_is_told_with_the_way_to_build_it(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="run `guestclock build-guest userland` first"):
        userland.find_userland(tmp_path)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match=r"apt-get install .* dpkg-dev gcc-m68k-linux-gnu"):
        userland._check_packages()


def test_an_apt_without_an_archive_of_debian_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(userland, "_run", lambda *_: "")
    with pytest.raises(UnavailableError, match=f"put it, unpacked, at {tmp_path}/source"):
        userland._apt_for_sources(tmp_path / "apt")


def test_source_packages_come_from_the_archives_of_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(userland, "_run", lambda *_: "deb-src http://a bookworm main\n" * 2)
    command = userland._apt_for_sources(tmp_path / "apt")
    assert (tmp_path / "apt/sources.list").read_text() == "deb-src http://a bookworm main\n"
    assert f"-oDir::State::lists={tmp_path}/apt/lists" in command
