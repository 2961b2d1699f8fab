"""What may happen to a machine in mid-run (``docs/compare.md``, "What stopping means")."""

from dataclasses import dataclass

from guestclock.errors import BadInputError
from guestclock.timebase.stalls import parse_duration_ns

STOP, SIGSTOP, SAVEVM = "stop", "sigstop", "savevm"
KINDS = {
    STOP: "the machine is stopped and goes on (QMP stop and cont; ours: a stall)",
    SIGSTOP: "the host stops the process (SIGSTOP and SIGCONT)",
    SAVEVM: "the machine's state is saved, and the machine later put back into it",
}
AT_NS = 3_000_000_000
"""Host time since the machine's start at which it happens."""


@dataclass(frozen=True)
class Event:
    """One kind, and ns from its beginning to its end."""

    kind: str
    for_ns: int

    @property
    def end_ns(self) -> int:
        """When it is over, in host time since the machine's start."""
        return AT_NS + self.for_ns

    def __str__(self) -> str:
        return f"{self.kind} {self.for_ns / 1e9:g} s"


def parse_event(text: str) -> Event:
    """Return the event that ``text`` orders.

    >>> parse_event("stop=2s")
    Event(kind='stop', for_ns=2000000000)

    Raises :class:`BadInputError` for any other word.
    """
    kind, _, length = text.partition("=")
    if kind not in KINDS or not length:
        raise BadInputError(f"event '{text}': say {', '.join(f'{kind}=2s' for kind in KINDS)}")
    return Event(kind, parse_duration_ns(length))
