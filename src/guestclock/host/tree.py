"""Files below a root: the system's own, or a fake tree in a test."""

from pathlib import Path


class Tree:
    """Reads small text files and remembers which of them could not be read, and why."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self.unreadable: dict[str, str] = {}

    def path(self, name: str) -> Path:
        """Return where a file such as ``/proc/cpuinfo`` lies."""
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str | None:
        """Return a file's text without surrounding blanks; None (remembered) when it cannot be read."""
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError as error:
            self.unreadable[name] = (error.strerror or str(error)).lower()
            return None

    def exists(self, name: str) -> bool:
        """Return whether a file is there; one that may not be looked at is not."""
        try:
            return self.path(name).exists()
        except OSError:
            return False
