"""The machine code: the bytes are those of the source, and the directory finds its functions."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock import readloops
from guestclock.errors import BadInputError
from guestclock.readloops import SHAPES, Image, pack_shared, parse_result, result_block

HERE = Path(readloops.__file__).parent


def test_the_bytes_are_the_assembled_source(tmp_path: Path) -> None:
    target, flat = tmp_path / "loops.o", tmp_path / "loops.bin"
    subprocess.run(["as", "--64", "-o", target, HERE / "x86_64.S"], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", target, flat], check=True)
    assert flat.read_bytes() == (HERE / "x86_64.bin").read_bytes()


def test_every_shape_has_its_loops() -> None:
    offsets = readloops.load().offsets
    for shape in SHAPES:
        assert {f"cost_{shape.name}", f"warp_{shape.name}"} <= set(offsets)
    assert all(offset % 64 == 0 for offset in offsets.values())


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (b"", "0 bytes"),
        (b"GCLOOPS1" + (9).to_bytes(8, "little"), "9 functions"),
        (b"x" * 64, "bad magic"),
    ],
)
def test_what_is_no_image_is_refused(code: bytes, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        Image.parse(code)


@given(
    figures=st.lists(st.integers(0, 2**64 - 1), min_size=8, max_size=8),
    log=st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), max_size=4),
)
def test_a_result_block_says_what_a_loop_wrote(figures: list[int], log: list[tuple[int, int]]) -> None:
    """Written here as the source lays it out: READS … LEAST at their offsets, then the log."""
    block = result_block(4)
    reads, steps, worst, total, ahead_sum, ahead_least, ahead_most, least = figures
    by_offset = {0: reads, 8: steps, 16: worst, 24: total, 32: len(log), 48: ahead_sum, 56: ahead_least}
    by_offset |= {64: ahead_most, 72: least}
    for offset, value in by_offset.items():
        block[offset : offset + 8] = value.to_bytes(8, "little")
    for index, (before, after) in enumerate(log):
        pair = before.to_bytes(8, "little") + after.to_bytes(8, "little")
        block[128 + 16 * index : 144 + 16 * index] = pair
    result = parse_result(block)
    assert (result.reads, result.steps, result.worst, result.sum) == (reads, steps, worst, total)
    assert (result.ahead_sum, result.ahead_least, result.ahead_most) == (ahead_sum, ahead_least, ahead_most)
    assert (result.least, result.log) == (least, tuple(log))
    assert result.ahead == reads - steps


def test_the_shared_block_is_as_the_source_has_it() -> None:
    block = pack_shared(2, patience=77)
    assert len(block) == 192
    assert block[72:80] == (2).to_bytes(8, "little")
    assert block[80:88] == (77).to_bytes(8, "little")
    assert not any(block[:72])
    assert not any(block[88:])
