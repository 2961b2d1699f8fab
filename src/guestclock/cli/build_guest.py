"""``guestclock build-guest``: the Linux guest, from Debian's packages."""

from typing import Annotated

import typer

EXAMPLES = """
Examples:

  guestclock build-guest                        kernel 6.1 and its measuring init: about 3 minutes, once

  guestclock build-guest --debug-timekeeping    the kernel that clamps and reports clocks that step
"""


def build_guest(
    *,
    debug_timekeeping: Annotated[
        bool, typer.Option("--debug-timekeeping", help="With CONFIG_DEBUG_TIMEKEEPING.")
    ] = False,
) -> None:
    """Build the Linux guest of `guestclock run --guest linux` into the user's cache."""
    from guestclock.cli.stages import stages  # noqa: PLC0415 (imports wait until the command runs)
    from guestclock.linux.build import build_guest as build  # noqa: PLC0415
    from guestclock.linux.cache import default_cache_dir  # noqa: PLC0415

    with stages(quiet=False) as show:
        image = build(
            default_cache_dir(),
            debug_timekeeping=debug_timekeeping,
            progress=lambda share, what: show(what, share),
        )
    typer.echo(f"kernel {image.kernel}\ninitrd {image.initrd}")
