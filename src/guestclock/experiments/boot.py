"""What to boot: a bundled guest, or the user's own kernel."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from guestclock.errors import BadInputError
from guestclock.guests.orders import CLOCKPROBE, LINUX, Phase, phases_word
from guestclock.linux.cache import PLAIN, default_cache_dir, find_guest
from guestclock.linux.command_line import WORDS, command_line
from guestclock.linux.userland import find_userland
from guestclock.quadra.elf import load_elf
from guestclock.quadra.image import BootImage, assemble
from guestclock.quadra.memory_map import IO_BASE, PROBE_START

OWN = "own"
"""Stands for a guest that is not bundled."""

GUESTS = (CLOCKPROBE, LINUX)
PROBE_WORD = f"probe={IO_BASE + PROBE_START:#x}"
# Phases whose amount is seconds of the guest's time.
TIMED_PHASES = ("hunt", "idle", "busy", "lines", "echo")


@dataclass(frozen=True)
class Boot:
    """A kernel, perhaps an initrd, and the command line that orders what to measure.

    ``guest`` and ``variant`` name a bundled guest.
    """

    kernel: Path
    initrd: Path | None
    command_line: str
    guest: str = OWN
    variant: str = PLAIN

    def described(self) -> dict[str, str]:
        """Return what :func:`as_described` finds the same files by: a bundled guest's name, or paths."""
        files = {"kernel": self.kernel} | ({} if self.initrd is None else {"initrd": self.initrd})
        names = (
            {name: str(path.absolute()) for name, path in files.items()}
            if self.guest == OWN
            else {"guest": self.guest, "variant": self.variant}
        )
        return names | {f"{name}_sha256": sha256(read(path)).hexdigest() for name, path in files.items()}

    def without_probe(self) -> "Boot":
        """Return the same for a machine that has no probe port."""
        words = [word for word in self.command_line.split() if word != PROBE_WORD]
        return replace(self, command_line=" ".join(words))

    def options(self) -> list[str]:
        """Return the options of ``guestclock run`` that make this boot."""
        words = [word for word in self.command_line.split() if word not in (PROBE_WORD, *WORDS)]
        append = " ".join(word for word in words if self.guest == OWN or not word.startswith("phases="))
        more = ["--append", append] if append else []
        if self.guest == OWN:
            initrd = [] if self.initrd is None else ["--initrd", str(self.initrd)]
            return ["--kernel", str(self.kernel), *initrd, *more]
        guest = [] if self.guest == CLOCKPROBE else ["--guest", self.guest]
        variant = [] if self.variant == PLAIN else [f"--{self.variant}"]
        phases = [word.removeprefix("phases=") for word in words if word.startswith("phases=")]
        return [*guest, *variant, "--phases", *phases, *more]

    def image(self, ram_bytes: int) -> BootImage:
        """Return what to put into a memory of that size."""
        return assemble(
            load_elf(self.kernel),
            initrd=None if self.initrd is None else read(self.initrd),
            command_line=self.command_line,
            ram_bytes=ram_bytes,
            **({} if self.initrd is None else {"initrd_name": str(self.initrd)}),
        )


def read(path: Path) -> bytes:
    """Return a file's bytes, or raise :class:`BadInputError` that names it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error


def bundled(guest: str, phases: tuple[Phase, ...], append: str = "", variant: str = PLAIN) -> Boot:
    """Return the boot of a bundled guest ordered to run ``phases``.

    ``append`` adds to its command line; ``variant`` is the Linux guest's kernel.
    """
    more = [PROBE_WORD, *append.split()]
    if guest == CLOCKPROBE:
        kernel = Path(str(files("guestclock.guests.clockprobe") / "clockprobe.elf"))
        return Boot(kernel, None, " ".join([phases_word(phases), *more]), guest)
    if guest == LINUX:
        image = find_guest(default_cache_dir(), variant)
        return Boot(image.kernel, image.initrd, command_line(phases, more), guest, variant)
    raise BadInputError(f"guest '{guest}': say {' or '.join(GUESTS)}, or --kernel FILE")


def userland() -> Boot:
    """Return the boot of the plain Linux kernel to a shell of BusyBox."""
    image = find_userland(default_cache_dir())
    return Boot(image.kernel, image.initrd, " ".join(WORDS))


def own(kernel: Path, initrd: Path | None, append: str) -> Boot:
    """Return the boot of the user's own kernel, with the probe port announced."""
    return Boot(kernel, initrd, f"{append} {PROBE_WORD}".strip())


def as_described(description: Mapping[str, str], command_line: str) -> Boot:
    """Return the boot that :meth:`Boot.described` described; BadInputError if its files are others now."""
    if "guest" in description:
        variant = description["variant"]
        found = bundled(description["guest"], (), variant=variant)
        boot = replace(found, command_line=command_line)
        what = f"the guest {boot.guest}"
    else:
        initrd = description.get("initrd")
        boot = Boot(Path(description["kernel"]), None if initrd is None else Path(initrd), command_line)
        what = f"{boot.kernel} or its initrd"
    if boot.described() != dict(description):
        raise BadInputError(f"{what} is not the one that was run: it has been changed since")
    return boot
