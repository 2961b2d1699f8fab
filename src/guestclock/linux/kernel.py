"""Builds a kernel for the Quadra 800 from Debian's source package."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from guestclock.errors import UnavailableError

Progress = Callable[[float, str], None]

ARCHIVE = Path("/usr/src/linux-source-6.1.tar.xz")

# Debian package -> a file or command that it brings.
PACKAGES: dict[str, Path | str] = {
    "linux-source-6.1": ARCHIVE,
    "gcc-m68k-linux-gnu": "m68k-linux-gnu-gcc",
    "libc6-dev-m68k-cross": Path("/usr/m68k-linux-gnu/lib/libc.a"),
    "gcc": "gcc",
    "libc6-dev": Path("/usr/include/stdio.h"),
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz-utils": "xz",
}

# Never compiled here, and two thirds of what would be unpacked.  Kconfig files and makefiles stay.
UNUSED = (
    *("arch/[!m]*/*.[chS]", "arch/mi*/*.[chS]", "arch/*.dts", "arch/*.dtsi"),
    *(f"drivers/{room}/*.[ch]" for room in ("gpu", "media", "net", "infiniband", "scsi", "staging", "iio")),
    *("sound/*.[ch]", "Documentation/*/*", "tools/testing/*", "tools/perf/*"),
)

# Half of the boot would be a self-test of BLAKE2s.  The option that leaves it out depends on the whole
# crypto manager; only IS_ENABLED() looks at it here, so that it can be defined alone.
SETTINGS = ("ARCH=m68k", "CROSS_COMPILE=m68k-linux-gnu-", "KCFLAGS=-DCONFIG_CRYPTO_MANAGER_DISABLE_TESTS")

# Lines that make prints for a build from nothing; they only scale the progress shown.
ESTIMATED_STEPS = 800


def silent(_fraction: float, _what: str) -> None:
    """Show no progress."""


def check_packages() -> None:
    """Raise `UnavailableError` naming every Debian package that the build lacks."""
    missing = [
        package
        for package, brings in PACKAGES.items()
        if not (brings.exists() if isinstance(brings, Path) else shutil.which(brings))
    ]
    if missing:
        line = " ".join(missing)
        raise UnavailableError(
            f"building the Linux guest needs Debian packages: apt-get install --no-install-recommends {line}"
        )


@contextmanager
def _running(command: list[str], **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command for the length of a block; whatever ends the block ends the command too."""
    process: subprocess.Popen[bytes] = subprocess.Popen(command, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
        if process.poll() is None:
            process.terminate()
        process.wait()


def _feed(archive: Path, pipe: IO[bytes], progress: Progress) -> None:
    size = archive.stat().st_size
    with archive.open("rb") as packed:
        while block := packed.read(1 << 20):
            pipe.write(block)
            progress(packed.tell() / size, "unpacking the kernel's source")


def unpack(source: Path, progress: Progress) -> None:
    """Unpack what the build uses of the kernel's source into the directory ``source``, unless it is there."""
    if source.exists():
        return
    source.parent.mkdir(parents=True, exist_ok=True)
    partial = source.with_name(source.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    exclude = [f"--exclude=linux-source-6.1/{pattern}" for pattern in UNUSED]
    command = ["tar", "--extract", "--xz", "--strip-components=1", f"--directory={partial}", *exclude]
    with _running(command, stdin=subprocess.PIPE) as tar:
        assert tar.stdin is not None
        try:
            _feed(ARCHIVE, tar.stdin, progress)
            tar.stdin.close()
        except BrokenPipeError:
            pass  # tar has ended and said why; its status tells
        if tar.wait() != 0:
            raise UnavailableError(f"{ARCHIVE} could not be unpacked into {partial}: is the disk full?")
    partial.rename(source)


def _environment() -> dict[str, str]:
    """Return an environment in which a kernel's bytes depend on its source and configuration only."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | {
        "LC_ALL": "C",
        "KBUILD_BUILD_USER": "guestclock",
        "KBUILD_BUILD_HOST": "guestclock",
        "KBUILD_BUILD_TIMESTAMP": "2020-01-01 00:00:00 UTC",
        "KBUILD_BUILD_VERSION": "1",
    }


def _make(source: Path, output: Path, target: str, settings: list[str], progress: Progress) -> None:
    """Run the kernel's make with as many jobs as there are processors; its output goes to a log file too."""
    log_path = output / "build.log"
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    command = ["make", "-C", str(source), f"O={output}", jobs, *SETTINGS, *settings, target]
    with (
        log_path.open("wb") as log,
        _running(command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as make,
    ):
        assert make.stdout is not None
        for steps, line in enumerate(make.stdout):
            log.write(line)
            progress(min(steps / ESTIMATED_STEPS, 1.0), line.decode(errors="replace").strip())
        if make.wait() != 0:
            raise UnavailableError(f"the kernel did not build (make {target}); its output is in {log_path}")


def _configure(source: Path, output: Path, config: str) -> None:
    """Write the configuration, but touch nothing when it is there already: make would compile all again."""
    wanted = output / "wanted.config"
    if wanted.exists() and wanted.read_text() == config and (output / ".config").exists():
        return
    wanted.unlink(missing_ok=True)
    with tempfile.NamedTemporaryFile("w", suffix=".config") as file:
        file.write(config)
        file.flush()
        _make(source, output, "allnoconfig", [f"KCONFIG_ALLCONFIG={file.name}"], silent)
    got = set((output / ".config").read_text().splitlines())
    refused = [line for line in config.splitlines() if line.startswith("CONFIG_") and line not in got]
    if refused:
        raise UnavailableError(f"this kernel source does not take {', '.join(refused)}")
    wanted.write_text(config)


def build_kernel(source: Path, output: Path, config: str, vmlinux: Path, progress: Progress) -> None:
    """Compile the kernel in ``output`` and put it, stripped, at ``vmlinux``."""
    output.mkdir(parents=True, exist_ok=True)
    _configure(source, output, config)
    _make(source, output, "vmlinux", [], progress)
    vmlinux.parent.mkdir(parents=True, exist_ok=True)
    partial = vmlinux.with_name("vmlinux.partial")
    strip = ["m68k-linux-gnu-strip", "-o", str(partial), str(output / "vmlinux")]
    subprocess.run(strip, check=True, timeout=60)
    partial.rename(vmlinux)
