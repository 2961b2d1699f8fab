"""Writes an initramfs: a cpio archive (newc) with a program as ``/init`` and the device nodes it opens.

Format: Documentation/driver-api/early-userspace/buffer-format.rst.  Device nodes are entries like any
other, so neither root nor devtmpfs is needed.  Not compressed: the loader puts it into RAM in one copy, while
the guest would take longer to inflate it than to read it.
"""

import stat
from collections.abc import Iterable
from dataclasses import dataclass

MAGIC = b"070701"


@dataclass(frozen=True)
class Entry:
    """A file, directory, device node (``device``: major, minor) or link (``data``: where it leads)."""

    name: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _packed(number: int, entry: Entry) -> bytes:
    encoded, data = entry.name.encode() + b"\0", entry.data
    # inode, mode, uid, gid, links, mtime, size, file system's device, node's device, name's size, checksum
    fields = (number, entry.mode, 0, 0, 1, 0, len(data), 0, 0, *entry.device, len(encoded), 0)
    header = MAGIC + b"".join(b"%08X" % field for field in fields)
    return _padded(header + encoded) + _padded(data)


def archive(entries: Iterable[Entry]) -> bytes:
    """Return an archive of these entries; a directory stands before what is in it."""
    numbered = enumerate((*entries, Entry("TRAILER!!!", 0)), start=1)
    return b"".join(_packed(number, entry) for number, entry in numbered)


def initramfs(init: bytes) -> bytes:
    """Return an archive with ``init`` as ``/init``, ``/dev/console``, ``/dev/mem`` and a place for sysfs."""
    return archive(
        [
            Entry("dev", stat.S_IFDIR | 0o755),
            Entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1)),
            Entry("dev/mem", stat.S_IFCHR | 0o600, device=(1, 1)),
            Entry("sys", stat.S_IFDIR | 0o755),
            Entry("init", stat.S_IFREG | 0o755, init),
        ]
    )
