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

    ``boot_s``: from the machine's start to the measuring program's first line; ``shutdown_s``: from its last
    line to the machine's end; ``host_cpu_s``: what all of it took of the host's processors.
    """

    tables: Tables
    console: bytes
    boot_s: float | None
    shutdown_s: float | None
    host_cpu_s: float


class Landmarks:
    """Watches a console go by and notes when a line begins with the given words for the first time."""

    def __init__(self, clock: Clock, *, hello: bytes = b"@gc hello", bye: bytes = b"@gc bye") -> None:
        self._clock = clock
        self._words = {"hello": hello, "bye": bye}
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

    def boot_s(self) -> float | None:
        """Return how long it took to the first line of the measuring program."""
        return _seconds(self.begin_ns, self.at_ns.get("hello"))

    def shutdown_s(self, end_ns: int) -> float | None:
        """Return how long it took from the last line to the end."""
        return _seconds(self.at_ns.get("bye"), end_ns)


def _seconds(begin_ns: int | None, end_ns: int | None) -> float | None:
    return None if begin_ns is None or end_ns is None else (end_ns - begin_ns) / 1e9
