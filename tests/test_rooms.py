"""Imports run downwards only (docs/architecture.md, "Rooms")."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "guestclock"

# Room -> rooms it may import from.  `errors` is open to all.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "chips": set(),
    "timebase": set(),
    "pvclock": set(),
    "readings": set(),
    "readloops": set(),
    "guests": {"readings"},
    "quadra": {"chips", "timebase", "readings"},
    "linux": {"guests", "verdict"},
    "kvm": {"pvclock", "readloops"},
    "host": {"pvclock", "readloops"},
    "qemu": {"guests", "readings"},
    "verdict": {"readings"},
    "conformance": {"chips", "guests"},
    "experiments": {
        "chips", "timebase", "pvclock", "quadra", "guests", "linux", "kvm", "host", "qemu",
        "readings", "readloops", "verdict", "conformance",
    },
    "report": {"readings", "verdict"},
}  # fmt: skip
MAY_IMPORT["cli"] = set(MAY_IMPORT) - {"cli"}


def imported_rooms(path: Path) -> set[str]:
    """Return the rooms of this package that a module imports, wherever in its text."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    rooms = {name.split(".")[1] for name in names if name.startswith("guestclock.")}
    return {room for room in rooms if room in MAY_IMPORT}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_run_downwards(path: Path) -> None:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    room = parts[0]
    if room in {"__init__", "__main__"}:
        return
    assert room in MAY_IMPORT, f"{room}: a new room needs its place in docs/architecture.md and here"
    allowed = MAY_IMPORT[room] | {room, "errors"}
    assert imported_rooms(path) <= allowed
