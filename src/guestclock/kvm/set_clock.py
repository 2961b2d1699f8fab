"""What KVM_SET_CLOCK does to the guest's clock: each case with the guest's reading between two GET_CLOCKs."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from guestclock.kvm.api import CLOCK_HOST_TSC, CLOCK_REALTIME
from guestclock.kvm.microvm import MicroVm
from guestclock.kvm.pages import elapsed_ns, observe, page_ns, read_page

SECOND_NS = 1_000_000_000
DOWNTIME_S = 0.02
SLACK_NS = 2_000
"""KVM reads the TSC, its own clock and the page's base at slightly different moments."""
REALTIME_SLACK_NS = 100_000
"""CLOCK_REALTIME may be slewed by 500 ppm and is read apart from the TSC."""


@dataclass(frozen=True)
class Case:
    """What is set, some time after the clock was read."""

    name: str
    title: str
    downtime_s: float
    add_ns: int
    with_realtime: bool


CASES = (
    Case("restore", "set to what was just read", 0.0, 0, False),
    Case("restore_realtime", "the same with KVM_CLOCK_REALTIME", 0.0, 0, True),
    Case("downtime", "set after a downtime", DOWNTIME_S, 0, False),
    Case("downtime_realtime", "the same with KVM_CLOCK_REALTIME", DOWNTIME_S, 0, True),
    Case("forward", "set 10 s ahead", 0.0, 10 * SECOND_NS, False),
    Case("backward", "set 1 s back", 0.0, -SECOND_NS, False),
)


@dataclass(frozen=True)
class Jump:
    """What one KVM_SET_CLOCK did to the clock that the guest sees."""

    case: Case
    jump_ns: int
    """The page after − the page before, at the same TSC."""
    elapsed_ns: int
    """From the KVM_GET_CLOCK whose value was set to the one after it was set."""
    least_ns: int
    most_ns: int
    """Between these the jump must lie, by what the kernel promises."""
    bracketed: bool
    """Whether the guest's reading lies between the KVM_GET_CLOCK before and the one after it."""

    @property
    def good(self) -> bool:
        """Whether the jump is what it must be."""
        return self.bracketed and self.least_ns <= self.jump_ns <= self.most_ns


def measure(vm: MicroVm, case: Case, sleep: Callable[[float], None] = time.sleep) -> Jump | None:
    """Do one case; None where KVM does not tell its TSC or cannot correct by realtime."""
    start_ns = max(vm.vm.get_clock().clock_ns, 2 * SECOND_NS)
    vm.vm.set_clock(start_ns)  # far enough from zero to be set back
    observe(vm)
    page_before = read_page(vm)
    read = vm.vm.get_clock()
    wanted = CLOCK_HOST_TSC | (CLOCK_REALTIME if case.with_realtime else 0)
    if read.flags & wanted != wanted:
        return None
    sleep(case.downtime_s)
    if case.with_realtime:
        vm.vm.set_clock(read.clock_ns + case.add_ns, CLOCK_REALTIME, read.realtime_ns)
    else:
        vm.vm.set_clock(read.clock_ns + case.add_ns)
    first = vm.vm.get_clock()
    tsc, seen_ns = observe(vm)
    last = vm.vm.get_clock()
    elapsed = elapsed_ns(vm, read, first)
    least, most = _promised(case, elapsed)
    return Jump(
        case=case,
        jump_ns=page_ns(read_page(vm), tsc) - page_ns(page_before, tsc),
        elapsed_ns=elapsed,
        least_ns=least,
        most_ns=most,
        bracketed=first.clock_ns <= seen_ns <= last.clock_ns,
    )


def _promised(case: Case, elapsed: int) -> tuple[int, int]:
    """Return the least and the most jump.

    Without realtime KVM takes the value as of the moment of the call, somewhere between the two
    KVM_GET_CLOCKs, so the guest loses up to what passed between them, and at least the downtime.
    """
    if case.with_realtime:
        return case.add_ns - REALTIME_SLACK_NS, case.add_ns + REALTIME_SLACK_NS
    downtime = int(case.downtime_s * SECOND_NS)
    return case.add_ns - elapsed - SLACK_NS, case.add_ns - downtime + SLACK_NS
