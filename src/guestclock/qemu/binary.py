"""A QEMU binary: what it is and what it can do, asked of itself."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO

from guestclock.errors import BadInputError, UnavailableError

M68K = "qemu-system-m68k"
M68K_PACKAGE = "qemu-system-misc"
ANSWER_S = 30.0
_VERSION = "QEMU emulator version "


@dataclass(frozen=True)
class Binary:
    """A program that says it is QEMU; ``version`` as it gives it, such as ``"7.2.22 (Debian ...)"``."""

    path: str
    version: str
    answer_s: float = ANSWER_S

    @cached_property
    def machines(self) -> tuple[str, ...]:
        """The machines it has."""
        lines = ask(self.path, ["-machine", "help"], self.answer_s).splitlines()
        return tuple(line.split()[0] for line in lines if line and not line.endswith(":"))

    @cached_property
    def accelerators(self) -> tuple[str, ...]:
        """What can run guest code in it.  (``qtest`` cannot: :func:`guestclock.qemu.qtest.takes_qtest`.)"""
        lines = ask(self.path, ["-accel", "help"], self.answer_s).splitlines()
        return tuple(line.strip() for line in lines if line.strip() and not line.endswith(":"))

    @cached_property
    def trace_events(self) -> tuple[str, ...]:
        """The events that it can trace."""
        return tuple(ask(self.path, ["-trace", "help"], self.answer_s).split())

    def require_machine(self, name: str) -> None:
        """Raise BadInputError unless it has the machine."""
        if name not in self.machines:
            raise BadInputError(
                f"{self.path} ({self.version}) has no machine {name}:"
                f" give a QEMU that lists it in -machine help"
            )


def open_binary(path: str = M68K, answer_s: float = ANSWER_S, package: str = M68K_PACKAGE) -> Binary:
    """Find a QEMU by path or by name in PATH, and have it tell its version.

    Raises:
        UnavailableError: the program is not installed (Debian's ``package`` brings it), or does not answer.
        BadInputError: the file does not exist, cannot be executed, or is not QEMU.
    """
    found = shutil.which(path)
    if found is None:
        if os.path.exists(path):
            raise BadInputError(f"{path} cannot be executed: give a QEMU binary")
        if os.path.dirname(path):
            raise BadInputError(f"{path} does not exist: give the path of a QEMU binary")
        raise UnavailableError(f"{path} is missing: apt-get install --no-install-recommends {package}")
    said = ask(found, ["--version"], answer_s)
    first = said.splitlines()[0].strip() if said.strip() else ""
    if not first.startswith(_VERSION):
        raise BadInputError(f"{found} is not QEMU: asked for its version it says {first[:100]!r}")
    return Binary(found, first.removeprefix(_VERSION), answer_s)


def ask(path: str, arguments: Sequence[str], answer_s: float = ANSWER_S) -> str:
    """Run a program for what it prints (the first MiB); afterwards it and its children are gone.

    Raises :class:`UnavailableError` if it has not ended in time, :class:`BadInputError` if it cannot start.
    """
    with start([path, *arguments], subprocess.DEVNULL, subprocess.STDOUT) as process:
        try:
            said, _ = process.communicate(timeout=answer_s)
        except subprocess.TimeoutExpired:
            raise UnavailableError(
                f"{path} does not answer: {' '.join(arguments)} has taken more than {answer_s:g} s"
            ) from None
        finally:
            end_group(process)
    return said[: 1 << 20].decode(errors="replace")


def start(command: Sequence[str], stdin: int, stderr: int | IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a process that leads its own session and does not outlive this one; its output is a pipe.

    Raises :class:`BadInputError` if the program cannot be executed.
    """
    try:
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - one system call, no lock
        )
    except OSError as error:
        raise BadInputError(f"{command[0]} cannot be started: {error.strerror}") from error


_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads its own session, with all its children, and collect it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
