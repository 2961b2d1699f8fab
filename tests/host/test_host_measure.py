"""Costs, steps and drift: real loops in small numbers, and fake clocks for what must not depend on speed."""

import itertools
import os
import platform
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.errors import UnavailableError
from guestclock.host import cost, drift, native, steps, tsc
from guestclock.host.clocks import CLOCKS, RAW, available, machine_clocks
from guestclock.host.drift import Look
from guestclock.host.native import Block, Native, on_cpus
from guestclock.readloops import SHAPES, SHARED_BYTES, WarpResult, pack_shared

MONOTONIC = CLOCKS[1]


@pytest.fixture(scope="module")
def code() -> Native:
    if platform.machine() != "x86_64":
        pytest.skip("the read loops are for x86-64 processors")
    return native.load()


def test_the_loops_run_in_this_process(code: Native) -> None:
    assert code.tsc() < code.tsc()
    assert code.cpuid(0)[0] >= 1


def test_another_processor_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(UnavailableError, match="no machine code for riscv64"):
        native.load()


def test_a_system_without_executable_mappings_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(_code: bytes) -> int:
        raise PermissionError(1, "Operation not permitted")

    for source in ("_package_file", "_anonymous_file", "_temporary_file"):
        monkeypatch.setattr(native, source, forbid)
    with pytest.raises(UnavailableError, match="maps no code of ours executable"):
        native.load()


@pytest.mark.parametrize(("tsc_state", "cpuid", "word"), [(2, 1, "TSC"), (1, 0, "CPUID")])
def test_a_sandbox_that_forbids_instructions_is_told(tsc_state: int, cpuid: int, word: str) -> None:
    def prctl(_option: int, state: Any) -> int:
        state._obj.value = tsc_state
        return 0

    with pytest.raises(UnavailableError, match=f"may not (read the|use) {word}"):
        native._check_instructions(prctl, lambda *_: cpuid)
    native._check_instructions(lambda *_: -1, lambda *_: -1)  # a kernel that knows neither question


def test_a_32_bit_python_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guestclock.host.native.struct.calcsize", lambda _code: 4)
    with pytest.raises(UnavailableError, match="32-bit Python"):
        native.load()


def test_a_block_is_aligned_and_stays() -> None:
    block = Block(pack_shared(2))
    assert block.address % 64 == 0
    assert block.bytes() == pack_shared(2)
    assert len(block.bytes()) == SHARED_BYTES


def test_an_error_in_a_thread_is_raised() -> None:
    def fail() -> None:
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        on_cpus([(min(os.sched_getaffinity(0)), fail)])


@pytest.mark.parametrize("timer", [cost.clock_costs, cost.syscall_costs])
def test_batches_end_in_order_and_say_the_time(code: Native, timer: Callable[..., np.ndarray]) -> None:
    records = timer(code, MONOTONIC, 20)
    assert len(records) == cost.BATCHES
    assert all(np.diff(records["tsc_start"].astype(np.int64)) > 0)
    assert all(np.diff(records["value"].astype(np.int64)) > 0)


def test_a_shape_reads_the_page_that_it_is_given(code: Native) -> None:
    """Each pvclock shape's last value lies between exact readings before and after the batch."""
    hz = 2_000_000_000
    made_up = tsc.made_up_page(hz)
    pages = cost.Pages.around(made_up, code.tsc(), hz)
    shapes = {shape.name: shape for shape in tsc.usable_shapes(code)}
    for name in ("pvclock_none", "pvclock_one", "pvclock_two", "pvclock_own", "pvclock_clamp"):
        before = tsc.page_ns(made_up, code.tsc())
        records = cost.shape_costs(code, shapes[name], pages, 10)
        after = tsc.page_ns(made_up, code.tsc())
        assert before <= int(records["value"][0]) <= int(records["value"][-1]) <= after


def test_python_costs_are_ns_a_call() -> None:
    ticks = itertools.count(step=1000)
    costs = cost.python_costs(lambda: 7, 10, clock=lambda: next(ticks))
    assert costs == [(100.0, 7)] * cost.BATCHES


@pytest.mark.parametrize("source", [native._anonymous_file, native._temporary_file])
def test_code_from_a_copy_runs_as_well(
    monkeypatch: pytest.MonkeyPatch, source: Callable[[bytes], int], code: Native
) -> None:
    monkeypatch.setattr(native, "_package_file", source)
    before = code.tsc()
    assert before < native.load().tsc() < before + 100 * 10**9


# ---- steps ----------------------------------------------------------------------------------------------


@given(
    cpus=st.lists(st.integers(0, 300), min_size=1, max_size=9, unique=True).map(sorted), seed=st.integers()
)
def test_every_cpu_and_every_pair_comes_once_and_neighbours_first(cpus: list[int], seed: int) -> None:
    groups = steps.groups(cpus, seed)
    singles = [(cpu,) for cpu in cpus]
    assert sorted(groups) == sorted([*singles, *itertools.combinations(cpus, 2)])
    first = groups[: len(cpus)] if len(cpus) > 1 else []
    assert {cpu for pair in first for cpu in pair} == (set(cpus) if len(cpus) > 1 else set())
    assert groups == steps.groups(cpus, seed)


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=50))
def test_hopping_counts_what_went_back(values: list[int]) -> None:
    feed = iter(values)
    seen = steps.hop(lambda: next(feed), [0], len(values) - 1)
    highest = list(itertools.accumulate(values, max))
    behind = [before - now for before, now in zip(highest, values[1:], strict=False) if now < before]
    assert (seen.reads, seen.steps, seen.sum) == (len(values) - 1, len(behind), sum(behind))
    assert (seen.worst, seen.least) == (max(behind, default=0), min(behind, default=0))
    assert seen.ahead_sum == highest[-1] - values[0]


