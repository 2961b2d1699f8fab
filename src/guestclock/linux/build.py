"""Builds the Linux guest, kernel and initramfs, into the user's cache."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from guestclock.guests.linux_init.build import build_init

from .cache import PLAIN, GuestImage, image_paths, kernel_config, linux_dir
from .initramfs import initramfs
from .kernel import Progress, build_kernel, check_packages, silent, unpack

# What a build from nothing spends on its parts, for the progress shown.
UNPACKED = 0.2
COMPILED = 0.98


def _part(progress: Progress, begin: float, end: float) -> Progress:
    """Return a callback for the part of the whole from ``begin`` to ``end``."""
    return lambda fraction, what: progress(begin + (end - begin) * fraction, what)


@contextmanager
def _sole_builder(root: Path, progress: Progress) -> Iterator[None]:
    """Hold the cache's lock, so that two builds never write the same tree."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(0.0, "waiting for another build to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build_initrd(initrd: Path) -> None:
    initrd.parent.mkdir(parents=True, exist_ok=True)
    partial = initrd.with_name("initrd.partial")
    with tempfile.TemporaryDirectory() as folder:
        init = Path(folder) / "init"
        build_init(init)
        partial.write_bytes(initramfs(init.read_bytes()))
    partial.rename(initrd)


def build_guest(cache_dir: Path, variant: str = PLAIN, *, progress: Progress = silent) -> GuestImage:
    """Build what is missing of the Linux guest and return it.

    ``progress`` is told the fraction done (0-1) and what is being done.  A build that was interrupted
    goes on where it stopped.  The whole takes 2 to 3 minutes on two processors and 0.5 GB of disk.
    Beside the plain kernel there are one that checks its clocksource and clamps what it finds
    (``DEBUG_TIMEKEEPING``) and one that looks for keyboard and mouse (``ADB``).

    Raises `guestclock.errors.UnavailableError` that names the Debian packages which are missing.
    """
    image = image_paths(cache_dir, variant)
    if image.kernel.is_file() and image.initrd.is_file():
        progress(1.0, "already built")
        return image
    check_packages()
    root = linux_dir(cache_dir)
    with _sole_builder(root, progress):
        if not image.initrd.is_file():
            _build_initrd(image.initrd)
        if not image.kernel.is_file():
            unpack(root / "source", _part(progress, 0.0, UNPACKED))
            build_kernel(
                root / "source",
                root / "build",
                kernel_config(variant),
                image.kernel,
                _part(progress, UNPACKED, COMPILED),
            )
    progress(1.0, "done")
    return image
