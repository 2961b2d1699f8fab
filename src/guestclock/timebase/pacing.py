# cython: annotation_typing=False, cdivision=True
"""What makes guest time advance: the three pacings (docs/architecture.md, "Guest time").

A pacer is told how much guest code has run (``code_bytes``, since the machine started) and keeps guest
time ``guest_ns`` and host time ``host_ns``.  Guest time never goes back, whatever the pacing.
"""

from typing import Any

import cython

from guestclock.timebase.host import HostClock

# Code between two looks at the clock, at most (K): a few microseconds of a fast host.
QUANTUM_BYTES = 4096
# The fastest that guest time may follow the host (R_max).  A 100 Hz tick then has at least 100 kB of code.
NS_PER_BYTE_MAX = 100
# The speed of virtual time: about a 33 MHz 68040, 2.6 bytes an instruction.
VIRTUAL_PS_PER_BYTE = 16_000

if not cython.compiled:  # C constants: see pacing.pxd.
    # A wait is cut into pieces of this length, so that console input and Ctrl-C are seen.
    IDLE_NS = 10_000_000
    BUDGET_MAX_BYTES = 1 << 22


class Pacer:
    """Base of the pacings.

    ``largest_step_ns`` is the largest single advance of guest time while code ran; ``largest_lag_ns`` the
    furthest that guest time was behind the host.
    """

    def __init__(self) -> None:
        """Start at 0."""
        self.guest_ns = 0
        self.host_ns = 0
        self.largest_step_ns = 0
        self.largest_lag_ns = 0

    def follow(self, code_bytes: int) -> None:
        """Advance guest time by what the code executed up to ``code_bytes`` carries."""

    def charge_until(self, code_bytes: int, guest_ns: int) -> None:
        """Let a bus access take until ``guest_ns``; wait for the host where guest time may not be ahead."""

    def room_ns(self) -> int:
        """Return how much a bus access may take before guest time is ahead of the host."""
        return 0

    def budget_bytes(self, until_ns: int) -> int:
        """Return how much code may run before the machine looks whether it is ``until_ns``."""
        return BUDGET_MAX_BYTES

    def idle_until(self, code_bytes: int, event_ns: int) -> None:
        """Let a stopped CPU wait for the event at ``event_ns``, or for less."""

    def step(self, code_bytes: int) -> int:
        """Do :meth:`follow` and return guest ns; callable from Python on both builds."""
        self.follow(code_bytes)
        return self.guest_ns

    def charge(self, code_bytes: int, guest_ns: int) -> int:
        """Do :meth:`charge_until` and return guest ns; callable from Python on both builds."""
        self.charge_until(code_bytes, guest_ns)
        return self.guest_ns

    def idle(self, code_bytes: int, event_ns: int) -> int:
        """Do :meth:`idle_until` and return guest ns; callable from Python on both builds."""
        self.idle_until(code_bytes, event_ns)
        return self.guest_ns

    def budget(self, until_ns: int) -> int:
        """Return :meth:`budget_bytes`; callable from Python on both builds."""
        return self.budget_bytes(until_ns)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data, that of the host clock included."""
        return {
            "guest_ns": self.guest_ns,
            "host_ns": self.host_ns,
            "largest_step_ns": self.largest_step_ns,
            "largest_lag_ns": self.largest_lag_ns,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Become what :meth:`snapshot` saw; a host clock goes on from what it showed then."""
        self.guest_ns = state["guest_ns"]
        self.host_ns = state["host_ns"]
        self.largest_step_ns = state["largest_step_ns"]
        self.largest_lag_ns = state["largest_lag_ns"]


