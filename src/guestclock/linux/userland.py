"""A userland for the Linux guest: BusyBox, cross-built from Debian's source, that boots to a shell.

::

    CACHE/busybox/
        source/              Debian's source package, unpacked and patched
        apt/                 apt's lists of source packages: the system's own settings stay as they are
        userland-HASH/initrd the finished initramfs; HASH over the configuration and the packing
"""

import hashlib
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from guestclock.errors import BadInputError, UnavailableError
from guestclock.linux import initramfs
from guestclock.linux.build import build_guest
from guestclock.linux.cache import GuestImage, image_paths
from guestclock.linux.initramfs import Entry
from guestclock.linux.kernel import Progress, silent

PACKAGE = "busybox"
FRAGMENT = Path(__file__).parent / "busybox.fragment"
PROMPT = "guestclock# "
APPLETS = ("sh", "poweroff", "cat", "date", "dmesg", "echo", "ls", "sleep", "uname", "uptime")

# Debian package -> the command that it brings.
PACKAGES = {
    "apt": "apt-get",
    "dpkg-dev": "dpkg-source",
    "gcc-m68k-linux-gnu": "m68k-linux-gnu-gcc",
    "gcc": "gcc",
    "make": "make",
    "patch": "patch",
}
_TIMEOUT_S = 900
_SETTING = re.compile(r"(?:# )?(CONFIG_\w+)[ =]")
_SOURCES = ["apt-get", "indextargets", "--format", "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)"]
_OF_DEBIAN = ["Identifier: Packages", "Origin: Debian", "Component: main"]


def userland_paths(cache_dir: Path) -> GuestImage:
    """Return where the plain kernel and the userland built from the present sources lie, or will lie."""
    total = hashlib.sha256()
    for path in (FRAGMENT, Path(__file__), Path(initramfs.__file__)):
        total.update(hashlib.sha256(path.read_bytes()).digest())
    initrd = cache_dir / "busybox" / f"userland-{total.hexdigest()[:12]}" / "initrd"
    return GuestImage(image_paths(cache_dir).kernel, initrd)


def find_userland(cache_dir: Path) -> GuestImage:
    """Return the built userland and its kernel, or raise `BadInputError` that says how to build them."""
    image = userland_paths(cache_dir)
    missing = next((path for path in (image.kernel, image.initrd) if not path.is_file()), None)
    if missing is not None:
        raise BadInputError(f"no Linux userland at {missing}: run `guestclock build-guest userland` first")
    return image


def build_userland(cache_dir: Path, progress: Progress = silent) -> GuestImage:
    """Build what is missing of the userland and its kernel and return both: under a minute after the kernel.

    Raises:
        UnavailableError: packages are missing, or Debian's source cannot be had; says what failed.
    """
    image = userland_paths(cache_dir)
    build_guest(cache_dir, progress=progress)
    if image.initrd.is_file():
        return image
    _check_packages()
    root = cache_dir / "busybox"
    progress(0.1, "fetching BusyBox's source")
    source = _source(root)
    image.initrd.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root) as name:
        progress(0.4, "building BusyBox")
        busybox = _compile(source, Path(name))
        partial = image.initrd.with_name("initrd.partial")
        partial.write_bytes(userland_initramfs(busybox.read_bytes()))
    partial.rename(image.initrd)
    progress(1.0, "done")
    return image


def userland_initramfs(busybox: bytes) -> bytes:
    """Return an initramfs that boots to a root shell on the console."""
    directory, program, text = stat.S_IFDIR | 0o755, stat.S_IFREG | 0o755, stat.S_IFREG | 0o644
    link = stat.S_IFLNK | 0o777
    return initramfs.archive(
        [
            *(Entry(name, directory) for name in ("dev", "bin", "etc")),
            Entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1)),
            Entry("bin/busybox", program, busybox),
            *(Entry(f"bin/{applet}", link, b"busybox") for applet in APPLETS),
            Entry("init", link, b"bin/busybox"),
            Entry("etc/inittab", text, b"::respawn:-/bin/sh\n"),
            Entry("etc/profile", text, f"PS1='{PROMPT}'\n".encode()),
        ]
    )


def _check_packages() -> None:
    missing = [package for package, command in PACKAGES.items() if shutil.which(command) is None]
    if missing:
        raise UnavailableError(
            "building the userland needs Debian packages: apt-get install --no-install-recommends"
            f" {' '.join(missing)}"
        )


def _source(root: Path) -> Path:
    """Fetch and unpack Debian's source package, unless it is there."""
    source = root / "source"
    if source.exists():
        return source
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root) as name:
        folder = Path(name)
        apt = _apt_for_sources(root / "apt")
        _run([*apt, "update"], folder)
        _run([*apt, "source", "--download-only", PACKAGE], folder)
        (description,) = folder.glob("*.dsc")
        _run(["dpkg-source", "-x", description.name, "tree"], folder)
        (folder / "tree").rename(source)
    return source


def _apt_for_sources(state: Path) -> list[str]:
    """Return apt-get with source packages of the archives that the system takes its packages from.

    Lists and settings are our own: nothing of the system's changes.
    """
    for folder in ("lists/partial", "archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    lines = sorted(set(_run([*_SOURCES, *_OF_DEBIAN], state).splitlines()))
    if not lines:
        raise UnavailableError(
            "apt knows no archive of Debian's, so the source of BusyBox cannot be had:"
            " put it, unpacked, at " + str(state.parent / "source")
        )
    (state / "sources.list").write_text("".join(f"{line}\n" for line in lines))
    settings = {
        "Dir::Etc::sourcelist": state / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": state / "lists",
        "Dir::Cache": state,
        "APT::Sandbox::User": "root",  # apt's own user may not write where we may
    }
    return ["apt-get", "-q", *(f"-o{name}={value}" for name, value in settings.items())]


def _compile(source: Path, output: Path) -> Path:
    """Configure and build in ``output``; return the stripped program."""
    make = ["make", "-C", str(source), f"O={output}"]
    _run([*make, "allnoconfig"], output)
    config = output / ".config"
    config.write_text(configured(config.read_text(), FRAGMENT.read_text()))
    _run([*make, "oldconfig"], output, typed="\n" * 10_000)
    _run([*make, "-j2", "busybox"], output)
    return output / "busybox"


def configured(config: str, fragment: str) -> str:
    """Return a configuration with the settings of a fragment in the place of its own.

    >>> configured("# CONFIG_ASH is not set\\nCONFIG_LS=y\\n", "CONFIG_ASH=y\\n")
    'CONFIG_ASH=y\\nCONFIG_LS=y\\n'
    """
    wanted = dict(line.split("=", 1) for line in fragment.splitlines() if line.startswith("CONFIG_"))

    def line_for(line: str) -> str:
        match = _SETTING.match(line)
        return f"{match[1]}={wanted[match[1]]}\n" if match and match[1] in wanted else line

    return "".join(map(line_for, config.splitlines(keepends=True)))


def _run(command: list[str], folder: Path, typed: str = "") -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, input=typed, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"`{' '.join(command)}` took more than {_TIMEOUT_S} s") from error
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or ["no reason given"]
        raise UnavailableError(f"`{' '.join(command)}` failed: {reason[0]}")
    return done.stdout
