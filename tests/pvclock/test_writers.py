"""The model of KVM: version protocol, master clock, GET_CLOCK and SET_CLOCK."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.errors import BadInputError
from guestclock.pvclock.layouts import HypervTsc, PvclockFlag, PvclockTime, PvclockWallClock, Vmclock
from guestclock.pvclock.readers import memory_of
from guestclock.pvclock.steps import At
from guestclock.pvclock.writers import ClockData, Host, KvmClock, next_guards, publish, stores

SECOND = 1_000_000_000
DAY = 86_400 * SECOND
HOST = Host(2_300_000_000, tsc_at_boot=12_345, realtime_offset_ns=1_700_000_000 * SECOND)
true_times = st.integers(0, 365 * DAY)


@given(st.integers(0, (1 << 32) - 1))
def test_a_pvclock_version_is_odd_while_written_and_then_even_and_new(version: int) -> None:
    busy, ready = next_guards(PvclockTime, version)
    assert busy % 2 == 1
    assert ready % 2 == 0
    assert ready not in {version, busy}
    assert (ready - version) % (1 << 32) in {2, 3}


@given(st.integers(0, (1 << 32) - 1))
def test_a_hyperv_sequence_is_0_while_written_and_then_neither_0_nor_unused(sequence: int) -> None:
    busy, ready = next_guards(HypervTsc, sequence)
    assert busy == 0
    assert ready not in {0, 0xFFFF_FFFF}


def test_publishing_announces_first_and_finishes_last() -> None:
    old = PvclockTime(2, 0, 0, 1, 0, 0)
    new = PvclockTime(4, 9, 8, 7, -1, 1)
    memory = memory_of(old)
    versions = [memory[At("version")] for _ in publish(memory, new)]
    assert versions == [3, 3, 3, 3, 3, 3, 4]
    assert memory == memory_of(new)


def test_a_page_without_a_guard_is_not_published_twice() -> None:
    with pytest.raises(BadInputError, match="PvclockWallClock has no guard"):
        stores(PvclockWallClock(2, 0, 0), 2)


def test_vmclock_is_guarded_by_seq_count() -> None:
    page = Vmclock(*range(22))
    assert [step.value for step in (stores(page, 2)[0], stores(page, 2)[-1])] == [3, 4]  # type: ignore[union-attr]


def test_pages_of_the_master_clock_are_equal_and_stable() -> None:
    clock = KvmClock.created(HOST, SECOND)
    one, two = clock.update_page(0, 2 * SECOND), clock.update_page(1, 3 * SECOND)
    assert one == two
    assert one.flags == PvclockFlag.TSC_STABLE
    clock.update_master_clock(4 * SECOND)
    assert clock.pages[0] == clock.pages[1]
    assert clock.pages[0].version == one.version + 2
    assert clock.pages[0].tsc_timestamp > one.tsc_timestamp


def test_without_the_master_clock_pages_are_apart_and_not_stable() -> None:
    clock = KvmClock.created(HOST, 0)
    clock.stop_master_clock()
    clock.update_page(0, 1_000 * SECOND)
    clock.update_page(1, 1_400 * SECOND)
    assert clock.pages[0].flags == clock.pages[1].flags == 0
    at = 1_500 * SECOND
    apart = clock.guest_ns(at, 1) - clock.guest_ns(at, 0)
    # 400 s apart, at 35.879 ppb between page and host.
    assert abs(apart - 400 * SECOND * 35.879e-9) < 2


@given(true_times, st.integers(0, DAY), st.integers(0, (1 << 64) - 1))
def test_get_clock_is_what_the_guest_reads_whatever_its_tsc_offset(at: int, later: int, offset: int) -> None:
    clock = KvmClock.created(HOST, at, tsc_offset=offset)
    clock.update_page(0, at)
    assert clock.guest_ns(at) == 0
    assert clock.get_clock(at + later).clock_ns == clock.guest_ns(at + later)


def test_get_clock_without_the_master_clock_has_neither_wall_time_nor_tsc() -> None:
    clock = KvmClock.created(HOST, 0)
    clock.stop_master_clock()
    assert clock.get_clock(SECOND) == ClockData(HOST.raw_ns(SECOND))


@given(true_times, st.integers(0, DAY))
def test_set_clock_without_wall_time_loses_the_time_between_the_calls(at: int, between: int) -> None:
    clock = KvmClock.created(HOST, at)
    saved = clock.get_clock(at)
    clock.set_clock(ClockData(saved.clock_ns), at + between)
    assert clock.guest_ns(at + between) == saved.clock_ns


@given(true_times, st.integers(0, DAY), st.integers(-DAY, DAY))
def test_set_clock_with_wall_time_adds_what_passed_by_it_and_never_less_than_nothing(
    at: int, between: int, ahead: int
) -> None:
    saved = KvmClock.created(HOST, at).get_clock(at)
    other = KvmClock.created(
        Host(2_600_000_000, realtime_offset_ns=HOST.realtime_offset_ns + ahead), at + between
    )
    other.set_clock(saved, at + between)
    assert other.guest_ns(at + between) == saved.clock_ns + max(0, between + ahead)


def test_set_clock_without_a_master_clock() -> None:
    clock = KvmClock.created(HOST, 0)
    clock.stop_master_clock()
    clock.update_page(0, 0)
    clock.set_clock(ClockData(5 * SECOND), SECOND)
    assert clock.guest_ns(SECOND) == 5 * SECOND
