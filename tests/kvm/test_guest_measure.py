"""What is measured in a guest: facts of the hardware and of KVM, not speeds."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.kvm import cost, master_clock, pages, set_clock, warp
from guestclock.kvm.microvm import MicroVm
from guestclock.kvm.set_clock import CASES, Case, Jump
from guestclock.readloops import SHAPES, Shape

BARRIERED = [shape for shape in SHAPES if shape.barriers and not shape.needs_rdtscp]
BY_NAME = {shape.name: shape for shape in SHAPES}


def test_costs_come_as_batches(vm: MicroVm) -> None:
    shapes = [BY_NAME["rdtsc"], BY_NAME["pvclock_one"], BY_NAME["tsc_clocksource"]]
    shares: list[float] = []
    found = cost.measure(vm, shapes, 3, batches=4, reads=50, progress=shares.append)
    assert shares == [pytest.approx(1 / 3), pytest.approx(2 / 3), 1.0]
    for shape in shapes:
        parts = found[shape.name]
        assert [len(part) for part in parts] == [4, 4, 4]
        starts = [int(start) for part in parts for start in part["tsc_start"]]
        assert starts == sorted(starts)
        assert all(part["cycles"].all() for part in parts)


@pytest.mark.parametrize("shape", BARRIERED, ids=lambda shape: shape.name)
def test_with_a_barrier_no_read_goes_back(pair: MicroVm, shape: Shape) -> None:
    seen = warp.measure(pair, shape, warp.common_page, reads=40_000, budget_s=5.0)
    assert seen.reads >= 40_000
    assert (seen.steps, seen.worst) == (0, 0)


def test_the_time_is_bounded(pair: MicroVm) -> None:
    times = iter([0.0, 1.0, 3.0])
    shape = BY_NAME["lfence_rdtsc"]
    seen = warp.measure(pair, shape, warp.common_page, reads=10**12, budget_s=2.0, clock=lambda: next(times))
    assert len(seen.results) == 2 * 2


def test_the_page_is_kvms_clock(vm: MicroVm) -> None:
    found = pages.against_get_clock(vm, 200)
    if found is None:
        pytest.skip("this KVM does not tell its TSC")
    assert found.differences_ns == (0,) * 200
    assert found.mul_shift == found.mul_shift_expected


def test_the_guest_computes_exactly(vm: MicroVm) -> None:
    found = pages.arithmetic(vm, 300, seed=7)
    assert (found.live, found.live_wrong, found.random, found.random_wrong) == (300, 0, 300, 0)


@given(st.integers())
def test_random_pages_differ_by_seed_alone(seed: int) -> None:
    assert pages.random_case(random.Random(seed)) == pages.random_case(random.Random(seed))
    assert len(pages.random_case(random.Random(seed))) == pages.CASE_BYTES


def test_the_wall_clock_is_the_hosts(vm: MicroVm) -> None:
    assert abs(pages.wall_clock(vm).error_ns) < 1_000_000


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_setting_the_clock_jumps_as_documented(vm: MicroVm, case: Case) -> None:
    jump = set_clock.measure(vm, case)
    if jump is None:
        pytest.skip("this KVM does not tell its TSC or realtime")
    assert jump.bracketed
    assert jump.good


def test_a_restored_clock_is_behind_by_what_passed(vm: MicroVm) -> None:
    jump = set_clock.measure(vm, CASES[0])
    if jump is None:
        pytest.skip("this KVM does not tell its TSC")
    assert -jump.elapsed_ns - set_clock.SLACK_NS <= jump.jump_ns < 0


def test_a_jump_that_breaks_the_promise_is_not_good() -> None:
    jump = Jump(CASES[0], jump_ns=5, elapsed_ns=10, least_ns=-10, most_ns=0, bracketed=True)
    assert not jump.good
    unbracketed = Jump(CASES[0], jump_ns=-5, elapsed_ns=10, least_ns=-10, most_ns=0, bracketed=False)
    assert not unbracketed.good


def test_tscs_apart_end_the_master_clock(pair: MicroVm) -> None:
    on = master_clock.measure(pair, reads=40_000, budget_s=5.0)
    if not on.stable:
        pytest.skip("this host has no master clock: its own clocksource is not the TSC")
    assert (on.unclamped.steps, on.clamped.steps) == (0, 0)
    assert on.apart_ns in {0, None}
    assert master_clock.skew(pair)
    off = master_clock.measure(pair, reads=40_000, budget_s=5.0)
    assert not off.stable
    assert off.clamped.steps == 0
