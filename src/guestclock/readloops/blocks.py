"""The memory that the loops share with their caller: laid out here as ``x86_64.S`` uses it."""

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SHARED_BYTES = 192
RESULT_HEADER_BYTES = 128
_PAIR_BYTES = 16
_RESULT = struct.Struct("<10Q")
_NONE_YET = (1 << 64) - 1
_TSC_PAGE = struct.Struct("<IIQQI4x")

COST_RECORD = np.dtype([("tsc_start", "<u8"), ("cycles", "<u8"), ("value", "<u8")])
"""One batch of a cost loop: when it began, what it took, the last value read."""
LIVE_RECORD = np.dtype([("tsc", "<u8"), ("ns", "<u8"), ("version", "<u8"), ("system_time", "<u8")])
"""One read of a live page, with what it was computed from."""
SAMPLE_RECORD = np.dtype([("tsc_before", "<u8"), ("ns", "<u8"), ("tsc_after", "<u8")])
"""One look at a clock between two looks at the TSC."""

CostRecords = npt.NDArray[np.void]


def pack_shared(parties: int, patience: int = 1 << 26) -> bytes:
    """Return a fresh shared block for that many CPUs.

    ``patience`` is how many looks a CPU waits for the others before it gives up.
    """
    block = bytearray(SHARED_BYTES)
    struct.pack_into("<QQ", block, 72, parties, patience)
    return bytes(block)


def result_block(log_room: int) -> bytearray:
    """Return an empty result block with room to log that many steps."""
    block = bytearray(RESULT_HEADER_BYTES + _PAIR_BYTES * log_room)
    struct.pack_into("<5Q", block, 40, log_room, 0, _NONE_YET, 0, _NONE_YET)
    return block


@dataclass(frozen=True)
class WarpResult:
    """What one CPU saw: its reads, and the reads that were behind what any CPU had read before."""

    reads: int
    steps: int
    least: int
    worst: int
    sum: int
    ahead_sum: int
    ahead_least: int
    ahead_most: int
    log: tuple[tuple[int, int], ...]
    """The first steps: the value read before, the value read after."""

    @property
    def ahead(self) -> int:
        """How many reads were not behind."""
        return self.reads - self.steps


def parse_result(block: bytes | bytearray | memoryview) -> WarpResult:
    """Read a result block back.

    >>> parse_result(result_block(4)).reads
    0
    """
    reads, steps, worst, total, logged, _room, ahead_sum, ahead_least, ahead_most, least = (
        _RESULT.unpack_from(block)
    )
    pairs = struct.iter_unpack("<QQ", bytes(block[RESULT_HEADER_BYTES:][: logged * _PAIR_BYTES]))
    log = tuple((before, after) for before, after in pairs)
    return WarpResult(reads, steps, least, worst, total, ahead_sum, ahead_least, ahead_most, log)


def tsc_page(tsc_now: int, tsc_hz: int, base_ns: int = 0, shift: int = 22) -> bytes:
    """Return what the tsc clocksource's reader needs: good for some minutes, as the kernel's own.

    The product of a read is cut to 64 bits: with a shift of 22 the page serves for 2^42 ns.
    """
    mult = (1_000_000_000 << shift) // tsc_hz
    return _TSC_PAGE.pack(2, shift, tsc_now, base_ns, mult)
