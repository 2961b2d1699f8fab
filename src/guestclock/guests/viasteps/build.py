"""Builds ``steps.elf``: after a change, ``python -m guestclock.guests.viasteps.build``."""

from pathlib import Path

from guestclock.guests.compiler import compile_sources

FOLDER = Path(__file__).parent
ELF = FOLDER / "steps.elf"

FLAGS = ("-nostdlib", "-no-pie", "-Wl,-T,viasteps/steps.ld", "-Wl,--build-id=none", "-Wl,-z,max-page-size=4",
         "-Wl,--no-warn-rwx-segments")  # fmt: skip


def build_steps(output: Path) -> None:
    """Build the guest into ``output``; the same compiler gives the same bytes.

    Raises `guestclock.errors.UnavailableError` when the cross compiler is missing.
    """
    compile_sources([FOLDER / "steps.S"], output, FLAGS)


if __name__ == "__main__":
    build_steps(ELF)