def test_steps_stop_when_the_time_is_over() -> None:
    nothing = WarpResult(5, 0, 0, 0, 0, 0, 0, 0, ())
    times = iter([0.0, 0.5, 1.5])
    asked: list[tuple[int, ...]] = []

    def warper(group: Sequence[int], _reads: int) -> list[WarpResult]:
        asked.append(tuple(group))
        return [nothing] * len(group)

    among = [(0,), (1,), (0, 1), (0, 2)]
    found = steps.measure({"a": warper}, among, reads=5, budget_s=1.0, clock=lambda: next(times))
    assert asked == [(0,), (1,)]
    assert (found["a"].reads, found["a"].steps) == (10, 0)


def test_cpus_that_cannot_be_chosen_stay_unseen() -> None:
    def warper(_group: Sequence[int], _reads: int) -> list[WarpResult]:
        raise PermissionError(1, "Operation not permitted")

    found = steps.measure({"a": warper}, [(0,), (0, 1)], reads=5, budget_s=1.0, clock=lambda: 0.0)
    assert (found["a"].groups, found["a"].reads) == ({}, 0)


def test_a_clock_read_by_two_cpus_does_not_go_back(code: Native) -> None:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    barriered = next(shape for shape in SHAPES if shape.name == "lfence_rdtsc")
    warpers = {
        "tsc": steps.shape_warper(code, barriered),
        "clock": steps.clock_warper(code, MONOTONIC),
        "hop": steps.hopping_warper(MONOTONIC),
    }
    found = steps.measure(warpers, [tuple(cpus)], reads=2_000, budget_s=1.0)
    assert {name: seen.steps for name, seen in found.items()} == {"tsc": 0, "clock": 0, "hop": 0}
    assert found["tsc"].reads == 2_000 * len(cpus)


# ---- drift ------------------------------------------------------------------------------------------------


def test_the_tightest_look_is_kept() -> None:
    values = iter([0, 50, 90, 1000, 1020, 1030, 2000, 2050, 2500])
    look = drift.python_looker(3, read=lambda _number: next(values))(MONOTONIC)
    assert look == Look("CLOCK_MONOTONIC", 1015, 1020, 30)


def test_looks_are_spread_over_the_time() -> None:
    slept: list[float] = []
    seen = drift.follow(
        lambda clock: Look(clock.name, len(slept), 0, 1),
        [RAW, MONOTONIC],
        seconds=6.0,
        rounds=4,
        sleep=slept.append,
    )
    assert slept == [2.0, 2.0, 2.0]
    assert [look.clock for look in seen] == [RAW.name, MONOTONIC.name] * 4


def test_the_tscs_frequency_is_that_of_raw() -> None:
    looks = [Look(RAW.name, 1000, 0, 1), Look(RAW.name, 1000 + 2_300_000, 1_000_000, 1)]
    assert drift.tsc_hz(looks) == pytest.approx(2.3e9)
    assert drift.tsc_hz(looks[:1]) is None
    assert drift.tsc_hz([looks[0], looks[0]]) is None


def test_the_frequency_agrees_with_what_the_machine_says(code: Native) -> None:
    facts = tsc.facts(code, None, tsc.measure_hz(drift.native_looker(code, 50), seconds=0.02))
    assert facts.hz > 100_000_000
    if facts.cpuid_khz:
        assert facts.measured_hz == pytest.approx(facts.cpuid_khz * 1000, rel=1e-3)


def test_equal_reads_have_no_step() -> None:
    assert drift.smallest_step([5, 5, 5]) == 0
    assert drift.smallest_step([]) == 0


def test_every_clock_answers_and_cpu_times_are_no_clocks(code: Native) -> None:
    clocks = available()
    assert {clock.number for clock in clocks} >= {0, 1, 4}
    assert not any(clock.cpu_time for clock in machine_clocks(clocks))
    assert drift.resolution_ns(code, MONOTONIC, 100) > 0


# ---- the page's figures (reference: what live machines showed) --------------------------------------------


@pytest.mark.parametrize(
    ("tsc_khz", "jump_per_day_ms"),
    [
        (2_300_000, 3.10),
        (2_000_000, 0.0),
        (2_995_200, 7.41),
        (2_500_000, -5.13),
        (2_600_000, -5.13),
        (3_000_000, -5.13),
        (3_800_000, -16.5),
    ],
)
def test_the_jump_of_a_day(tsc_khz: int, jump_per_day_ms: float) -> None:
    entry = tsc.made_up_page(tsc_khz * 1000)
    facts = tsc.page_facts(entry, "here", tsc_khz * 1000 * 86_400)
    assert facts.tsc_khz == tsc_khz
    assert facts.since_update_s == pytest.approx(86_400)
    assert facts.jump_per_day_ns / 1e6 == pytest.approx(jump_per_day_ms, rel=2e-3, abs=5e-3)
    assert facts.jump_at_next_update_ns == pytest.approx(facts.jump_per_day_ns)


@given(st.integers(100_000, 6_000_000))
def test_a_page_gives_its_frequency_back(tsc_khz: int) -> None:
    facts = tsc.page_facts(tsc.made_up_page(tsc_khz * 1000), "here", 0)
    assert facts.tsc_khz == tsc_khz
