# cython: annotation_typing=False, boundscheck=False, wraparound=False, cdivision=True
"""A machine's log: rows of integers, appended without the interpreter."""

import cython
import numpy as np
import numpy.typing as npt

if not cython.compiled:  # Compiled, this is a C constant: see log.pxd.
    LOG_ROWS = 4096


class Log:
    """Rows of 64-bit integers, appended at native speed."""

    def __init__(self, columns: int) -> None:
        """Take the number of columns."""
        self.columns = columns
        self.count = 0
        self._full: list[npt.NDArray[np.int64]] = []
        self.chunk = np.zeros((LOG_ROWS, columns), dtype=np.int64)

    def reserve(self) -> int:
        """Return the index of a free row of the current chunk."""
        row = cython.declare(cython.longlong, self.count % LOG_ROWS)
        if row == 0 and self.count > 0:
            self._grow()
        self.count += 1
        return row

    def _grow(self) -> None:
        with cython.gil:
            self._full.append(np.array(self.chunk))

    def last(self, column: int) -> int:
        """Return a value of the newest row; there must be one."""
        return int(self.chunk[(self.count - 1) % LOG_ROWS, column])

    def restore(self, rows: npt.NDArray[np.int64]) -> None:
        """Become a log of these rows, as :meth:`rows` returned them."""
        self.count = len(rows)
        whole = max(self.count - 1, 0) // LOG_ROWS * LOG_ROWS
        self._full = [np.array(rows[start : start + LOG_ROWS]) for start in range(0, whole, LOG_ROWS)]
        np.asarray(self.chunk)[: self.count - whole] = rows[whole:]

    def rows(self) -> npt.NDArray[np.int64]:
        """Return all rows so far, an array of shape (rows, columns)."""
        used = self.count - LOG_ROWS * len(self._full)
        return np.concatenate([*self._full, np.asarray(self.chunk)[:used]])
