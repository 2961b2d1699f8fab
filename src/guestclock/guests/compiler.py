"""Compiles guest programs with the m68k cross compiler."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from guestclock.errors import UnavailableError

GUESTS = Path(__file__).parent
COMMON = GUESTS / "common"

CROSS_GCC = "m68k-linux-gnu-gcc"
PACKAGES = ("gcc-m68k-linux-gnu", "libc6-dev-m68k-cross")
FLAGS = (
    "-m68040",
    "-O2",
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fomit-frame-pointer",
    "-static",
    "-s",
)


def program_sources(folder: Path) -> list[Path]:
    """Return the C and assembly files of a guest program: its own, then the common ones."""
    return [
        path for room in (folder, COMMON) for path in sorted(room.iterdir()) if path.suffix in {".S", ".c"}
    ]


def compile_program(folder: Path, output: Path, flags: Sequence[str], libraries: Sequence[str] = ()) -> None:
    """Compile the guest program in ``folder`` together with the common files into the ELF ``output``.

    Raises what `compile_sources` raises.
    """
    include = [f"-I{COMMON.name}", f"-I{folder.relative_to(GUESTS)}"]
    compile_sources(program_sources(folder), output, [*flags, *include], libraries)


def compile_sources(
    sources: Sequence[Path], output: Path, flags: Sequence[str], libraries: Sequence[str] = ()
) -> None:
    """Compile files of this folder into the ELF ``output``.

    Raises `UnavailableError` when the cross compiler is missing, and `subprocess.CalledProcessError`
    when the source does not compile, which no input of a user can cause.
    """
    if shutil.which(CROSS_GCC) is None:
        packages = " ".join(PACKAGES)
        raise UnavailableError(f"{CROSS_GCC} is missing: apt-get install --no-install-recommends {packages}")
    # Relative names only, so that the bytes do not depend on where the checkout lies.
    names = [str(path.relative_to(GUESTS)) for path in sources]
    command = [CROSS_GCC, *FLAGS, *flags, "-o", str(output), *names, *libraries]
    subprocess.run(command, cwd=GUESTS, check=True, timeout=300)
