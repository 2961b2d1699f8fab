"""The Linux guest's kernel as two flags choose it."""

import typer

from guestclock.linux.cache import ADB, DEBUG_TIMEKEEPING, PLAIN


def kernel_variant(*, debug_timekeeping: bool, adb: bool) -> str:
    """Return the name of the variant that the flags stand for.

    >>> kernel_variant(debug_timekeeping=False, adb=True)
    'adb'

    Raises :class:`typer.BadParameter` for both at once.
    """
    if debug_timekeeping and adb:
        raise typer.BadParameter("no kernel has both", param_hint="--debug-timekeeping --adb")
    return DEBUG_TIMEKEEPING if debug_timekeeping else ADB if adb else PLAIN
