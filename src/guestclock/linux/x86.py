"""The x86 Linux guest: a distribution's own kernel, and our measuring init in an initramfs.

::

    CACHE/linux-x86/
        kernel/vmlinuz-RELEASE   taken out of Debian's package
        init-HASH/initrd         HASH over the init's source and its packing
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from guestclock.errors import BadInputError, UnavailableError
from guestclock.guests.x86_init import build as init_build
from guestclock.linux import initramfs
from guestclock.linux.cache import GuestImage
from guestclock.linux.kernel import Progress, silent

PACKAGE = "linux-image-cloud-amd64"
"""Debian's kernel for virtual machines: its drivers for a serial console and an initramfs are built in."""
BOOT = Path("/boot")
_VMLINUZ = re.compile(r"vmlinuz-[0-9].*cloud-amd64")


def x86_dir(cache_dir: Path) -> Path:
    """Return the part of the cache that holds x86 guests."""
    return cache_dir / "linux-x86"


def initrd_path(cache_dir: Path) -> Path:
    """Return where the initramfs from the present sources lies, or will lie."""
    total = hashlib.sha256()
    for path in (*init_build.sources(), Path(init_build.__file__), Path(initramfs.__file__)):
        total.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return x86_dir(cache_dir) / f"init-{total.hexdigest()[:12]}" / "initrd"


def find_kernel(cache_dir: Path, boot: Path = BOOT) -> Path | None:
    """Return the newest cloud kernel that can be read: in the cache, else one that is installed."""
    for folder in (x86_dir(cache_dir) / "kernel", boot):
        kernels = [
            path for path in _listed(folder) if _VMLINUZ.fullmatch(path.name) and os.access(path, os.R_OK)
        ]
        if kernels:
            return max(kernels, key=_release)
    return None


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _release(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]


def find_x86_guest(cache_dir: Path, boot: Path = BOOT) -> GuestImage:
    """Return the built guest, or raise `BadInputError` that says how to build it."""
    kernel, initrd = find_kernel(cache_dir, boot), initrd_path(cache_dir)
    if kernel is None or not initrd.is_file():
        missing = "kernel" if kernel is None else "initramfs"
        raise BadInputError(
            f"no {missing} of the x86 Linux guest: run `guestclock build-guest linux-x86` first"
        )
    return GuestImage(kernel, initrd)


def build_x86_guest(cache_dir: Path, progress: Progress = silent, boot: Path = BOOT) -> GuestImage:
    """Fetch the kernel and build the initramfs, where they are missing; return both.

    Raises:
        UnavailableError: no compiler, or no way to a kernel; says what to install.
    """
    initrd = initrd_path(cache_dir)
    if not initrd.is_file():
        progress(0.0, "building the measuring init")
        _build_initrd(initrd)
    kernel = find_kernel(cache_dir, boot)
    if kernel is None:
        progress(0.1, f"fetching {PACKAGE}")
        kernel = fetch_kernel(x86_dir(cache_dir) / "kernel", progress)
    progress(1.0, "done")
    return GuestImage(kernel, initrd)


def _build_initrd(initrd: Path) -> None:
    initrd.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        init = Path(folder) / "init"
        init_build.build_init(init)
        partial = initrd.with_name("initrd.partial")
        partial.write_bytes(initramfs.initramfs(init.read_bytes()))
    partial.rename(initrd)


def fetch_kernel(target: Path, progress: Progress = silent) -> Path:
    """Download Debian's package, take the kernel out of it into ``target``; nothing is installed.

    Raises `UnavailableError` where apt cannot, saying what to do instead.
    """
    for tool in ("apt-cache", "apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise UnavailableError(
                f"{tool} is missing: on another system than Debian, put a kernel with a built-in serial"
                f" console at {target}/vmlinuz-RELEASE-cloud-amd64"
            )
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as name:
        folder = Path(name)
        package = _package_name(_run(["apt-cache", "depends", PACKAGE], folder))
        progress(0.2, f"downloading {package}")
        _run(["apt-get", "download", "-q", package], folder)
        (archive,) = folder.glob("*.deb")
        progress(0.7, f"unpacking {package}")
        _run(["dpkg-deb", "--extract", archive.name, "tree"], folder)
        (kernel,) = (folder / "tree/boot").glob("vmlinuz-*")
        return kernel.rename(target / kernel.name)


def _package_name(depends: str) -> str:
    """Return the package that the metapackage stands for.

    >>> _package_name("linux-image-cloud-amd64\\n  Depends: linux-image-6.1.0-57-cloud-amd64\\n")
    'linux-image-6.1.0-57-cloud-amd64'
    """
    found = re.search(r"Depends: (linux-image-\S+)", depends)
    if found is None:
        raise UnavailableError(f"apt knows no {PACKAGE}: apt-get update, or install a cloud kernel by hand")
    return found[1]


def _run(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"`{' '.join(command)}` took more than 10 minutes") from error
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or ["no reason given"]
        raise UnavailableError(f"`{' '.join(command)}` failed: {reason[0]} (apt-get update may help)")
    return done.stdout
