"""Where a built Linux guest lies: a directory named after what it was built from.

::

    CACHE/linux-6.1/
        source/                the kernel's source, unpacked once
        build/                 make's output; kept, so that the next variant takes seconds
        VARIANT-HASH/vmlinux   the finished kernel; HASH over its configuration
        init-HASH/initrd       the finished initramfs; HASH over the init's source and its packing

A finished file appears by one rename: it is either whole or not there.
"""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from guestclock.errors import BadInputError
from guestclock.guests import compiler, linux_init

from . import initramfs
from .kernel import SETTINGS

FOLDER = Path(__file__).parent
FRAGMENT = FOLDER / "mac.fragment"

PLAIN = "plain"
DEBUG_TIMEKEEPING = "debug-timekeeping"
ADB = "adb"

# Kernel variant -> what its configuration has beyond mac.fragment.
VARIANTS = {
    PLAIN: "",
    DEBUG_TIMEKEEPING: "CONFIG_DEBUG_TIMEKEEPING=y\n",
    ADB: "CONFIG_MACINTOSH_DRIVERS=y\nCONFIG_ADB=y\nCONFIG_ADB_MACII=y\n",
}


@dataclass(frozen=True)
class GuestImage:
    """A Linux guest ready to boot: ``kernel`` an ELF vmlinux, ``initrd`` an initramfs."""

    kernel: Path
    initrd: Path


def default_cache_dir() -> Path:
    """Return the user's cache directory for guestclock, as the XDG base directory specification has it."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification: a path that is not absolute is to be ignored.
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "guestclock"


def linux_dir(cache_dir: Path) -> Path:
    """Return the part of the cache that holds Linux guests."""
    return cache_dir / "linux-6.1"


def kernel_config(variant: str) -> str:
    """Return the options of a variant that differ from allnoconfig."""
    return FRAGMENT.read_text() + VARIANTS[variant]


def _digest(parts: Iterable[bytes]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()[:12]


def _init_inputs() -> Iterable[bytes]:
    folders = (Path(linux_init.__file__).parent, compiler.COMMON)
    files = [path for folder in folders for path in sorted(folder.iterdir()) if path.suffix in {".c", ".h"}]
    for path in (*files, Path(compiler.__file__), Path(initramfs.__file__)):
        yield path.name.encode()
        yield path.read_bytes()


def image_paths(cache_dir: Path, variant: str = PLAIN) -> GuestImage:
    """Return where the guest built from the present sources lies, or will lie."""
    config = _digest(part.encode() for part in (kernel_config(variant), *SETTINGS))
    root = linux_dir(cache_dir)
    return GuestImage(
        kernel=root / f"{variant}-{config}" / "vmlinux",
        initrd=root / f"init-{_digest(_init_inputs())}" / "initrd",
    )


def find_guest(cache_dir: Path, variant: str = PLAIN) -> GuestImage:
    """Return the built guest, or raise `BadInputError` that says how to build it."""
    image = image_paths(cache_dir, variant)
    missing = next((path for path in (image.kernel, image.initrd) if not path.is_file()), None)
    if missing is not None:
        option = "" if variant == PLAIN else f" --{variant}"
        raise BadInputError(f"no Linux guest at {missing}: run `guestclock build-guest{option}` first")
    return image
