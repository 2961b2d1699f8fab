"""Where the time went: from each line of a stamped trace to the next."""

import numpy as np
import numpy.typing as npt

from guestclock.qemu.trace_kinds import Kind
from guestclock.qemu.trace_lines import Columns

KEYS = 16 * len(Kind)
PAUSE_US = 1000
"""A longer gap is a pause: the guest did something else than access its timer."""
_BINS = PAUSE_US + 2  # 0 … PAUSE_US, and the pauses


class Gaps:
    """Time since the line before, by what the line is.

    ``histogram[kind * 16 + register, us]``; column ``PAUSE_US + 1`` counts the pauses.

    QEMU writes the line of a read when the read has its value, so the gap before it is an upper bound on its
    cost; the line of a write when that begins.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.histogram = np.zeros((KEYS, _BINS), np.int64)
        self.first_us: int | None = None
        self.last_us = 0
        self.stamps_back = 0

    def feed(self, columns: Columns, rows: int) -> None:
        """Take the first ``rows`` of ``columns``; lines without a stamp are passed over."""
        stamped = (columns.stamp_us[:rows] >= 0) & (columns.kind[:rows] != Kind.DAMAGED)
        stamps = columns.stamp_us[:rows][stamped]
        if not stamps.size:
            return
        keys = columns.kind[:rows][stamped].astype(np.int64) * 16 + columns.reg[:rows][stamped]
        if self.first_us is None:
            self.first_us = int(stamps[0])
            gaps, keys = np.diff(stamps), keys[1:]
        else:
            gaps = np.diff(stamps, prepend=np.int64(self.last_us))
        self.last_us = int(stamps[-1])
        forward = gaps >= 0
        self.stamps_back += int(gaps.size - np.count_nonzero(forward))
        bins = keys[forward] * _BINS + np.minimum(gaps[forward], PAUSE_US + 1)
        self.histogram += np.bincount(bins, minlength=KEYS * _BINS).reshape(KEYS, _BINS)


def rank(percent: int, count: int) -> int:
    """Return the rank of a percentile among ``count`` values, 1 the smallest (nearest rank).

    >>> rank(50, 4), rank(99, 4), rank(99, 100)
    (2, 4, 99)
    """
    return max(1, -(-count * percent // 100))


def at_rank(histogram: npt.NDArray[np.int64], rank: int) -> int:
    """Return the bin that the value of this rank lies in.

    >>> at_rank(np.array([0, 3, 0, 1]), 3), at_rank(np.array([0, 3, 0, 1]), 4)
    (1, 3)
    """
    return int(np.searchsorted(np.cumsum(histogram), rank))
