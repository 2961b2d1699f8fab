"""What one run of one row left."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from guestclock.readings import Tables

Clock = Callable[[], int]
"""ns of the host; injected, so that a test can say what it shows."""

HOST_CLOCK: Clock = time.monotonic_ns


@dataclass(frozen=True)
class Measured:
    """Tables, console, and times of the run as a whole, in s of the host; None where it never came there.

    ``boot_s``: from the machine's start until the guest is up; ``shutdown_s``: from when it goes down to the
    machine's end; ``host_cpu_s``: what all of it took of the host's processors.
    ``taken_back``: from when on the tables' host time is behind the host's own clock, and by how much, both
    in ns: that of a machine of ours stands still while it is a snapshot, and goes back with it.
    """

    tables: Tables
    console: bytes
    boot_s: float | None
    shutdown_s: float | None
    host_cpu_s: float
    taken_back: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Dialogue:
    """What a guest says when it is up, what is then typed into it, and what it says on its way down."""

    up: bytes = b"@gc hello"
    typed: bytes = b""
    down: bytes = b"@gc bye"


MEASURING = Dialogue()


class Landmarks:
    """Watches a console go by and notes when the guest was up and when it went down."""

    def __init__(self, clock: Clock, dialogue: Dialogue = MEASURING) -> None:
        self._clock = clock
        self._words = {"up": dialogue.up, "down": dialogue.down}
        self._line = b""
        self.begin_ns = clock()
        self.at_ns: dict[str, int] = {}

    def take(self, data: bytes) -> None:
        """Take what the console says next."""
        self._line += data
        for name, words in self._words.items():
            if name not in self.at_ns and words in self._line:
                self.at_ns[name] = self._clock()
        self._line = self._line[self._line.rfind(b"\n") + 1 :]

    @property
    def is_down(self) -> bool:
        """Whether the guest has said that it goes down."""
        return "down" in self.at_ns

    def boot_s(self) -> float | None:
        """Return how long it took until the guest was up."""
        return _seconds(self.begin_ns, self.at_ns.get("up"))

    def shutdown_s(self, end_ns: int) -> float | None:
        """Return how long it took from when it went down to the end."""
        return _seconds(self.at_ns.get("down"), end_ns)


def _seconds(begin_ns: int | None, end_ns: int | None) -> float | None:
    return None if begin_ns is None or end_ns is None else (end_ns - begin_ns) / 1e9
