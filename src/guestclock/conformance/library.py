"""Where vectors come from: the package's own set, and files."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from guestclock.conformance.json_format import read_json
from guestclock.conformance.text_format import read_text
from guestclock.conformance.vector import FEATURES, Vector
from guestclock.errors import BadInputError


def packaged() -> list[Vector]:
    """Return the package's own vectors, in the order of :data:`FEATURES`."""
    folder = files("guestclock.conformance") / "vectors" / "6522"
    found = []
    for feature in FEATURES:
        file = folder / f"{feature}.json"
        if file.is_file():
            found += read_json(file.read_text(encoding="utf-8"), file.name)
    return found


def from_file(path: Path) -> list[Vector]:
    """Return the vectors of a file: JSON if its name ends so, else lines of text.

    Raises :class:`BadInputError` naming file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise BadInputError(f"{path}: cannot be read: {reason}") from None
    vectors = read_json(text, str(path)) if path.suffix == ".json" else list(read_text(text, str(path)))
    if not vectors:
        raise BadInputError(f"{path}: holds no vectors")
    return vectors


def collect(paths: Sequence[Path]) -> list[Vector]:
    """Return the vectors of the files, or the package's own if there are none; names must differ."""
    if not paths:
        return packaged()
    found: dict[str, Vector] = {}
    for path in paths:
        for vector in from_file(path):
            if vector.name in found:
                raise BadInputError(f"{path}: a second vector is called {vector.name}")
            found[vector.name] = vector
    return list(found.values())


def named(vectors: Sequence[Vector], name: str) -> Vector:
    """Return the vector of that name."""
    for vector in vectors:
        if vector.name == name:
            return vector
    near = [vector.name for vector in vectors if name in vector.name][:5]
    hint = f"; there are {', '.join(near)}" if near else ""
    raise BadInputError(f"no vector is called {name!r}{hint}")
