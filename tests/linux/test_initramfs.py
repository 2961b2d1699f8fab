"""The initramfs archive, read back by a parser of its own."""

import stat

from hypothesis import given
from hypothesis import strategies as st

from guestclock.linux.initramfs import initramfs

HEADER = 110  # bytes: the magic, then 13 fields of 8 hexadecimal digits


def unpack(archive: bytes) -> dict[str, tuple[int, tuple[int, int], bytes]]:
    """Return name -> (mode, device, data) of a newc archive."""
    entries = {}
    offset = 0
    while True:
        assert archive[offset : offset + 6] == b"070701"
        field = [int(archive[at : at + 8], 16) for at in range(offset + 6, offset + HEADER, 8)]
        mode, size, name_size = field[1], field[6], field[11]
        name = archive[offset + HEADER : offset + HEADER + name_size - 1].decode()
        begin = (offset + HEADER + name_size + 3) // 4 * 4
        if name == "TRAILER!!!":
            assert begin == len(archive)
            return entries
        entries[name] = (mode, (field[9], field[10]), archive[begin : begin + size])
        offset = (begin + size + 3) // 4 * 4


@given(st.binary(max_size=100))
def test_what_init_needs_is_there(init: bytes) -> None:
    entries = unpack(initramfs(init))
    assert entries == {
        "dev": (stat.S_IFDIR | 0o755, (0, 0), b""),
        "dev/console": (stat.S_IFCHR | 0o600, (5, 1), b""),
        "dev/mem": (stat.S_IFCHR | 0o600, (1, 1), b""),
        "sys": (stat.S_IFDIR | 0o755, (0, 0), b""),
        "init": (stat.S_IFREG | 0o755, (0, 0), init),
    }
