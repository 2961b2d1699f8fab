"""From the words of the command line to what is to be compared."""

from collections.abc import Sequence

from guestclock.errors import BadInputError
from guestclock.experiments.compare.events import Event, parse_event
from guestclock.experiments.compare.load import check_load
from guestclock.experiments.compare.rows import Wanted
from guestclock.experiments.run import RunPlan
from guestclock.guests.orders import Phase, default_phases
from guestclock.linux.cache import PLAIN, VARIANTS
from guestclock.qemu.binary import Binary, open_binary
from guestclock.qemu.m68k_guest import MACHINE
from guestclock.quadra.machine import CHIP
from guestclock.timebase.stalls import parse_stalls

NO_STALL = "none"
CHIP_GROUPS = {
    "patches": ("qemu-6.1", *(f"patch-{number}" for number in range(1, 10)), "series-2021", CHIP),
}
"""Words for several chips: QEMU as the nine patches of 2021 found it, with each, with all, and the 6522."""
SECONDS = 2
NS_PER_S = 1_000_000_000
SETTLING_S = 3
"""So long a run goes on after an event, at least: a clock that catches up has to get there."""
ICOUNT_SHIFT_MAX = 10


def parse(
    plan: RunPlan,
    *,
    guest: str,
    variants: Sequence[str] | None,
    chips: Sequence[str] | None,
    pacings: Sequence[str] | None,
    qemus: Sequence[str] | None,
    icounts: Sequence[int] | None,
    levels: Sequence[int] | None,
    loads: Sequence[int] | None,
    stalls: Sequence[str] | None,
    event: str | None,
    userland: bool,
    calls: int,
    seconds: int | None,
) -> Wanted:
    """Return what is wanted; every QEMU has been asked what it is.

    Raises:
        BadInputError: a word that cannot be used; a program that is not QEMU, or has no Quadra.
        UnavailableError: a QEMU that is not installed, or does not answer.
    """
    for variant in variants or ():
        if variant not in VARIANTS:
            raise BadInputError(f"--variant {variant}: there are {', '.join(VARIANTS)}")
    for shift in icounts or ():
        if not 0 <= shift <= ICOUNT_SHIFT_MAX:
            raise BadInputError(f"--icount {shift}: QEMU takes shifts of 0 to {ICOUNT_SHIFT_MAX}")
    for load in loads or ():
        check_load(load)
    happens = None if event is None else parse_event(event)
    return Wanted(
        phases=_phases(SECONDS if seconds is None else seconds, calls)
        if happens is None
        else (Phase("hunt", _seconds(happens, seconds)),),
        guest=guest,
        variants=tuple(variants or (PLAIN,)),
        chips=tuple(chip for word in chips or () for chip in CHIP_GROUPS.get(word, (word,))),
        pacings=tuple(pacings or ()),
        binaries=tuple(_binary(path) for path in qemus or ()),
        icounts=tuple(icounts or ()),
        levels=tuple(levels or ()),
        loads=tuple(loads or (0,)),
        stalls=tuple(_stall(text, plan.seed) for text in stalls or (NO_STALL,)),
        event=happens,
        userland=userland,
        plan=plan,
    )


def _phases(seconds: int, calls: int) -> tuple[Phase, ...]:
    """Return the timed calls, then a hunt for faults: nothing shows so many of them in so little time."""
    default_phases(seconds, calls)  # checks both
    return tuple(phase for phase in (Phase("calls", calls), Phase("hunt", seconds)) if phase.amount)


def _seconds(event: Event, seconds: int | None) -> int:
    """Return how long to hunt, so that the event is over well before the end."""
    needed = -(-event.end_ns // NS_PER_S) + SETTLING_S
    if seconds is not None and seconds < needed:
        raise BadInputError(f"--seconds {seconds}: {event} needs {needed}, to come and to settle")
    return needed if seconds is None else seconds


def _binary(path: str) -> Binary:
    binary = open_binary(path)
    binary.require_machine(MACHINE)
    return binary


def _stall(text: str, seed: int) -> str | None:
    if text == NO_STALL:
        return None
    parse_stalls(text, seed)
    return text
