"""One QEMU process and its serial console, every byte stamped with the host's time when it comes."""

import selectors
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from guestclock.errors import UnavailableError

ERRORS_KEPT = 64 * 1024
_CHUNK = 65536
INTERNAL_ERROR = b"KVM internal error"


@dataclass(frozen=True)
class Piece:
    """Bytes of the serial console; ``host_ns`` when they came."""

    host_ns: int
    data: bytes


def find(program: str, package: str) -> str:
    """Return the program's path; UnavailableError names the Debian package that brings it."""
    path = shutil.which(program)
    if path is None:
        raise UnavailableError(f"{program} is missing: apt-get install --no-install-recommends {package}")
    return path


def version(program: str) -> str:
    """Return what a QEMU says of its version."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"


class Qemu:
    """A context manager: the process runs inside the block and is gone after it.

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
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def pieces(self) -> Iterator[Piece]:
        """Yield what the console says until QEMU ends.

        Raises:
            UnavailableError: KVM met an internal error, or QEMU could not start.
            TimeoutError: the guest was silent for too long.
        """
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        with selectors.DefaultSelector() as selector:
            for stream in (out, err):
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(self._silence_s)
                if not ready:
                    raise TimeoutError(f"no sign of life for {self._silence_s:g} s")
                for key, _events in ready:
                    yield from self._take(selector, key.fileobj, out)  # type: ignore[arg-type]
        self._check_end(self._process.wait())

    def _take(self, selector: selectors.BaseSelector, stream: IO[bytes], out: IO[bytes]) -> Iterator[Piece]:
        data = stream.read1(_CHUNK)  # type: ignore[attr-defined]
        if not data:
            selector.unregister(stream)
        elif stream is out:
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
            last = self.errors.decode(errors="replace").strip().splitlines()[-1:]
            raise UnavailableError(f"QEMU ended with status {status}: {''.join(last) or 'it gave no reason'}")

    def _line_with(self, text: bytes) -> str:
        lines = self.errors.splitlines()
        return next((line.decode(errors="replace").strip() for line in lines if text in line), "")
