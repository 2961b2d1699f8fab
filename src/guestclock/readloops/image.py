"""The assembled image and the directory of functions at its start."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from guestclock.errors import BadInputError

MAGIC = b"GCLOOPS1"
_HEADER = struct.Struct("<8sQ")
_ENTRY = struct.Struct("<I28s")


@dataclass(frozen=True)
class Image:
    """Machine code and where each of its functions starts."""

    code: bytes
    offsets: Mapping[str, int]

    @classmethod
    def parse(cls, code: bytes) -> "Image":
        """Read the directory; BadInputError when it is not one.

        >>> Image.parse(b"GCLOOPS0" + bytes(8))
        Traceback (most recent call last):
            ...
        guestclock.errors.BadInputError: read loops: bad magic b'GCLOOPS0': reinstall guestclock
        """
        if len(code) < _HEADER.size:
            raise BadInputError(f"read loops: {len(code)} bytes are no image: reinstall guestclock")
        magic, count = _HEADER.unpack_from(code)
        if magic != MAGIC:
            raise BadInputError(f"read loops: bad magic {magic!r}: reinstall guestclock")
        if _HEADER.size + count * _ENTRY.size > len(code):
            raise BadInputError(f"read loops: {count} functions in {len(code)} bytes: reinstall guestclock")
        offsets = {}
        for index in range(count):
            offset, name = _ENTRY.unpack_from(code, _HEADER.size + index * _ENTRY.size)
            offsets[name.rstrip(b"\0").decode("ascii")] = offset
        return cls(code, MappingProxyType(offsets))

    def offset(self, function: str) -> int:
        """Return where a function starts, in bytes from the start of the image."""
        return self.offsets[function]


@cache
def load() -> Image:
    """Return the x86-64 image that comes with the package."""
    return Image.parse((files(__package__) / "x86_64.bin").read_bytes())
