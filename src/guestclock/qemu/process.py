"""One QEMU process and its serial console, every byte stamped with the host's time when it comes."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from guestclock.errors import UnavailableError
from guestclock.qemu.binary import end_group, start

ERRORS_KEPT = 64 * 1024
_CHUNK = 65536
INTERNAL_ERROR = b"KVM internal error"
NS_PER_S = 1_000_000_000

Appointment = tuple[int, Callable[[], None]]
"""When, on the process's clock, to do what."""


@dataclass(frozen=True)
class Piece:
    """Bytes of the serial console; ``host_ns`` when they came."""

    host_ns: int
    data: bytes


class Qemu:
    """A context manager: the process runs inside the block; it and its children are gone after it.

    Args:
        command: the program and its arguments; its console must be on standard output.
        silence_s: with no byte for so long, the guest counts as stuck.
        clock: ns of the host.
    """

    def __init__(
        self,
        command: Sequence[str],
        silence_s: float,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._command = list(command)
        self._silence_s = silence_s
        self._clock = clock
        self.errors = b""
        """The last of what QEMU wrote to standard error."""

    def __enter__(self) -> "Qemu":
        self._process = start(self._command, subprocess.PIPE, subprocess.PIPE)
        return self

    def __exit__(self, *_: object) -> None:
        end_group(self._process)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def pieces(self, appointments: Iterable[Appointment] = ()) -> Iterator[Piece]:
        """Yield what the console says until QEMU ends, and keep the appointments, which stand in order.

        Raises:
            UnavailableError: KVM met an internal error, or QEMU could not start.
            TimeoutError: the guest was silent for too long.
        """
        coming = iter(appointments)
        next_one = next(coming, None)
        heard_ns = self._clock()
        with selectors.DefaultSelector() as selector:
            for stream in (self._process.stdout, self._process.stderr):
                assert stream is not None
                selector.register(stream.fileno(), selectors.EVENT_READ, stream)
            while selector.get_map():
                due_ns = heard_ns + round(self._silence_s * NS_PER_S)
                if next_one is not None:
                    due_ns = min(due_ns, next_one[0])
                ready = selector.select(max(due_ns - self._clock(), 0) / NS_PER_S)
                for key, _events in ready:
                    yield from self._take(selector, key)
                now_ns = self._clock()
                if next_one is not None and now_ns >= next_one[0]:
                    next_one[1]()
                    next_one = next(coming, None)
                    heard_ns = self._clock()
                elif ready:
                    heard_ns = now_ns
                elif now_ns - heard_ns >= self._silence_s * NS_PER_S:
                    raise TimeoutError(f"no sign of life for {self._silence_s:g} s")
        self._check_end(self._process.wait())

    def say(self, text: bytes) -> None:
        """Type into the console."""
        assert self._process.stdin is not None
        self._process.stdin.write(text)

    def stop(self) -> None:
        """Stop the process as a whole, as a host does that suspends it (SIGSTOP)."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let the stopped process go on (SIGCONT)."""
        self._process.send_signal(signal.SIGCONT)

    def last_error(self) -> str:
        """Return the last line that QEMU wrote to standard error, or nothing."""
        return "".join(self.errors.decode(errors="replace").strip().splitlines()[-1:])

    def _take(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> Iterator[Piece]:
        data = os.read(key.fd, _CHUNK)
        if not data:
            selector.unregister(key.fd)
        elif key.data is self._process.stdout:
            yield Piece(self._clock(), data)
        else:
            self.errors = (self.errors + data)[-ERRORS_KEPT:]
            # QEMU stops the machine then and stays: nobody would ever hear of it again.
            if INTERNAL_ERROR in self.errors:
                raise UnavailableError(
                    "this KVM met an internal error"
                    f" ({self._line_with(INTERNAL_ERROR)}): it cannot run a Linux kernel"
                )

    def _check_end(self, status: int) -> None:
        if status:
            reason = self.last_error() or "it gave no reason"
            raise UnavailableError(f"{self._command[0]} ended with status {status}: {reason}")

    def _line_with(self, text: bytes) -> str:
        lines = self.errors.splitlines()
        return next((line.decode(errors="replace").strip() for line in lines if text in line), "")
