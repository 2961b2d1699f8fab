"""Master clock on and off: when the vCPUs' TSCs are not in step, KVM gives up TSC_STABLE."""

from dataclasses import dataclass

from guestclock.kvm import warp
from guestclock.kvm.api import MSR_TSC
from guestclock.kvm.microvm import MicroVm
from guestclock.kvm.pages import observe, page_ns, read_page
from guestclock.kvm.warp import Warp
from guestclock.pvclock.layouts import PvclockFlag
from guestclock.readloops import SHAPES

SKEWED_TSC = 1000
"""What the second vCPU's TSC is set to: far from the first one's."""
_U64 = (1 << 64) - 1


@dataclass(frozen=True)
class MasterClock:
    """Two vCPUs' pages, and the backward steps of readers that use both."""

    stable: bool
    """Whether the pages carry TSC_STABLE."""
    apart_ns: int | None
    """Page 1 − page 0 at the same host TSC; None where KVM does not tell the TSC offsets."""
    unclamped: Warp
    clamped: Warp


def skew(vm: MicroVm) -> bool:
    """Set the second vCPU's TSC far from the first one's; False when KVM does not take it."""
    return vm.vcpus[1].set_msr(MSR_TSC, SKEWED_TSC)


def measure(vm: MicroVm, reads: int, budget_s: float) -> MasterClock:
    """Read both pages, with and without the clamp to a global last value."""
    for number in range(len(vm.vcpus)):
        observe(vm, number)
    unclamped = _warp(vm, "pvclock_own", reads, budget_s)
    clamped = _warp(vm, "pvclock_clamp", reads, budget_s)
    return MasterClock(
        stable=all(read_page(vm, number).flags & PvclockFlag.TSC_STABLE for number in range(len(vm.vcpus))),
        apart_ns=_apart(vm),
        unclamped=unclamped,
        clamped=clamped,
    )


def _warp(vm: MicroVm, name: str, reads: int, budget_s: float) -> Warp:
    shape = next(shape for shape in SHAPES if shape.name == name)
    return warp.measure(vm, shape, warp.own_pages, reads=reads, budget_s=budget_s)


def _apart(vm: MicroVm) -> int | None:
    offsets = [vcpu.tsc_offset() for vcpu in vm.vcpus]
    host_tsc = vm.vm.get_clock().host_tsc or None
    if host_tsc is None:
        tsc, _ns = observe(vm, 0)
        host_tsc = None if offsets[0] is None else tsc - offsets[0] & _U64
    if host_tsc is None or None in offsets:
        return None
    pages = [read_page(vm, number) for number in range(len(vm.vcpus))]
    times = [
        page_ns(page, host_tsc + (offset or 0) & _U64) for page, offset in zip(pages, offsets, strict=True)
    ]
    return times[1] - times[0]
