"""Splits a guest's console into lines of the protocol and plain text, whatever bytes arrive."""

from dataclasses import dataclass

from .lines import Damaged, Line, parse_line

# A guest that sends no line end must not fill the memory: longer lines are cut.
LONGEST_LINE = 4096


@dataclass(frozen=True, slots=True)
class Text:
    """A console line that is not of the protocol."""

    text: str


Heard = Line | Damaged | Text


class ConsoleStream:
    """A stream of console bytes, fed in pieces of any size.

    >>> console = ConsoleStream()
    >>> console.feed(b"Run /init\\r\\n@gc by")
    [Text(text='Run /init')]
    >>> console.feed(b"e\\n")
    [Bye()]
    """

    def __init__(self) -> None:
        self.damaged = 0  # lines of the protocol that could not be understood
        self._rest = b""

    def feed(self, data: bytes) -> list[Heard]:
        """Return the lines that ``data`` completes, in order."""
        *complete, self._rest = (self._rest + data).split(b"\n")
        lines = [piece for line in complete for piece in _pieces(line)]
        *cut, self._rest = _pieces(self._rest)
        return [self._heard(line) for line in (*lines, *cut)]

    def finish(self) -> list[Heard]:
        """Return what had no line end when the console closed."""
        rest, self._rest = self._rest, b""
        return [self._heard(rest)] if rest else []

    def _heard(self, raw: bytes) -> Heard:
        text = raw.removesuffix(b"\r").decode(errors="replace")
        line = parse_line(text)
        self.damaged += isinstance(line, Damaged)
        return Text(text) if line is None else line


def _pieces(line: bytes) -> list[bytes]:
    return [line[start : start + LONGEST_LINE] for start in range(0, len(line), LONGEST_LINE)] or [b""]
