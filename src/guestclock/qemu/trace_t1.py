# cython: annotation_typing=False, boundscheck=False, wraparound=False
"""Timer 1 as the guest used it: its acknowledges, and the clock that Linux made of it.

An acknowledge is a write to IFR with bit 6 set while IER, as far as written in the trace, permits T1's
interrupt: what Linux's handler does first (``via1_irq`` of arch/m68k/mac/via.c).  An interval runs from one
to the next; writing T1CH starts a first one.

The clock is ``mac_read_clk`` of the same file: T1CH, and unless that is 00 or FF then IFR.  QEMU traces no
read of an IFR that is 0.  An IFR read that is followed by an IER read is the interrupt handler's and no part
of a clock read.
"""

from collections import Counter
from typing import Any

import cython
import numpy as np
import numpy.typing as npt

from guestclock.qemu.trace_lines import Columns

if not cython.compiled:  # C constants: see trace_t1.pxd.
    READ, WRITE = 1, 2
    T1CL, T1CH, T1LL, T1LH = 0x4, 0x5, 0x6, 0x7
    IFR, IER = 0xD, 0xE
    FLAG_T1 = 0x40
    # Linux's latch and the two cycles of the reload: 783360 Hz / 100.
    LINUX_PERIOD_CYCLES = 7833
    # Intervals have a bin for each µs up to this many; longer ones, at most one a second, are kept whole.
    BINS = 1 << 20
    NONE = -1

Integers = npt.NDArray[np.integer[Any]]
SIZES_MAX = 4096
"""Of backward steps, so many different sizes are counted one by one."""


class T1Follower:
    """Follows the accesses of a trace, in their order.

    ``histogram[us]`` and ``long_us`` hold the intervals between acknowledges; ``sizes`` the backward steps by
    size in cycles.  ``period_cycles`` is Linux's until the guest loads T1 in the trace: ``period_seen``.

    ``steps_at_reload`` came after a read of T1CH as 00 or FF: the tick had been counted, and the counter not
    yet reloaded.  ``steps_after_flag`` came after a read that added a period for a flag: that had been set
    between the reads of T1CH and of IFR.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.acknowledges = self.intervals = self.intervals_us = 0
        self.histogram = np.zeros(BINS, np.int64)
        self._bins = self.histogram
        self.long_us: list[int] = []
        self.clock_reads = self.backward_steps = self.backward_cycles = self.worst_cycles = 0
        self.worst_line = self.steps_at_reload = self.steps_after_flag = 0
        self.sizes: Counter[int] = Counter()
        self.period_cycles = LINUX_PERIOD_CYCLES
        self.period_seen = False
        self._enabled = True
        self._latch = LINUX_PERIOD_CYCLES - 2
        self._acknowledged_us = NONE
        self._high = NONE
        self._flags_read = False
        self._flags = 0
        self._read_line = 0
        self._total = self._offset = 0
        self._last = self._last_high = NONE
        self._last_offset = False

    def feed(self, columns: Columns, rows: int, first_line: int) -> None:
        """Follow the first ``rows`` of ``columns``, which are the lines from ``first_line`` on."""
        self._follow(columns[0], columns[1], columns[2], columns[3], rows, first_line)

    def _follow(  # noqa: PLR0917 (arrays get their C types as arguments)
        self, kinds: Integers, regs: Integers, values: Integers, stamps: Integers, rows: int, first_line: int
    ) -> None:
        for row in range(rows):
            kind = kinds[row]
            if kind == READ:
                self._read(int(regs[row]), int(values[row]), first_line + row)
            elif kind == WRITE:
                self.finish()
                self._write(int(regs[row]), int(values[row]), int(stamps[row]))

    def _read(self, reg: int, value: int, line: int) -> None:
        if reg == IFR and self._high not in {NONE, 0, 0xFF} and not self._flags_read:
            self._flags_read = True
            self._flags = value
            return
        if reg == IER and self._flags_read:
            self._flags = 0  # The handler's read: the clock's own saw 0 and left no line.
        self.finish()
        if reg == T1CH:
            self._high = value
            self._read_line = line

    def _write(self, reg: int, value: int, stamp_us: int) -> None:
        if reg in {T1CL, T1LL}:
            self._latch = self._latch & 0xFF00 | value
        elif reg in {T1CH, T1LH}:
            self._latch = self._latch & 0x00FF | value << 8
            if reg == T1CH:
                self._load(stamp_us)
        elif reg == IER and value & FLAG_T1:
            self._enabled = value & 0x80 != 0
            self._acknowledged_us = NONE
        elif reg == IFR and value & FLAG_T1 and self._enabled:
            self._acknowledge(stamp_us)

    def _load(self, stamp_us: int) -> None:
        self.period_cycles = self._latch + 2
        self.period_seen = True
        self._last = NONE
        self._acknowledged_us = stamp_us if self._enabled else NONE

    def _acknowledge(self, stamp_us: int) -> None:
        self.acknowledges += 1
        self._total += self.period_cycles
        self._offset = 0
        if 0 <= self._acknowledged_us <= stamp_us:
            interval_us = stamp_us - self._acknowledged_us
            self.intervals += 1
            self.intervals_us += interval_us
            if interval_us < BINS:
                self._bins[interval_us] += 1
            else:
                self.long_us.append(interval_us)
        self._acknowledged_us = stamp_us

    def finish(self) -> None:
        """End a clock read that waited for its second access; do so at the end of a trace."""
        if self._high == NONE:
            return
        high = 0 if self._high == 0xFF else self._high
        if self._flags_read and self._flags & FLAG_T1:
            self._offset = self.period_cycles
        ticks = (self.period_cycles - (high << 8) + self._offset + self._total) & 0xFFFFFFFF
        self.clock_reads += 1
        if self._last != NONE:
            step = (ticks - self._last) & 0xFFFFFFFF
            if step >= 0x80000000:
                self._step(step - 0x100000000)
        self._last = ticks
        self._last_high = high
        self._last_offset = self._offset != 0
        self._high = NONE
        self._flags_read = False
        self._flags = 0

    def _step(self, cycles: int) -> None:
        self.backward_steps += 1
        self.backward_cycles += cycles
        if self._last_high == 0:
            self.steps_at_reload += 1
        elif self._last_offset:
            self.steps_after_flag += 1
        if cycles in self.sizes or len(self.sizes) < SIZES_MAX:
            self.sizes[cycles] += 1
        if cycles < self.worst_cycles:
            self.worst_cycles = cycles
            self.worst_line = self._read_line
