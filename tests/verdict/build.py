"""Short ways to make tables for tests."""

from collections.abc import Iterable
from typing import Any

from guestclock.readings import EventKind, Tables, TablesBuilder

MS = 1_000_000
S = 1_000_000_000
WRAP_NS = 5_482_751_225_490  # 2^32 / 783360 Hz: the via1 clock after one wrap of its 32-bit cycle count


def said(*looks: tuple[int, int], phases: Iterable[str] = (), **columns: Any) -> Tables:
    """Return readings of one clock, given as pairs of true guest time and what it said."""
    builder = TablesBuilder()
    source = builder.source("mono")
    names = list(phases) or ["calls"] * len(looks)
    for (guest_ns, said_ns), phase in zip(looks, names, strict=True):
        builder.add_reading(
            source=source, phase=builder.phase(phase), guest_ns=guest_ns, said_ns=said_ns, **columns
        )
    return builder.freeze({})


def timer(story: str, **meta: Any) -> Tables:
    """Return the events of a timer: ``u`` underflow, ``i`` interrupt, ``a`` acknowledge.

    Upper case: the CPU masked the interrupt then.  A digit after an underflow says how many periods ended
    at once.  Each ``.`` is 1000 bytes of code; each period takes 10 ms of guest time.
    """
    builder = TablesBuilder()
    source, phase = builder.source("via1.t1"), builder.phase("calls")
    code_bytes = guest_ns = 0
    kinds = {"u": EventKind.UNDERFLOW, "i": EventKind.IRQ, "a": EventKind.ACKNOWLEDGE}
    for position, letter in enumerate(story):
        following = story[position + 1 : position + 2]
        periods = int(following) if following.isdigit() else 1
        if letter == ".":
            code_bytes += 1000
        if letter.lower() not in kinds:
            continue
        guest_ns += 10 * MS * periods if letter.lower() == "u" else 1
        builder.add_event(
            kinds[letter.lower()],
            source=source,
            phase=phase,
            guest_ns=guest_ns,
            code_bytes=code_bytes,
            masked=int(letter.isupper()),
            value=periods if letter.lower() == "u" else 0,
        )
    return builder.freeze({"quantum_bytes": 4000, "tick_period_ns": 10 * MS, **meta})
