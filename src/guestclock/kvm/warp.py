"""Backward steps: one vCPU against what any vCPU has read before."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from guestclock import readloops
from guestclock.errors import UnavailableError
from guestclock.kvm import longmode
from guestclock.kvm.cost import page_for
from guestclock.kvm.microvm import Call, MicroVm, pvclock_address
from guestclock.readloops import RESULT_HEADER_BYTES, Shape, WarpResult, parse_result, result_block

CHUNK_READS = 500_000
LOG_ROOM = 64


@dataclass(frozen=True)
class Warp:
    """One shape's backward steps: what each vCPU saw, chunk by chunk."""

    shape: Shape
    results: tuple[WarpResult, ...]

    @property
    def reads(self) -> int:
        """All reads of all vCPUs."""
        return sum(result.reads for result in self.results)

    @property
    def steps(self) -> int:
        """All reads that were behind what some vCPU had read before."""
        return sum(result.steps for result in self.results)

    @property
    def worst(self) -> int:
        """The largest backward step, in the shape's unit."""
        return max((result.worst for result in self.results), default=0)


def measure(
    vm: MicroVm,
    shape: Shape,
    place: Callable[[MicroVm, Shape], list[int]],
    *,
    reads: int,
    budget_s: float,
    clock: Callable[[], float] = time.monotonic,
) -> Warp:
    """Let all vCPUs read at the same time until ``reads`` were made or the time is over.

    Args:
        vm: a machine with its clock switched on.
        shape: how to read.
        reads: of all vCPUs together; at least one chunk is made, whatever it takes.
        budget_s: no chunk starts after so long.
        place: where each vCPU's page is: :func:`common_page` or :func:`own_pages`.
        clock: seconds, for the budget.
    """
    deadline = clock() + budget_s
    results: list[WarpResult] = []
    while not results or (clock() < deadline and sum(result.reads for result in results) < reads):
        chunk = min(CHUNK_READS, max(reads // len(vm.vcpus), 1))
        results.extend(_chunk(vm, shape, chunk, place(vm, shape)))
    return Warp(shape, tuple(results))


def common_page(vm: MicroVm, shape: Shape) -> list[int]:
    """One page for all vCPUs, as the vDSO has it: right while the clock is TSC_STABLE."""
    return [page_for(vm, shape)] * len(vm.vcpus)


def own_pages(vm: MicroVm, _shape: Shape) -> list[int]:
    """Every vCPU reads the page that KVM writes for it."""
    return [pvclock_address(number) for number in range(len(vm.vcpus))]


def _chunk(vm: MicroVm, shape: Shape, reads: int, pages: Sequence[int]) -> Sequence[WarpResult]:
    vm.write(longmode.SHARED, readloops.pack_shared(len(pages)))
    calls = {}
    for number, page in enumerate(pages):
        vm.write(longmode.output(number), result_block(LOG_ROOM))
        arguments = (page, reads, longmode.SHARED, longmode.output(number))
        calls[number] = Call(f"warp_{shape.name}", arguments)
    vm.call_on(calls)
    room = RESULT_HEADER_BYTES + 16 * LOG_ROOM
    results = [parse_result(vm.read(longmode.output(number), room)) for number in calls]
    if not all(result.reads for result in results):
        raise UnavailableError("one vCPU did not start while another waited: is the host overloaded?")
    return results
