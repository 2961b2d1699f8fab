"""Builds ``capture.elf``: after a change, ``python -m guestclock.guests.viacapture.build``."""

from pathlib import Path

from guestclock.guests.compiler import compile_sources

FOLDER = Path(__file__).parent
ELF = FOLDER / "capture.elf"

FLAGS = ("-nostdlib", "-no-pie", "-Wl,-T,viacapture/capture.ld", "-Wl,--build-id=none",
         "-Wl,-z,max-page-size=4", "-Wl,--no-warn-rwx-segments")  # fmt: skip


def build_capture(output: Path) -> None:
    """Build the program without its table into ``output``; the same compiler gives the same bytes.

    Raises `guestclock.errors.UnavailableError` when the cross compiler is missing.
    """
    compile_sources([FOLDER / "capture.S"], output, FLAGS)


if __name__ == "__main__":
    build_capture(ELF)
