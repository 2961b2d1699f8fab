"""A QEMU spoken to over QMP, on a socket in a folder of our own."""

import json
import socket
import time
from pathlib import Path
from typing import Any

from guestclock.errors import UnavailableError

_CHUNK = 65536
_POLL_S = 0.01
_ENDED = "QEMU ended while it was spoken to over QMP"


def arguments(path: Path) -> list[str]:
    """Return the arguments that make QEMU listen there."""
    return ["-qmp", f"unix:{path},server=on,wait=off"]


class Qmp:
    """A connection.  A context manager.

    Raises:
        UnavailableError: QEMU does not answer, or refuses a command; the message has what it said.
    """

    def __init__(self, path: Path, answer_s: float = 30.0) -> None:
        self._path, self._answer_s = path, answer_s
        self._pending = b""

    def __enter__(self) -> "Qmp":
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._connect()
        except BaseException:
            self._socket.close()
            raise
        return self

    def _connect(self) -> None:
        self._socket.settimeout(self._answer_s)
        deadline = time.monotonic() + self._answer_s
        while True:
            try:
                self._socket.connect(str(self._path))
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise UnavailableError(f"QEMU does not answer over QMP: {error.strerror}") from error
                time.sleep(_POLL_S)
        self._message()  # its greeting
        self.command("qmp_capabilities")

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def command(self, name: str, **arguments: Any) -> Any:
        """Have a command done; return what it returns."""
        said: dict[str, Any] = {"execute": name}
        if arguments:
            said["arguments"] = {key.replace("_", "-"): value for key, value in arguments.items()}
        try:
            self._socket.sendall(json.dumps(said).encode() + b"\n")
        except ConnectionError:
            raise UnavailableError(_ENDED) from None
        while "return" not in (answer := self._message()):
            if "error" in answer:
                raise UnavailableError(f"QEMU refuses {name}: {answer['error'].get('desc')}")
        return answer["return"]

    def job(self, name: str, **arguments: Any) -> None:
        """Have a job done and wait for its end."""
        self.command(name, job_id=name, **arguments)
        while True:
            (found,) = [job for job in self.command("query-jobs") if job["id"] == name]
            if found["status"] == "concluded":
                break
            time.sleep(_POLL_S)
        self.command("job-dismiss", id=name)
        if "error" in found:
            raise UnavailableError(f"QEMU cannot do {name}: {found['error']}")

    def _message(self) -> dict[str, Any]:
        while b"\n" not in self._pending:
            try:
                data = self._socket.recv(_CHUNK)
            except TimeoutError:
                raise UnavailableError(f"QEMU does not answer over QMP in {self._answer_s:g} s") from None
            except ConnectionError:
                data = b""
            if not data:
                raise UnavailableError(_ENDED)
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message
