# cython: annotation_typing=False, boundscheck=False, wraparound=False
"""Storms of recomputation: a timer whose next interrupt QEMU computes anew at nearly every access.

Each is a line ``mos6522_get_next_irq_time``.  The lines do not name the timer; its latch tells them apart.
"""

import cython
import numpy as np
import numpy.typing as npt

from guestclock.qemu.trace_lines import Columns

if not cython.compiled:  # C constants: see trace_storms.pxd.
    READ, WRITE, RECOMPUTE = 1, 2, 3
    LATCHES = 65536
    # Two recomputations with at most so many accesses from one to the other belong to one run …
    NEAR_ACCESSES = 2
STORM_LINES = 64
"""A run of so many is a storm."""


class Storms:
    """Counts recomputations: ``lines[latch]`` all, ``storm_lines`` those in storms that have ended.

    ``run[latch]`` is the length of the run that has not ended yet.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.lines = np.zeros(LATCHES, np.int64)
        self.run = np.zeros(LATCHES, np.int64)
        self.storms = self.storm_lines = self.longest_lines = 0
        self._storm_at = STORM_LINES
        self._accesses = 0
        self._lines = self.lines
        self._run = self.run
        self._seen = np.zeros(LATCHES, np.int64)

    def feed(self, columns: Columns, rows: int) -> None:
        """Follow the first ``rows`` of ``columns``."""
        self._follow(columns[0], columns[2], rows)

    def _follow(self, kinds: npt.NDArray[np.uint8], values: npt.NDArray[np.int64], rows: int) -> None:
        for row in range(rows):
            if kinds[row] == READ or kinds[row] == WRITE:
                self._accesses += 1
            elif kinds[row] == RECOMPUTE:
                latch = values[row]
                if self._accesses - self._seen[latch] > NEAR_ACCESSES:
                    self._end(latch)
                self._seen[latch] = self._accesses
                self._run[latch] += 1
                self._lines[latch] += 1

    def _end(self, latch: int) -> None:
        run = self._run[latch]
        if run >= self._storm_at:
            self.storms += 1
            self.storm_lines += run
            self.longest_lines = max(self.longest_lines, run)
        self._run[latch] = 0
