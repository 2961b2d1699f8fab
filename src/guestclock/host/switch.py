"""Another clocksource for the whole system, for a while: the one thing here that changes a setting.

The old clocksource comes back whatever happens: on leaving the block, after an error or Ctrl-C; and by a
guardian process of its own when this process is killed, for the guardian sees its pipe close.
"""

import os
import subprocess
import sys
from types import TracebackType

from guestclock.errors import UnavailableError
from guestclock.host.identity import CLOCKSOURCE
from guestclock.host.tree import Tree

CURRENT = CLOCKSOURCE + "current_clocksource"
AVAILABLE = CLOCKSOURCE + "available_clocksource"
_DONE = b"done"
_GUARDIAN = """
import sys
path, clocksource = sys.argv[1:]
if sys.stdin.buffer.read() != b"done":
    with open(path, "w") as file:
        file.write(clocksource)
"""


class ClocksourceSwitch:
    """A context manager in which the system's clocksource may be changed; see :meth:`to`."""

    def __init__(self, tree: Tree) -> None:
        self._path = tree.path(CURRENT)
        self.original = tree.text(CURRENT) or ""
        self.available = tuple((tree.text(AVAILABLE) or "").split())
        if not self.original or not self.available:
            reason = tree.unreadable.get(CURRENT) or tree.unreadable.get(AVAILABLE) or "empty"
            raise UnavailableError(f"{self._path}: {reason}: this system's clocksource cannot be told")
        if not os.access(self._path, os.W_OK):
            raise UnavailableError(
                f"{self._path}: not writable: --switch-clocksource needs root, outside of a container"
            )

    def __enter__(self) -> "ClocksourceSwitch":
        command = [sys.executable, "-I", "-S", "-c", _GUARDIAN, str(self._path), self.original]
        # A session of its own: Ctrl-C or a closed terminal must not end the guardian with us.
        self._guardian = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._write(self.original)
        finally:
            restored = self._read() == self.original
            self._guardian.communicate(_DONE if restored else None)

    def to(self, name: str) -> None:
        """Make a clocksource the system's.

        Raises:
            UnavailableError: the kernel does not take it.
        """
        self._write(name)
        if self._read() != name:
            raise UnavailableError(f"the kernel did not switch to clocksource {name}: see its log (dmesg)")

    def _write(self, name: str) -> None:
        try:
            self._path.write_text(name, encoding="ascii")
        except OSError as error:
            raise UnavailableError(f"{self._path}: cannot write {name}: {error.strerror}") from error

    def _read(self) -> str:
        return self._path.read_text(encoding="ascii").strip()
