# cython: annotation_typing=False, boundscheck=False, wraparound=False, cdivision=True
"""Boards that remember the guest's last accesses, and stop behind one: for a second look at a run.

A machine that is only measured is made of the boards without this.
"""

from collections.abc import Callable

import cython
import numpy as np
import numpy.typing as npt

from guestclock.chips.mac_rtc import MacRtc
from guestclock.chips.qemu_deviations import Deviation
from guestclock.quadra.board import QuadraBoard
from guestclock.quadra.bus import FastBus, Phi2Bus
from guestclock.quadra.qemu_bus import QemuBus
from guestclock.timebase.pacing import Pacer

if not cython.compiled:  # Compiled, these are C constants: see traced.pxd.
    from guestclock.chips.registers import NEVER

    TRACE_ROWS = 1024

TRACE_COLUMNS = ("number", "write", "address", "value", "guest_ns", "host_ns", "code_bytes", "level")
NO_STOP = 2**63 - 1


class AccessTrace:
    """A ring of accesses, numbered from 1, and where to stop the machine."""

    def __init__(
        self,
        *,
        stop_after: int = NO_STOP,
        until_bytes: int = NO_STOP,
        on_stop: Callable[[], None] = lambda: None,
    ) -> None:
        """Stop behind the access of that number, or behind the first after so much code.

        ``on_stop`` is called at once, when the access is over: the guest's code goes on to the end of its
        block.
        """
        self.count = 0
        self.stop_after = stop_after
        self.until_bytes = until_bytes
        self.on_stop = on_stop
        self._ring = np.zeros((TRACE_ROWS, len(TRACE_COLUMNS)), dtype=np.int64)

    def note(self, board: QuadraBoard, write: bool, address: int, value: int) -> None:
        """Remember an access that is over."""
        row = self.count % TRACE_ROWS
        code_bytes = board.granted_bytes - board.budget_bytes
        self.count += 1
        self._ring[row, 0] = self.count
        self._ring[row, 1] = write
        self._ring[row, 2] = address
        self._ring[row, 3] = value
        self._ring[row, 4] = board.pacer.guest_ns
        self._ring[row, 5] = board.pacer.host_ns
        self._ring[row, 6] = code_bytes
        self._ring[row, 7] = board.irq_level
        if self.count == self.stop_after or code_bytes > self.until_bytes:
            self._stop(board)

    def _stop(self, board: QuadraBoard) -> None:
        self.until_bytes = NEVER
        board.stop_requested = True
        board.granted_bytes -= board.budget_bytes
        board.budget_bytes = 0
        with cython.gil:
            try:
                self.on_stop()
            except BaseException as error:
                board._fail(error)

    def rows(self) -> npt.NDArray[np.int64]:
        """Return the accesses that are remembered, oldest first: an array of shape (rows, columns)."""
        ring = np.asarray(self._ring)
        first = self.count % TRACE_ROWS
        in_order = np.concatenate([ring[first:], ring[:first]])
        return in_order[TRACE_ROWS - min(self.count, TRACE_ROWS) :]


class TracedPhi2Bus(Phi2Bus):
    """:class:`~guestclock.quadra.bus.Phi2Bus` with a trace."""

    def __init__(
        self, trace: AccessTrace, pacer: Pacer, rtc: MacRtc, transmitted: Callable[[int, int], None]
    ) -> None:
        """Take the trace, and what the board takes."""
        super().__init__(pacer, rtc, transmitted)
        self.trace = trace

    def io_read(self, address: int, size: int) -> int:
        """Answer a read, and remember it."""
        value = cython.declare(cython.ulonglong, Phi2Bus.io_read(self, address, size))
        self.trace.note(self, False, address, value)
        return value

    def io_write(self, address: int, size: int, value: int) -> None:
        """Take a write, and remember it."""
        Phi2Bus.io_write(self, address, size, value)
        self.trace.note(self, True, address, value)


class TracedFastBus(FastBus):
    """:class:`~guestclock.quadra.bus.FastBus` with a trace."""

    def __init__(
        self, trace: AccessTrace, pacer: Pacer, rtc: MacRtc, transmitted: Callable[[int, int], None]
    ) -> None:
        """Take the trace, and what the board takes."""
        super().__init__(pacer, rtc, transmitted)
        self.trace = trace

    def io_read(self, address: int, size: int) -> int:
        """Answer a read, and remember it."""
        value = cython.declare(cython.ulonglong, FastBus.io_read(self, address, size))
        self.trace.note(self, False, address, value)
        return value

    def io_write(self, address: int, size: int, value: int) -> None:
        """Take a write, and remember it."""
        FastBus.io_write(self, address, size, value)
        self.trace.note(self, True, address, value)


class TracedQemuBus(QemuBus):
    """:class:`~guestclock.quadra.qemu_bus.QemuBus` with a trace."""

    def __init__(
        self,
        trace: AccessTrace,
        deviations: Deviation,
        pacer: Pacer,
        rtc: MacRtc,
        transmitted: Callable[[int, int], None],
    ) -> None:
        """Take the trace, and what the board takes."""
        super().__init__(deviations, pacer, rtc, transmitted)
        self.trace = trace

    def io_read(self, address: int, size: int) -> int:
        """Answer a read, and remember it."""
        value = cython.declare(cython.ulonglong, QemuBus.io_read(self, address, size))
        self.trace.note(self, False, address, value)
        return value

    def io_write(self, address: int, size: int, value: int) -> None:
        """Take a write, and remember it."""
        QemuBus.io_write(self, address, size, value)
        self.trace.note(self, True, address, value)
