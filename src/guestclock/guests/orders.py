"""A guest's orders: which phases to run, as the ``phases=`` word of its command line."""

from collections.abc import Iterable
from dataclasses import dataclass

from guestclock.errors import BadInputError

CLOCKPROBE = "clockprobe"
LINUX = "linux"

BOTH = frozenset({CLOCKPROBE, LINUX})

# Phase -> the guests that know it.
PHASES = {
    "calls": BOTH,
    "hunt": BOTH,
    "idle": BOTH,
    "busy": BOTH,
    "echo": BOTH,
    "serve": BOTH,
    "masked": frozenset({CLOCKPROBE}),
    "lines": frozenset({CLOCKPROBE}),
    "user": frozenset({LINUX}),
}

LARGEST_AMOUNT = 2**32 - 1
# Linux/m68k takes 255 characters of command line; the rest is for the console, the probe port and more.
LONGEST_WORD = 180


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a guest's run; ``amount`` in calls, seconds or milliseconds, as the phase has it."""

    name: str
    amount: int

    def __str__(self) -> str:
        return f"{self.name}:{self.amount}"


def _parse_phase(word: str, guest: str) -> Phase:
    name, colon, amount = word.partition(":")
    if name not in PHASES:
        raise BadInputError(f"phase {word!r}: there is no phase {name!r}; there are {', '.join(PHASES)}")
    if guest not in PHASES[name]:
        raise BadInputError(f"phase {word!r}: the guest {guest} does not know it")
    if not colon or not (amount.isascii() and amount.isdigit()):
        raise BadInputError(f"phase {word!r}: needs a whole number after the colon, like {name}:2")
    # Digits are counted first: Python refuses to convert thousands of them.
    if len(amount) > len(str(LARGEST_AMOUNT)) or int(amount) > LARGEST_AMOUNT:
        raise BadInputError(f"phase {word[:40]!r}: at most {LARGEST_AMOUNT}")
    return Phase(name, int(amount))


def parse_phases(text: str, guest: str) -> tuple[Phase, ...]:
    """Return the phases that ``text`` lists for a guest.

    >>> parse_phases("hunt:2,idle:1", CLOCKPROBE)
    (Phase(name='hunt', amount=2), Phase(name='idle', amount=1))

    Raises `BadInputError` that names the word which cannot be used.
    """
    if len(text) > LONGEST_WORD:
        raise BadInputError(f"phases: {len(text)} characters; a guest takes at most {LONGEST_WORD}")
    return tuple(_parse_phase(word, guest) for word in text.split(","))


def phases_word(phases: Iterable[Phase]) -> str:
    """Return the command-line word that orders ``phases``.

    >>> phases_word([Phase("hunt", 2), Phase("idle", 1)])
    'phases=hunt:2,idle:1'
    """
    return "phases=" + ",".join(map(str, phases))


def default_phases(seconds: int, calls: int) -> tuple[Phase, ...]:
    """Return a plan of ``calls`` timed calls, then ``seconds`` of hunting for faults, idling and computing.

    Half of the seconds go to the hunt, a quarter each to idle and busy; what is nothing is left out.

    >>> phases_word(default_phases(10, 100_000))
    'phases=calls:100000,hunt:6,idle:2,busy:2'
    """
    if seconds < 0 or calls < 0:
        raise BadInputError(f"a run cannot have {seconds} seconds and {calls} calls: neither may be negative")
    if max(seconds, calls) > LARGEST_AMOUNT:
        raise BadInputError(
            f"a run cannot have {max(seconds, calls)} seconds or calls: at most {LARGEST_AMOUNT}"
        )
    if seconds == calls == 0:
        raise BadInputError("0 seconds and 0 calls leave nothing to do: give --seconds, --calls or --phases")
    quiet = seconds // 4
    plan = (
        Phase("calls", calls),
        Phase("hunt", seconds - 2 * quiet),
        Phase("idle", quiet),
        Phase("busy", quiet),
    )
    return tuple(phase for phase in plan if phase.amount)