class VirtualPacer(Pacer):
    """Time is executed code, bus costs and idle skipped; the host plays no part: host time is guest time."""

    def __init__(self, ps_per_byte: int = VIRTUAL_PS_PER_BYTE) -> None:
        """Take the speed of code in picoseconds a byte."""
        super().__init__()
        self.ps_per_byte = ps_per_byte
        self._skipped_ns = 0

    def follow(self, code_bytes: int) -> None:
        """Advance to the time of the code."""
        now_ns = cython.declare(cython.longlong, code_bytes * self.ps_per_byte // 1000 + self._skipped_ns)
        self.largest_step_ns = max(self.largest_step_ns, now_ns - self.guest_ns)
        self.guest_ns = now_ns
        self.host_ns = now_ns

    def charge_until(self, code_bytes: int, guest_ns: int) -> None:
        """Skip to ``guest_ns``."""
        self._skipped_ns += guest_ns - self.guest_ns
        self.guest_ns = guest_ns
        self.host_ns = guest_ns

    def budget_bytes(self, until_ns: int) -> int:
        """Return the code that fills the time until ``until_ns``, rounded up."""
        left_ns = cython.declare(cython.longlong, until_ns - self.guest_ns)
        if left_ns > BUDGET_MAX_BYTES * self.ps_per_byte // 1000:
            return BUDGET_MAX_BYTES
        if left_ns <= 0:
            return 0
        return (left_ns * 1000 + self.ps_per_byte - 1) // self.ps_per_byte

    def idle_until(self, code_bytes: int, event_ns: int) -> None:
        """Skip to the event, from where the code has got to."""
        self.follow(code_bytes)
        if event_ns > self.guest_ns:
            self.charge_until(code_bytes, event_ns)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return Pacer.snapshot(self) | {"skipped_ns": self._skipped_ns}

    def restore(self, state: dict[str, Any]) -> None:
        """Become what :meth:`snapshot` saw."""
        Pacer.restore(self, state)
        self._skipped_ns = state["skipped_ns"]


class PacedPacer(Pacer):
    """A follower of the host that never steps further than the code just executed may carry."""

    def __init__(
        self,
        host: HostClock,
        *,
        ns_per_byte_max: int = NS_PER_BYTE_MAX,
        quantum_bytes: int = QUANTUM_BYTES,
    ) -> None:
        """Take the host clock, R_max and K."""
        super().__init__()
        self.host = host
        self.ns_per_byte_max = ns_per_byte_max
        self.quantum_bytes = quantum_bytes
        self._followed_bytes = 0

    def follow(self, code_bytes: int) -> None:
        """Advance by min(max(h - g, 0), bytes * R_max)."""
        self.host_ns = self.host.now(code_bytes)
        step_ns = cython.declare(cython.longlong, self.host_ns - self.guest_ns)
        if step_ns > 0:
            carried_ns = cython.declare(
                cython.longlong, (code_bytes - self._followed_bytes) * self.ns_per_byte_max
            )
            if step_ns > carried_ns:
                self.largest_lag_ns = max(self.largest_lag_ns, step_ns)
                step_ns = carried_ns
            self.largest_step_ns = max(self.largest_step_ns, step_ns)
            self.guest_ns += step_ns
        self._followed_bytes = code_bytes

    def charge_until(self, code_bytes: int, guest_ns: int) -> None:
        """Advance, then wait until the host is there too."""
        self.guest_ns = guest_ns
        if guest_ns > self.host_ns:
            self.host_ns = self.host.wait_until(code_bytes, guest_ns)

    def room_ns(self) -> int:
        """Return how far guest time is behind the host."""
        return self.host_ns - self.guest_ns

    def budget_bytes(self, until_ns: int) -> int:
        """Return K: how far the host has got is known only by looking."""
        return self.quantum_bytes

    def idle_until(self, code_bytes: int, event_ns: int) -> None:
        """Jump to the event if the host is past it; else wait for the host."""
        self.host_ns = self.host.now(code_bytes)
        if self.host_ns < event_ns:
            wake_ns = cython.declare(cython.longlong, self.host_ns + IDLE_NS)
            self.host_ns = self.host.wait_until(code_bytes, event_ns if event_ns < wake_ns else wake_ns)
        target_ns = cython.declare(cython.longlong, event_ns if event_ns < self.host_ns else self.host_ns)
        self.guest_ns = max(self.guest_ns, target_ns)
        self._followed_bytes = code_bytes

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return Pacer.snapshot(self) | {
            "followed_bytes": self._followed_bytes,
            "host": self.host.snapshot(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Become what :meth:`snapshot` saw."""
        Pacer.restore(self, state)
        self._followed_bytes = state["followed_bytes"]
        self.host.restore(state["host"])


class HostPacer(Pacer):
    """Raw host time, as emulators do by default: late interrupts and stalls hit the guest unfiltered."""

    def __init__(self, host: HostClock, *, quantum_bytes: int = QUANTUM_BYTES) -> None:
        """Take the host clock and K."""
        super().__init__()
        self.host = host
        self.quantum_bytes = quantum_bytes

    def follow(self, code_bytes: int) -> None:
        """Read the host."""
        self._set(self.host.now(code_bytes))

    def charge_until(self, code_bytes: int, guest_ns: int) -> None:
        """Wait until the host is there."""
        self._set(self.host.wait_until(code_bytes, guest_ns))

    def budget_bytes(self, until_ns: int) -> int:
        """Return K: how far the host has got is known only by looking."""
        return self.quantum_bytes

    def idle_until(self, code_bytes: int, event_ns: int) -> None:
        """Sleep until the event; a host that wakes late makes the guest late."""
        wake_ns = cython.declare(cython.longlong, self.host.now(code_bytes) + IDLE_NS)
        self._set(self.host.wait_until(code_bytes, event_ns if event_ns < wake_ns else wake_ns))

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return Pacer.snapshot(self) | {"host": self.host.snapshot()}

    def restore(self, state: dict[str, Any]) -> None:
        """Become what :meth:`snapshot` saw."""
        Pacer.restore(self, state)
        self.host.restore(state["host"])

    def _set(self, now_ns: int) -> None:
        self.largest_step_ns = max(self.largest_step_ns, now_ns - self.guest_ns)
        self.guest_ns = now_ns
        self.host_ns = now_ns
