"""The lines that drive VIA1 from outside."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.registers import ACR, IER, IFR, IFR_CA1, IFR_CA2, IFR_SR, PCR, SR
from guestclock.quadra.via1_inputs import CYCLES_PER_SECOND, CYCLES_PER_SIXTIETH, Via1Inputs

BOTH_RISING = 0x05


class Watched:
    """A VIA with its inputs, and what they told."""

    def __init__(self) -> None:
        self.via = Mos6522()
        self.told: list[tuple[int, int, int]] = []
        self.inputs = Via1Inputs(self.via, lambda *edge: self.told.append(edge))

    def advance(self, cycle: int) -> None:
        self.inputs.advance(cycle)
        self.via.advance(cycle)

    def count(self, flag: int) -> int:
        return sum(times for told, _, times in self.told if told == flag)


def test_the_lines_have_the_rates_of_the_machine() -> None:
    assert Fraction(783_360, CYCLES_PER_SIXTIETH) == Fraction(15_667_200, 370 * 704)
    assert CYCLES_PER_SECOND == 783_360


@pytest.mark.parametrize(("pcr", "shift"), [(0, 0), (BOTH_RISING, 1)])
def test_an_hour_in_one_go_counts_every_active_edge_and_leaves_one_flag_each(pcr: int, shift: int) -> None:
    watched = Watched()
    watched.via.write(PCR, pcr, 1)
    cycles = 3600 * CYCLES_PER_SECOND
    watched.advance(cycles)
    # The first rise comes half a period after the first fall.
    assert watched.count(IFR_CA2) == 3600 - shift
    assert watched.count(IFR_CA1) == (cycles - shift * CYCLES_PER_SIXTIETH // 2) // CYCLES_PER_SIXTIETH
    assert len(watched.told) <= 8
    watched.advance(cycles + 1)
    assert watched.via.ifr == IFR_CA1 | IFR_CA2


def test_a_flag_is_set_in_the_cycle_after_the_edge() -> None:
    watched = Watched()
    watched.advance(CYCLES_PER_SIXTIETH)
    assert watched.told == [(IFR_CA1, CYCLES_PER_SIXTIETH, 1)]
    assert watched.via.ifr == 0
    watched.advance(CYCLES_PER_SIXTIETH + 1)
    assert watched.via.ifr == IFR_CA1


@given(
    pcr=st.integers(0, 7),
    stops=st.lists(st.integers(1, 3 * CYCLES_PER_SECOND), min_size=1, max_size=6),
    acknowledged=st.sampled_from([0, IFR_CA1, IFR_CA2, IFR_CA1 | IFR_CA2]),
)
def test_one_go_and_many_small_steps_end_alike(pcr: int, stops: list[int], acknowledged: int) -> None:
    one, many = Watched(), Watched()
    for watched in (one, many):
        watched.via.write(PCR, pcr, 1)
        watched.via.write(IER, 0x83, 2)
    cycle = 3
    for stop in stops:
        for between in range(cycle, cycle + stop, CYCLES_PER_SIXTIETH // 3):
            many.advance(between)
        cycle += stop
        for watched in (one, many):
            watched.advance(cycle)
        assert one.via.ifr == many.via.ifr
        assert one.via.irq == many.via.irq
        assert (one.via.ca1, one.via.ca2) == (many.via.ca1, many.via.ca2)
        assert [one.count(flag) for flag in (IFR_CA1, IFR_CA2)] == [
            many.count(flag) for flag in (IFR_CA1, IFR_CA2)
        ]
        for watched in (one, many):
            watched.via.write(IFR, acknowledged, cycle)
        cycle += 1


def test_a_byte_of_the_adb_is_told_once() -> None:
    watched = Watched()
    watched.via.write(ACR, 0x1C, 1)
    watched.via.write(SR, 0x00, 2)
    watched.inputs.adb.state_lines(0, watched.via.now)
    watched.advance(CYCLES_PER_SIXTIETH - 1)
    assert [flag for flag, _, _ in watched.told] == [IFR_SR]
    assert watched.via.ifr & IFR_SR


def test_a_snapshot_goes_on_where_it_was_taken() -> None:
    one, other = Watched(), Watched()
    one.advance(CYCLES_PER_SECOND + 100)
    other.via.restore(one.via.snapshot())
    other.inputs.restore(one.inputs.snapshot())
    one.told.clear()
    for watched in (one, other):
        watched.advance(3 * CYCLES_PER_SECOND)
    assert one.told == other.told
    assert one.via.snapshot() == other.via.snapshot()
