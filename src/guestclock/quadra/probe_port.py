# cython: annotation_typing=False, boundscheck=False, wraparound=False, cdivision=True
# ruff: noqa: F405
"""The probe port: a guest writes what its clock said, and it is logged with the exact time.

``docs/guest-protocol.md`` has its registers.
"""

import cython

from guestclock.quadra.log import Log

if not cython.compiled:  # Compiled, these are C constants: see probe_port.pxd.
    from guestclock.quadra.memory_map import *  # noqa: F403

PROBE_COLUMNS = ("guest_ns", "host_ns", "value", "tag", "calls", "ticks", "code_bytes")


class ProbePort:
    """The port's registers, and the log of what was committed."""

    def __init__(self) -> None:
        """Start with an empty log."""
        self.log = Log(len(PROBE_COLUMNS))
        self._high = 0
        self._tag = 0
        self._calls = 0
        self._ticks = 0

    def write(self, offset: int, value: int) -> None:
        """Take a write of a register that commits nothing."""
        if offset == PROBE_HIGH:
            self._high = cython.cast(cython.uint, value)
            self._high -= self._high >> 31 << 32  # the value is signed; uncompiled, nothing wraps
        elif offset == PROBE_TAG:
            self._tag = cython.cast(cython.uint, value)
        elif offset == PROBE_CALLS:
            self._calls = cython.cast(cython.uint, value)
        elif offset == PROBE_TICKS:
            self._ticks = cython.cast(cython.uint, value)

    def snapshot(self) -> tuple[int, ...]:
        """Return the registers as plain data; the log is apart."""
        return self._high, self._tag, self._calls, self._ticks

    def restore(self, state: tuple[int, ...]) -> None:
        """Take over registers that :meth:`snapshot` returned."""
        self._high, self._tag, self._calls, self._ticks = state

    def commit(self, low: int, guest_ns: int, host_ns: int, code_bytes: int) -> None:
        """Log a value, whose low word completes it."""
        row = self.log.reserve()
        self.log.chunk[row, 0] = guest_ns
        self.log.chunk[row, 1] = host_ns
        self.log.chunk[row, 2] = self._high << 32 | cython.cast(cython.uint, low)
        self.log.chunk[row, 3] = self._tag
        self.log.chunk[row, 4] = self._calls
        self.log.chunk[row, 5] = self._ticks
        self.log.chunk[row, 6] = code_bytes
