"""Builds the x86 Linux guest's init: one statically linked program."""

import platform
import shutil
import subprocess
from pathlib import Path

from guestclock.errors import UnavailableError
from guestclock.guests.compiler import COMMON, GUESTS

FOLDER = Path(__file__).parent
FLAGS = (
    *("-O2", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"),
    *("-static", "-s", "-pthread"),
)


def sources() -> list[Path]:
    """Return everything that the program is made of."""
    own = sorted(path for path in FOLDER.iterdir() if path.suffix in {".c", ".h"})
    return [*own, COMMON / "line.c", COMMON / "line.h", COMMON / "types.h"]


def build_init(output: Path) -> None:
    """Build the init into ``output``.

    Raises `UnavailableError` when the compiler is missing.
    """
    native = platform.machine() in {"x86_64", "AMD64"}
    compiler = "gcc" if native else "x86_64-linux-gnu-gcc"
    package = "gcc libc6-dev" if native else "gcc-x86-64-linux-gnu libc6-dev-amd64-cross"
    if shutil.which(compiler) is None:
        raise UnavailableError(f"{compiler} is missing: apt-get install --no-install-recommends {package}")
    own = FOLDER.relative_to(GUESTS)
    # Relative names only, so that the bytes do not depend on where the checkout lies.
    files = [str(path.relative_to(GUESTS)) for path in sources() if path.suffix == ".c"]
    include = ["-include", str(own / "syscalls.h"), f"-I{own}", f"-I{COMMON.name}"]
    command = [compiler, *FLAGS, *include, "-o", str(output), *files]
    subprocess.run(command, cwd=GUESTS, check=True, timeout=300)
