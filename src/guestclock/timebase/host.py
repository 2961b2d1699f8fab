# cython: annotation_typing=False, cdivision=True
"""Host clocks: what a machine follows.  Time is injected: nothing else asks for it.

A host clock tells ns since the machine started, given how much guest code has run by then.  The real one
ignores the code; the simulated one advances with it, so that a run is reproducible to the byte.  Both
suffer the stalls of a schedule (:mod:`guestclock.timebase.stalls`): spans in which the guest does not run.
"""

import time
from collections.abc import Iterator
from typing import Any

import cython

if cython.compiled:  # C constants: see host.pxd.
    from cython.cimports.posix.time import CLOCK_MONOTONIC, clock_gettime, nanosleep, timespec
else:
    NS_PER_S = 1_000_000_000
    # A sleep ends late by up to this much, so the last part of a wait spins.
    SPIN_NS = 100_000

NO_STALL = 2**63 - 1
# What one look at the clock costs a simulated machine: about what leaving translated code for a device does.
LOOK_NS = 50


def monotonic_ns() -> int:
    """Read CLOCK_MONOTONIC: the one place that does."""
    if cython.compiled:
        now = cython.declare(timespec)
        clock_gettime(CLOCK_MONOTONIC, cython.address(now))
        return now.tv_sec * NS_PER_S + now.tv_nsec
    return time.monotonic_ns()


def sleep_ns(length_ns: int) -> None:
    """Sleep; a signal may end it early."""
    if cython.compiled:
        span = cython.declare(timespec)
        span.tv_sec = length_ns // NS_PER_S
        span.tv_nsec = length_ns % NS_PER_S
        nanosleep(cython.address(span), cython.NULL)
    else:
        time.sleep(length_ns / NS_PER_S)


class HostClock:
    """Base of the host clocks; ``suffered`` lists the stalls so far as ``(at_ns, for_ns)``."""

    def __init__(self, stalls: Iterator[tuple[int, int]] | None = None) -> None:
        """Take a schedule of stalls, in order."""
        self._stalls = iter(()) if stalls is None else stalls
        self.suffered: list[tuple[int, int]] = []
        self._next_stall()

    def _next_stall(self) -> None:
        with cython.gil:
            self._stall_at_ns, self._stall_for_ns = next(self._stalls, (NO_STALL, 0))

    def now(self, code_bytes: int) -> int:
        """Return host ns, after ``code_bytes`` of guest code."""
        return 0

    def wait_until(self, code_bytes: int, until_ns: int) -> int:
        """Let host time pass until ``until_ns`` while the guest waits; return host ns then."""
        return until_ns

    def read_ns(self, code_bytes: int) -> int:
        """Return :meth:`now`; callable from Python on both builds."""
        return self.now(code_bytes)

    def pass_until(self, code_bytes: int, until_ns: int) -> int:
        """Do :meth:`wait_until`; callable from Python on both builds."""
        return self.wait_until(code_bytes, until_ns)

    def snapshot(self) -> dict[str, Any]:
        """Return what the clock shows, and the stalls so far, as plain data."""
        return {"suffered": list(self.suffered)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`snapshot` saw, as if no time had passed since.

        The clock is that same one, or a new one with the same schedule of stalls, which are suffered once.
        """
        for _ in range(len(state["suffered"]) - len(self.suffered)):
            self._next_stall()
        self.suffered = [(at_ns, for_ns) for at_ns, for_ns in state["suffered"]]


class RealHost(HostClock):
    """This host's CLOCK_MONOTONIC since the object was made.  A stall really sleeps."""

    def __init__(self, stalls: Iterator[tuple[int, int]] | None = None) -> None:
        """Take a schedule of stalls; time starts now."""
        super().__init__(stalls)
        self._zero_ns = monotonic_ns()

    def now(self, code_bytes: int) -> int:
        """Return host ns; sleep first if a stall has begun."""
        now_ns = cython.declare(cython.longlong, monotonic_ns() - self._zero_ns)
        while now_ns >= self._stall_at_ns:
            end_ns = cython.declare(cython.longlong, now_ns + self._stall_for_ns)
            with cython.gil:
                self.suffered.append((now_ns, self._stall_for_ns))
            while now_ns < end_ns:
                sleep_ns(end_ns - now_ns)
                now_ns = monotonic_ns() - self._zero_ns
            self._next_stall()
        return now_ns

    def wait_until(self, code_bytes: int, until_ns: int) -> int:
        """Sleep, then spin, until ``until_ns``."""
        now_ns = cython.declare(cython.longlong, self.now(code_bytes))
        while now_ns < until_ns:
            if until_ns - now_ns > SPIN_NS:
                sleep_ns(until_ns - now_ns - SPIN_NS // 2)
            now_ns = self.now(code_bytes)
        return now_ns

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return HostClock.snapshot(self) | {"shown_ns": monotonic_ns() - self._zero_ns}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`snapshot` saw."""
        HostClock.restore(self, state)
        self._zero_ns = monotonic_ns() - state["shown_ns"]


class SimulatedHost(HostClock):
    """A host on which each byte of guest code takes ``ps_per_byte`` picoseconds and waiting takes no effort.

    Each look at the clock takes ``look_ns``, so that time passes, and a stall may begin, between two accesses
    of one block of code too: on a real host nothing keeps a stall from falling there.

    >>> host = SimulatedHost(iter([(1_000, 500)]), ps_per_byte=2_000)
    >>> [host.read_ns(code_bytes) for code_bytes in (499, 500, 600)]
    [998, 1500, 1700]
    """

    def __init__(
        self,
        stalls: Iterator[tuple[int, int]] | None = None,
        *,
        ps_per_byte: int = 2_000,
        look_ns: int = 0,
    ) -> None:
        """Take a schedule of stalls and the speed of code (2 ns a byte is a fast host's) and of looks."""
        super().__init__(stalls)
        self.ps_per_byte = ps_per_byte
        self.look_ns = look_ns
        self._offset_ns = 0

    def now(self, code_bytes: int) -> int:
        """Return host ns: a stall that begins while code runs delays all that follows."""
        self._offset_ns += self.look_ns
        now_ns = cython.declare(cython.longlong, self._offset_ns + code_bytes * self.ps_per_byte // 1000)
        while now_ns >= self._stall_at_ns:
            now_ns += self._stall_for_ns
            self._offset_ns += self._stall_for_ns
            self._record()
        return now_ns

    def wait_until(self, code_bytes: int, until_ns: int) -> int:
        """Let time pass at once: a stall that begins meanwhile delays only what it outlasts."""
        now_ns = cython.declare(cython.longlong, self.now(code_bytes))
        wake_ns = cython.declare(cython.longlong, until_ns)
        while wake_ns > now_ns and wake_ns >= self._stall_at_ns:
            wake_ns = max(wake_ns, self._stall_at_ns + self._stall_for_ns)
            self._record()
        if wake_ns > now_ns:
            self._offset_ns += wake_ns - now_ns
            now_ns = wake_ns
        return now_ns

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return HostClock.snapshot(self) | {"offset_ns": self._offset_ns}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`snapshot` saw."""
        HostClock.restore(self, state)
        self._offset_ns = state["offset_ns"]

    def _record(self) -> None:
        with cython.gil:
            self.suffered.append((self._stall_at_ns, self._stall_for_ns))
        self._next_stall()
