"""When the host keeps the guest from running: stall schedules and their notation.

A schedule yields pairs ``(at_ns, for_ns)`` of host time, in order.  Its notation is a list of words:

``every=50ms,for=35ms``
    every 50 ms, left out where a stall is on or just ends.  The run's seed draws when in the first 50 ms: a
    host is not in step with its guest, whose ticks would else meet each stall in the same place
``at=5s,for=10s``
    once; several, in order, are joined by ``+``, as in ``at=1s,for=20ms+at=5s,for=10s``
``random,every=200ms,for=20ms`` or ``random=7,every=200ms,for=20ms``
    gaps and lengths drawn evenly from 1 ns to twice the given values, from the run's seed or from seed 7
``file=PATH``
    a recorded list: lines ``at_ns for_ns``; ``#`` starts a comment
"""

import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from guestclock.errors import BadInputError

UNITS_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
WORDS = ("every", "at", "for", "random", "file")

Stall = tuple[int, int]


def parse_duration_ns(text: str) -> int:
    """Return a duration such as ``35ms``, ``1.5s`` or ``200us`` in ns.

    >>> parse_duration_ns("1.5ms")
    1500000
    """
    match = re.fullmatch(r"(\d+)(?:\.(\d{1,9}))?(ns|us|µs|ms|s)", text.strip())
    if match is None:
        raise BadInputError(
            f"'{text}' is not a duration: give a number and a unit, as in 35ms, 200us or 1.5s"
        )
    whole, fraction, unit = match[1], match[2] or "", match[3]
    scaled = int(whole + fraction) * UNITS_NS[unit]
    return scaled // 10 ** len(fraction)


def parse_stalls(text: str, seed: int = 0) -> Iterator[Stall]:
    """Return the schedule that ``text`` describes; raise :class:`BadInputError` for an unknown word.

    ``seed`` is for what is drawn by chance: a random schedule that names no seed, the start of an even one.
    """
    if text.strip().startswith("at=") and "+" in text:
        return iter(_listed(text))
    words: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        if name not in WORDS or not (value or part.strip() == "random"):
            raise BadInputError(
                f"stall '{text}': unknown word '{part.strip()}': say every=50ms,for=35ms, at=5s,for=10s, "
                "random,every=200ms,for=20ms or file=PATH"
            )
        words[name] = value
    if set(words) == {"file"}:
        return recorded(Path(words["file"]))
    if set(words) == {"at", "for"}:
        return iter([(parse_duration_ns(words["at"]), _length_ns(words["for"], text))])
    if set(words) == {"every", "for"}:
        every_ns = _length_ns(words["every"], text)
        first_ns = random.Random(seed).randint(1, every_ns)
        return periodic(first_ns, every_ns, _length_ns(words["for"], text))
    if set(words) == {"random", "every", "for"}:
        own = words["random"]
        if own and not own.isdecimal():
            raise BadInputError(f"stall '{text}': random={own}: the seed is a whole number")
        every_ns, for_ns = _length_ns(words["every"], text), _length_ns(words["for"], text)
        return scattered(int(own) if own else seed, every_ns, for_ns)
    raise BadInputError(f"stall '{text}': {', '.join(words)} do not make a schedule: say every=50ms,for=35ms")


def _listed(text: str) -> list[Stall]:
    stalls: list[Stall] = []
    end_ns = 0
    for one in text.split("+"):
        found = list(parse_stalls(one)) if one.strip().startswith("at=") else []
        if not found:
            raise BadInputError(f"stall '{text}': '{one}': only stalls such as at=5s,for=10s are joined by +")
        (at_ns, for_ns) = found[0]
        if at_ns < end_ns:
            raise BadInputError(f"stall '{text}': '{one}' begins in the one before")
        stalls.append((at_ns, for_ns))
        end_ns = at_ns + for_ns
    return stalls


def stalls_text(stalls: Iterable[Stall]) -> str:
    """Return the notation of a list of stalls, at least one.

    >>> stalls_text([(1_000_000_000, 20_000_000), (5_000_000_001, 7)])
    'at=1s,for=20ms+at=5000000001ns,for=7ns'
    """
    return "+".join(f"at={duration_text(at_ns)},for={duration_text(for_ns)}" for at_ns, for_ns in stalls)


def duration_text(duration_ns: int) -> str:
    """Return a duration in the largest unit that needs no fraction."""
    for unit in ("s", "ms", "us"):
        if duration_ns % UNITS_NS[unit] == 0:
            return f"{duration_ns // UNITS_NS[unit]}{unit}"
    return f"{duration_ns}ns"


def _length_ns(text: str, spec: str) -> int:
    length_ns = parse_duration_ns(text)
    if length_ns == 0:
        raise BadInputError(f"stall '{spec}': a length of 0 is no stall")
    return length_ns


def periodic(first_ns: int, every_ns: int, for_ns: int) -> Iterator[Stall]:
    """Yield a stall at ``first_ns``, then every ``every_ns`` at which none is on or just ends."""
    at_ns = first_ns
    while True:
        yield at_ns, for_ns
        at_ns += every_ns * (for_ns // every_ns + 1)


def scattered(seed: int, every_ns: int, for_ns: int) -> Iterator[Stall]:
    """Yield stalls with gaps and lengths drawn evenly around the given means; the same for the same seed."""
    draw = random.Random(seed)
    at_ns = 0
    while True:
        at_ns += draw.randint(1, 2 * every_ns)
        length_ns = draw.randint(1, 2 * for_ns)
        yield at_ns, length_ns
        at_ns += length_ns


def recorded(path: Path) -> Iterator[Stall]:
    """Return the stalls of a recorded list; raise :class:`BadInputError` that names file and line."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"stall file {path}: {getattr(error, 'strerror', None) or 'is not text'}"
        ) from error
    stalls: list[Stall] = []
    end_ns = 0
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            raise BadInputError(f"{path}:{number}: a stall is two whole numbers, at_ns and for_ns")
        at_ns, for_ns = map(int, words)
        if at_ns < end_ns or for_ns == 0:
            raise BadInputError(
                f"{path}:{number}: the stall at {at_ns} ns for {for_ns} ns is empty or begins in the last one"
            )
        stalls.append((at_ns, for_ns))
        end_ns = at_ns + for_ns
    return iter(stalls)
