"""A QEMU machine spoken to over its qtest protocol, on its standard input and output.

Any packaged binary talks it beside running its guest; those with the accelerator ``qtest`` let the speaker
take the CPU's place (``readb``, ``writeb``, ``clock_step``, ``irq_intercept_in``).
"""

import os
import selectors
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from guestclock.errors import UnavailableError
from guestclock.qemu.binary import Binary, end_group, start

WITHOUT_DEVICES = (
    "-display", "none", "-monitor", "none", "-serial", "null", "-serial", "null",
    "-no-user-config", "-qtest", "stdio", "-qtest-log", os.devnull,
)  # fmt: skip
_CHUNK = 1 << 20


class Qtest:
    """A context manager: the machine runs inside the block, and is gone after it whatever happened there.

    Args:
        binary: whose machine it is.
        arguments: what kind of machine.
        answer_s: how long an answer may take.

    Raises:
        UnavailableError: the machine has died or does not answer; the message has the last that it said.
    """

    def __init__(self, binary: Binary, arguments: Sequence[str], answer_s: float = 30.0) -> None:
        self._binary = binary
        self._command = [binary.path, *arguments, *WITHOUT_DEVICES]
        self._answer_s = answer_s
        self._pending = bytearray()
        self.interrupts: list[str] = []
        """What the machine said of intercepted interrupt lines: ``"raise 0"``, ``"lower 0"``."""

    def __enter__(self) -> "Qtest":
        self._errors = tempfile.TemporaryFile()
        self._process = start(self._command, subprocess.PIPE, self._errors)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end_group(self._process)
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                stream.close()

    def command(self, text: str) -> str:
        """Have a command done; return what comes after OK."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode() + b"\n")
        except BrokenPipeError:
            raise self._died() from None
        while True:
            line = self._line(text)
            if line.startswith("IRQ "):
                self.interrupts.append(line[4:])
            elif line.split(" ")[0] == "OK":
                return line[3:]
            else:
                raise UnavailableError(f"{self._binary.path} refuses {text[:80]!r}: {line[:200]!r}")

    @property
    def ended(self) -> bool:
        """Whether the machine's process has ended."""
        return self._process.poll() is not None

    def read_memory(self, address: int, size: int) -> bytes:
        """Return guest RAM."""
        return bytes.fromhex(self.command(f"read {address:#x} {size}")[2:]) if size else b""

    def _line(self, text: str) -> str:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                if not selector.select(self._answer_s):
                    raise UnavailableError(
                        f"{self._binary.path} does not answer: {text[:80]!r} has taken more than"
                        f" {self._answer_s:g} s"
                    )
                data = os.read(self._process.stdout.fileno(), _CHUNK)
                if not data:
                    raise self._died()
                self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def _died(self) -> UnavailableError:
        status = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        reason = said[-1][:300] if said else "it gave no reason"
        return UnavailableError(f"{self._binary.path} ended with status {status}: {reason}")


def takes_qtest(binary: Binary) -> bool:
    """Tell whether a program may take the CPU's place.  QEMU's list of accelerators leaves this one out.

    Raises :class:`UnavailableError` if the binary does not answer.
    """
    with Qtest(binary, ["-machine", "none", "-accel", "qtest"], binary.answer_s) as machine:
        try:
            machine.command("clock_step 1")
        except UnavailableError:
            if not machine.ended:
                raise
            return False
    return True


def private_folder() -> "tempfile.TemporaryDirectory[str]":
    """Return a folder of our own for what a machine reads, gone at the end of the block that it opens."""
    return tempfile.TemporaryDirectory(prefix="guestclock-qemu-")


def write_file(folder: str, name: str, data: bytes) -> Path:
    """Write a file that a machine is to read; return its path."""
    path = Path(folder) / name
    path.write_bytes(data)
    return path
