"""Reads boot records one byte at a time, as slow and plain as can be."""


def parse(content: bytes) -> dict[int, list[int]]:
    """Return tag -> data bytes of a chain that must end exactly at BI_LAST, without a tag twice."""
    found: dict[int, list[int]] = {}
    left = list(content)
    while True:
        tag = left[0] * 256 + left[1]
        size = left[2] * 256 + left[3]
        assert size >= 4, f"record {tag:#x} is shorter than its own header"
        assert len(left) >= size, f"record {tag:#x} reaches behind the end"
        assert tag not in found, f"record {tag:#x} comes twice"
        found[tag] = left[4:size]
        left = left[size:]
        if tag == 0:
            assert size == 4
            assert not left, "something follows BI_LAST"
            return found


def words(found: dict[int, list[int]], tag: int) -> list[int]:
    """Return a record's data as 32-bit words."""
    data = found[tag]
    assert len(data) % 4 == 0
    return [
        data[i] * 2**24 + data[i + 1] * 2**16 + data[i + 2] * 2**8 + data[i + 3]
        for i in range(0, len(data), 4)
    ]


def number(found: dict[int, list[int]], tag: int) -> int:
    """Return the one word of a record."""
    (value,) = words(found, tag)
    return value


def text(found: dict[int, list[int]]) -> str:
    """Return the command line up to its first NUL, which must be there."""
    data = found[7]
    return "".join(chr(byte) for byte in data[: data.index(0)])
