"""``guestclock build-guest``: the Linux guests, from Debian's packages."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from guestclock.linux.cache import GuestImage
    from guestclock.linux.kernel import Progress

EXAMPLES = """
Examples:

  guestclock build-guest                        kernel 6.1 and its measuring init: about 3 minutes, once

  guestclock build-guest --debug-timekeeping    the kernel that clamps and reports clocks that step

  guestclock build-guest --adb                  the kernel that looks for keyboard and mouse

  guestclock build-guest userland               BusyBox from Debian's source, for `compare --userland`

  guestclock build-guest linux-x86              Debian's own cloud kernel, for `guestclock kvm --linux`
"""


def build_guest(
    guest: Annotated[str, typer.Argument(help="linux or userland (for the Quadra), or linux-x86.")] = "linux",
    *,
    debug_timekeeping: Annotated[
        bool, typer.Option("--debug-timekeeping", help="With CONFIG_DEBUG_TIMEKEEPING (linux only).")
    ] = False,
    adb: Annotated[
        bool, typer.Option("--adb", help="With the driver of the Apple Desktop Bus (linux only).")
    ] = False,
) -> None:
    """Build a Linux guest into the user's cache: that of `guestclock run` or of `guestclock kvm --linux`."""
    from guestclock.cli.kernel_variant import kernel_variant  # noqa: PLC0415 (imports wait until the command runs)
    from guestclock.cli.stages import stages  # noqa: PLC0415

    variant = kernel_variant(debug_timekeeping=debug_timekeeping, adb=adb)

    with stages(quiet=False) as show:
        image = _build(guest, variant, lambda share, what: show(what, share))
    typer.echo(f"kernel {image.kernel}\ninitrd {image.initrd}")


def _build(guest: str, variant: str, progress: "Progress") -> "GuestImage":
    from guestclock.errors import BadInputError  # noqa: PLC0415
    from guestclock.linux.build import build_guest as build_linux  # noqa: PLC0415
    from guestclock.linux.cache import PLAIN, default_cache_dir  # noqa: PLC0415
    from guestclock.linux.userland import build_userland  # noqa: PLC0415
    from guestclock.linux.x86 import build_x86_guest  # noqa: PLC0415

    if guest == "linux":
        return build_linux(default_cache_dir(), variant, progress=progress)
    builders = {"userland": build_userland, "linux-x86": build_x86_guest}
    if guest not in builders:
        raise BadInputError(f"no guest {guest}: linux, userland or linux-x86")
    if variant != PLAIN:
        raise BadInputError(f"--{variant}: {guest} has one kernel, built without it")
    return builders[guest](default_cache_dir(), progress)
