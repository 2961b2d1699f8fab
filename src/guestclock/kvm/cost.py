"""What a read costs inside the guest: interleaved rounds of every shape."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from guestclock import readloops
from guestclock.kvm import longmode
from guestclock.kvm.microvm import Call, MicroVm
from guestclock.pvclock.layouts import PvclockTime
from guestclock.readloops import COST_RECORD, CostRecords, Page, Shape


def place_page(vm: MicroVm, page: Page) -> int:
    """Put a fresh page of that kind where every vCPU can read it; return its guest address.

    The live page serves all readers of page 0.  Copies stand for what the live one does not
    show: a page without TSC_STABLE, and a page for any CPU number that getcpu may name.
    """
    if page is Page.TSC:
        return longmode.TSC_PAGE
    if page is Page.PVCLOCK_UNSTABLE:
        live = PvclockTime.unpack(vm.read(longmode.PVCLOCK, longmode.PVCLOCK_STRIDE))
        vm.write(longmode.UNSTABLE_COPY, replace(live, flags=0).build())
        return longmode.UNSTABLE_COPY
    return longmode.PVCLOCK


def place_copies(vm: MicroVm) -> int:
    """Copy the live page for every CPU number that getcpu may name; return the first copy's address."""
    vm.write(longmode.COPIES, vm.read(longmode.PVCLOCK, longmode.PVCLOCK_STRIDE) * longmode.COPIES_COUNT)
    return longmode.COPIES


def page_for(vm: MicroVm, shape: Shape) -> int:
    """Put the page in place that a shape reads; return its guest address."""
    return place_copies(vm) if shape.needs_getcpu else place_page(vm, shape.page)


def cost_page_for(vm: MicroVm, shape: Shape) -> int:
    """Put the page in place that makes a shape do all of its work; return its guest address."""
    return page_for(vm, shape) if shape.cost_page is None else place_page(vm, shape.cost_page)


def measure(
    vm: MicroVm,
    shapes: Sequence[Shape],
    rounds: int,
    *,
    batches: int = 20,
    reads: int = 1000,
    progress: Callable[[float], None] = lambda _share: None,
) -> Mapping[str, Sequence[CostRecords]]:
    """Time every shape in turn, ``rounds`` times; return each one's batches, round by round.

    Interleaving spreads a disturbance of the host over all shapes instead of one.
    """
    collected: dict[str, list[CostRecords]] = {shape.name: [] for shape in shapes}
    output = longmode.output(0)
    for index in range(rounds):
        for shape in shapes:
            vm.write(longmode.SHARED, readloops.pack_shared(1))
            address = cost_page_for(vm, shape)
            vm.call(Call(f"cost_{shape.name}", (address, reads, output, batches, longmode.SHARED)))
            raw = vm.read(output, batches * COST_RECORD.itemsize)
            collected[shape.name].append(np.frombuffer(raw, COST_RECORD))
        progress((index + 1) / rounds)
    return collected
