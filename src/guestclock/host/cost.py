"""What a read of each clock costs in this process: at C speed, through a system call, from Python."""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from guestclock import readloops
from guestclock.host.clocks import CLOCKS, Clock
from guestclock.host.native import Block, Native
from guestclock.pvclock.layouts import PvclockFlag, PvclockTime
from guestclock.readloops import COST_RECORD, CostRecords, Page, Shape

BATCHES = 10
COPIES = 4096
"""One page for every CPU number that getcpu can name (12 bits)."""
COPY_STRIDE = 64
SYSTEM_CALL_SHARE = 0.6
"""A clock that costs more than this share of a plain system call is no vDSO read."""


def clock_costs(native: Native, clock: Clock, reads: int) -> CostRecords:
    """Time batches of the C library's clock_gettime."""
    out = Block(bytes(BATCHES * COST_RECORD.itemsize))
    native.call("call_cost", native.clock_gettime, clock.number, reads, out.address, BATCHES)
    return np.frombuffer(out.bytes(), COST_RECORD)


def syscall_costs(native: Native, clock: Clock, reads: int) -> CostRecords:
    """Time batches of the system call itself, past the vDSO."""
    out = Block(bytes(BATCHES * COST_RECORD.itemsize))
    native.call("syscall_cost", 0, clock.number, reads, out.address, BATCHES)
    return np.frombuffer(out.bytes(), COST_RECORD)


def through_system_call(cost_ns: float, syscall_ns: float) -> bool:
    """Return whether a read at that cost enters the kernel.

    >>> through_system_call(25.0, 250.0), through_system_call(260.0, 250.0)
    (False, True)
    """
    return cost_ns > SYSTEM_CALL_SHARE * syscall_ns


def yardsticks(clock: Clock) -> list[str]:
    """Return the clocks whose system calls do the same work, so that the fastest of them is the yardstick.

    >>> from guestclock.host.clocks import CLOCKS
    >>> yardsticks(CLOCKS[5])
    ['CLOCK_REALTIME_COARSE', 'CLOCK_MONOTONIC_COARSE']
    """
    if clock.cpu_time:
        return [clock.name]
    return [other.name for other in CLOCKS if not other.cpu_time and other.coarse == clock.coarse]


@dataclass(frozen=True)
class Pages:
    """What the shapes of a pvclock read look at: a page, real or made up, for every CPU number."""

    stable: Block
    unstable: Block
    tsc: Block

    @classmethod
    def around(cls, pvclock: bytes, tsc_now: int, tsc_hz: int) -> "Pages":
        """Make copies: the page itself may vanish, and its flags may be others than a shape wants."""
        page = PvclockTime.unpack(pvclock)
        stable = replace(page, flags=PvclockFlag.TSC_STABLE).build().ljust(COPY_STRIDE, b"\0")
        return cls(
            Block(stable * COPIES),
            Block(replace(page, flags=0).build()),
            Block(readloops.tsc_page(tsc_now, tsc_hz)),
        )

    def address(self, page: Page | None) -> int:
        """Return where the page of a kind is."""
        if page is Page.TSC:
            return self.tsc.address
        return self.unstable.address if page is Page.PVCLOCK_UNSTABLE else self.stable.address


def shape_costs(native: Native, shape: Shape, pages: Pages, reads: int) -> CostRecords:
    """Time batches of one shape of a read, as in a guest but in this process."""
    out = Block(bytes(BATCHES * COST_RECORD.itemsize))
    shared = Block(readloops.pack_shared(1))
    page = pages.address(shape.cost_page or shape.page)
    native.call(f"cost_{shape.name}", page, reads, out.address, BATCHES, shared.address)
    return np.frombuffer(out.bytes(), COST_RECORD)


PYTHON_READS: Mapping[str, Callable[[], int]] = {
    "time.time_ns()": time.time_ns,
    "time.monotonic_ns()": time.monotonic_ns,
    "time.perf_counter_ns()": time.perf_counter_ns,
}


def python_costs(
    read: Callable[[], int], reads: int, clock: Callable[[], int] = time.perf_counter_ns
) -> Sequence[tuple[float, int]]:
    """Return, by batch, what a call costs Python code (loop included) in ns, and what the clock said last."""
    costs = []
    for _ in range(BATCHES):
        start = clock()
        for _turn in itertools.repeat(None, reads):
            read()
        costs.append(((clock() - start) / reads, read()))
    return costs
