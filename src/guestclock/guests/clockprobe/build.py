"""Builds ``clockprobe.elf``: after a change, ``python -m guestclock.guests.clockprobe.build``."""

from pathlib import Path

from guestclock.guests.compiler import compile_program

FOLDER = Path(__file__).parent
ELF = FOLDER / "clockprobe.elf"

FLAGS = (
    "-ffreestanding",
    "-nostdlib",
    # No memset or memcpy: there is no library to have them from.
    "-fno-tree-loop-distribute-patterns",
    "-fno-pie",
    "-no-pie",
    "-Wl,-T,clockprobe/clockprobe.ld",
    "-Wl,--build-id=none",
    # The program header sits right before the segment; one segment holds everything.
    "-Wl,-z,max-page-size=4",
    "-Wl,--no-warn-rwx-segments",
)


def build_clockprobe(output: Path) -> None:
    """Build the guest into ``output``; the same compiler gives the same bytes.

    Raises `guestclock.errors.UnavailableError` when the cross compiler is missing.
    """
    # libgcc: 64-bit division.
    compile_program(FOLDER, output, FLAGS, libraries=("-lgcc",))


if __name__ == "__main__":
    build_clockprobe(ELF)
