"""Where a trace comes from: a file, a compressed file, standard input, or a file that still grows."""

import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO

from guestclock.errors import BadInputError

CHUNK_BYTES = 1 << 20
LINE_MAX_BYTES = 1 << 16
"""A longer line is cut: it is none of a trace, and memory has to be bounded."""
_GZIP_MAGIC = b"\x1f\x8b"


class Gunzip:
    """Decompresses a gzip file; unlike ``gzip`` it hands out everything before a damage."""

    def __init__(self, packed: IO[bytes]) -> None:
        """Take the compressed file."""
        self._packed = packed
        self._input = b""
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def read(self, size: int) -> bytes:
        """Return 1 to ``size`` bytes, or none at the end.

        Raises:
            EOFError: the file ends within its compressed data.
            zlib.error: it is damaged.
        """
        while True:
            if self._member.eof:
                self._input = self._member.unused_data.lstrip(b"\0") or self._packed.read(size)
                if not self._input:
                    return b""
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            elif not self._input:
                self._input = self._packed.read(size >> 2)
                if not self._input:
                    raise EOFError("it ends in the middle")
            data = self._member.decompress(self._input, size)
            self._input = self._member.unconsumed_tail
            if data:
                return data


class TraceSource:
    """A trace to be read once, in chunks of whole lines.  A context manager; ``name`` is for messages."""

    def __init__(self, path: str) -> None:
        """Open ``path``, or standard input for ``-``.

        Raises:
            BadInputError: it cannot be opened.
        """
        self.name = "standard input" if path == "-" else path
        self.cut_short = ""
        """Why a compressed trace ended before its end, or empty."""
        try:
            raw = sys.stdin.buffer if path == "-" else open(path, "rb")  # noqa: SIM115 (closed by __exit__)
            self._raw: IO[bytes] = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)  # type: ignore[type-var]
            status = os.fstat(raw.fileno())
        except (OSError, io.UnsupportedOperation) as error:
            raise BadInputError(f"{self.name}: {getattr(error, 'strerror', None) or error}") from error
        self._is_file = stat.S_ISREG(status.st_mode)
        self._size = status.st_size
        self._owned = path != "-"
        self.compressed = self._peek() == _GZIP_MAGIC
        self._packed = Gunzip(self._raw) if self.compressed else None

    def __enter__(self) -> "TraceSource":
        """Return the source."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the file."""
        if self._owned:
            self._raw.close()

    def _peek(self) -> bytes:
        try:
            return self._raw.peek(2)[:2]  # type: ignore[attr-defined, no-any-return]
        except OSError as error:
            raise BadInputError(f"{self.name}: {error.strerror}") from error

    def share(self) -> float:
        """Return how much of a file has been read, 0 to 1."""
        return min(1.0, self._raw.tell() / self._size) if self._is_file and self._size else 0.0

    def chunks(self) -> Iterator[bytes]:
        """Yield the trace, each chunk ended by a newline (the last gets one if it has none)."""
        rest = b""
        for data in self._ahead() if self._is_file else iter(self._read, b""):
            whole, rest = _whole_lines(rest + data)
            if whole:
                yield whole
        if rest:
            yield rest + b"\n"

    def grown(self, wait: Callable[[], bool]) -> Iterator[bytes]:
        """Yield what there is, then what is added, until ``wait`` returns False; empty chunks in between.

        ``wait`` is called when nothing new is there.  A line counts when its newline is written.

        Raises:
            BadInputError: only a plain file can be followed; or it became shorter.
        """
        if not self._is_file or self.compressed:
            raise BadInputError(f"{self.name}: only a plain file can be watched while it grows")
        rest = b""
        while True:
            if os.fstat(self._raw.fileno()).st_size < self._raw.tell():
                raise BadInputError(f"{self.name} became shorter while it was watched: start again")
            data = self._read()
            whole, rest = _whole_lines(rest + data)
            yield whole
            if not data and not wait():
                return

    def _read(self) -> bytes:
        try:
            return (self._packed or self._raw).read(CHUNK_BYTES)
        except (EOFError, zlib.error) as error:
            self.cut_short = str(error)
            return b""
        except OSError as error:
            raise BadInputError(f"{self.name}: {error.strerror or error}") from error

    def _ahead(self) -> Iterator[bytes]:
        """Read, and decompress, one chunk ahead on another CPU."""
        with ThreadPoolExecutor(1) as reader:
            coming = reader.submit(self._read)
            while data := coming.result():
                coming = reader.submit(self._read)
                yield data


def _whole_lines(data: bytes) -> tuple[bytes, bytes]:
    """Return the whole lines of ``data``, and what comes after the last newline.

    >>> _whole_lines(b"one\\ntwo\\nthr")
    (b'one\\ntwo\\n', b'thr')
    """
    end = data.rfind(b"\n") + 1
    if not end and len(data) > LINE_MAX_BYTES:
        return data + b"\n", b""
    return data[:end], data[end:]
