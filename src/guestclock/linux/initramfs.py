"""Writes an initramfs: a cpio archive (newc) with a program as ``/init`` and the device nodes it opens.

Format: Documentation/driver-api/early-userspace/buffer-format.rst.  Device nodes are entries like any
other, so neither root nor devtmpfs is needed.  Not compressed: the loader puts it into RAM in one copy, while
the guest would take longer to inflate it than to read it.
"""

import stat

MAGIC = b"070701"


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _entry(number: int, name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    encoded = name.encode() + b"\0"
    # inode, mode, uid, gid, links, mtime, size, file system's device, node's device, name's size, checksum
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
    header = MAGIC + b"".join(b"%08X" % field for field in fields)
    return _padded(header + encoded) + _padded(data)


def initramfs(init: bytes) -> bytes:
    """Return an archive with ``init`` as ``/init``, ``/dev/console``, ``/dev/mem`` and a place for sysfs."""
    entries = (
        ("dev", stat.S_IFDIR | 0o755, b"", (0, 0)),
        ("dev/console", stat.S_IFCHR | 0o600, b"", (5, 1)),
        ("dev/mem", stat.S_IFCHR | 0o600, b"", (1, 1)),
        ("sys", stat.S_IFDIR | 0o755, b"", (0, 0)),
        ("init", stat.S_IFREG | 0o755, init, (0, 0)),
        ("TRAILER!!!", 0, b"", (0, 0)),
    )
    return b"".join(_entry(number, *entry) for number, entry in enumerate(entries, start=1))
