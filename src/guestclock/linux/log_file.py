"""The lines of a kernel log: a file, compressed or not, or standard input."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from typing import IO

from guestclock.errors import BadInputError

LINE_MAX_BYTES = 1 << 16
_GZIP_MAGIC = b"\x1f\x8b"


def log_lines(path: str) -> Iterator[str]:
    """Yield the lines of ``path``, or of standard input for ``-``; bytes that are no text are escaped.

    Raises:
        BadInputError: it cannot be read.
    """
    name = "standard input" if path == "-" else path
    try:
        if path == "-":
            yield from _decoded(sys.stdin.buffer)
            return
        with open(path, "rb") as file:
            packed = file.read(2) == _GZIP_MAGIC
            file.seek(0)
            yield from _decoded(gzip.GzipFile(fileobj=file) if packed else file)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInputError(f"{name}: {getattr(error, 'strerror', None) or error}") from error


def _decoded(lines: IO[bytes] | gzip.GzipFile) -> Iterator[str]:
    while line := lines.readline(LINE_MAX_BYTES):
        yield line.decode(errors="backslashreplace")
