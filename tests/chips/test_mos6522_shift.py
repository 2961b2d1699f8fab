"""The shift register: facts 16 to 19, 27 and 28, and the choices where nothing is recorded (docs/6522.md)."""

import pytest

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import (
    ACR,
    ACR_T2_PULSES,
    IER,
    IFR,
    IFR_SR,
    NEVER,
    PCR,
    SR,
    SR_DISABLED,
    SR_IN_CB1,
    SR_IN_PHI2,
    SR_IN_T2,
    SR_OUT_CB1,
    SR_OUT_FREE,
    SR_OUT_PHI2,
    SR_OUT_T2,
    T2CH,
    T2CL,
    WATCH_CB1,
    WATCH_CB2,
    WATCH_IRQ,
)

Chip = Mos6522 | Mos6522Stepwise
both = pytest.mark.parametrize("kind", [Mos6522, Mos6522Stepwise])


def peek(chip: Chip, register: int, cycle: int) -> int:
    """Return what a read would give, without its effects."""
    chip.advance(cycle)
    scratch = type(chip)()
    scratch.restore(chip.snapshot())
    return scratch.read_here(register)


def rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (8 - bits)) & 0xFF


def in_mode(kind: type[Chip], mode: int, t2_low: int = 3) -> Chip:
    """Return a chip in the mode, T2 showing t2_low in cycle 3."""
    chip = kind()
    chip.write(ACR, mode, 0)
    chip.write(T2CL, t2_low, 1)
    chip.write(T2CH, 0, 2)
    return chip


def pulse_cb1(chip: Chip, cycle: int) -> None:
    chip.set_cb1(0, cycle)
    chip.set_cb1(1, cycle + 2)


@both
@pytest.mark.parametrize("access", ["read", "write"])
def test_fact17_phi2_out(kind: type[Chip], access: str) -> None:
    chip = in_mode(kind, SR_OUT_PHI2)
    chip.write(SR, 0x81, 4)
    chip.advance(40)
    r = 50
    if access == "read":
        assert chip.read(SR, r) == 0x81
    else:
        chip.write(SR, 0x81, r)
    chip.write(IFR, 0x7F, r + 1)
    for cycle in range(r + 2, r + 30):
        bits = min((cycle - r) // 2, 8)
        assert peek(chip, SR, cycle) == rotated(0x81, bits)
        assert chip.cb2 == bool(rotated(0x81, bits) & 1)
        assert chip.cb1 == (cycle - r >= 17 or cycle % 2 == 1)
        assert peek(chip, IFR, cycle) == (0x04 if cycle >= r + 17 else 0)


@both
def test_fact17_phi2_in(kind: type[Chip]) -> None:
    chip = in_mode(kind, SR_IN_PHI2)
    chip.write(SR, 0x00, 50)
    levels = [1, 0, 1, 1, 0, 0, 1, 0]
    for bit, level in enumerate(levels):
        chip.set_cb2(level, 52 + 2 * bit)
    assert peek(chip, SR, 66) == 0b1011001
    assert peek(chip, SR, 67) == 0b10110010
    chip.advance(100)
    assert peek(chip, SR, 100) == 0b10110010


@both
@pytest.mark.parametrize("mode", [SR_IN_PHI2, SR_OUT_PHI2])
def test_fact17_an_access_in_mid_transfer_starts_nothing_anew(kind: type[Chip], mode: int) -> None:
    chip = in_mode(kind, mode)
    chip.write(SR, 0xFF, 50)
    for cycle in (51, 57, 66):  # the last of them in the cycle before the flag
        chip.read(SR, cycle)
    assert [peek(chip, IFR, cycle) & 4 for cycle in (66, 67, 90)] == [0, 4, 4]
    chip.read(SR, 91)
    assert [peek(chip, IFR, cycle) & 4 for cycle in (107, 108)] == [0, 4]


@both
@pytest.mark.parametrize("mode", [SR_IN_T2, SR_OUT_T2])
@pytest.mark.parametrize("low", [0, 1, 3, 255])
def test_fact18_clocked_by_t2(kind: type[Chip], mode: int, low: int) -> None:
    chip = in_mode(kind, mode, low)
    chip.set_cb2(0, 3)
    chip.write(IER, 0x84, 3)
    chip.write(SR, 0x80, 4)
    first = low + 6  # T2 shows low in 3, 0 in low + 3, FF, low: then CB1 falls
    half_bit = low + 2
    last = first + 15 * half_bit
    if mode == SR_IN_T2:
        assert [peek(chip, SR, first + half_bit - 1), peek(chip, SR, first + half_bit)] == [0x80, 0x00]
    else:
        assert [peek(chip, SR, first - 1), peek(chip, SR, first)] == [0x80, 0x01]
    assert chip.cb1 == (mode == SR_IN_T2)
    assert chip.next_event(WATCH_IRQ) == 2 * last - 1
    assert [peek(chip, IFR, cycle) & 4 for cycle in (last - 1, last)] == [0, 4]
    assert chip.cb1
    if kind is Mos6522:  # the oracle takes its time to say "never"
        assert chip.next_event(WATCH_CB1) == NEVER


@both
def test_fact18_half_a_bit_takes_257_cycles(kind: type[Chip]) -> None:
    chip = in_mode(kind, SR_OUT_FREE, 0xFF)
    chip.write(SR, 0x01, 4)
    falls = [3 + 255 + 3 + 2 * 257 * bit for bit in range(9)]
    for bit, cycle in enumerate(falls):
        assert chip.next_event(WATCH_CB1) == 2 * cycle + 1
        assert peek(chip, SR, cycle) == rotated(1, (bit + 1) % 8)
        assert chip.next_event(WATCH_CB1) == 2 * (cycle + 257) + 1
        chip.advance(cycle + 257)
    assert chip.ifr == 0x20  # T2's, never the shift register's


@pytest.mark.parametrize("low", [0, 1, 200])
@pytest.mark.parametrize("ticks", [1, 2, 3, 16, 17, 2**40])
def test_a_free_run_costs_nothing_however_long(low: int, ticks: int) -> None:
    chip = in_mode(Mos6522, SR_OUT_FREE, low)
    chip.write(SR, 0x35, 3)
    first = 2 * (low + 3) + 2 if low < 2 else low + 6
    chip.advance(first - 1)
    clock, value = chip.shifter.clock, chip.shifter.value
    falls = (ticks + clock) // 2
    chip.advance(first + (ticks - 1) * (low + 2))
    assert chip.shifter.value == rotated(value, falls % 8)
    assert chip.shifter.clock == clock ^ ticks & 1


@both
def test_fact19_disabled_shifts_in_and_never_flags(kind: type[Chip]) -> None:
    chip = in_mode(kind, SR_DISABLED)
    chip.write(SR, 0x00, 4)
    expected = 0
    for bit in range(20):
        chip.set_cb2(bit & 1, 10 + 10 * bit)
        pulse_cb1(chip, 11 + 10 * bit)
        assert peek(chip, SR, 13 + 10 * bit) == expected
        expected = (expected << 1 | bit & 1) & 0xFF
        assert peek(chip, SR, 14 + 10 * bit) == expected
        assert not chip.ifr & 4
    chip.write(ACR, SR_OUT_PHI2, 301)
    chip.write(SR, 0, 302)
    assert peek(chip, IFR, 330) & 4
    chip.write(ACR, SR_DISABLED, 330)
    assert not peek(chip, IFR, 331) & 4


@both
@pytest.mark.parametrize("mode", [SR_IN_CB1, SR_OUT_CB1])
def test_fact19_cb1_clocks(kind: type[Chip], mode: int) -> None:
    chip = in_mode(kind, mode)
    chip.write(PCR, 0x10, 3)  # CB1's flag at rises
    chip.write(SR, 0x81, 4)
    chip.set_cb2(0, 5)
    for bit in range(24):
        cycle = 10 + 10 * bit
        chip.set_cb1(0, cycle)
        before = peek(chip, SR, cycle)
        after_fall = peek(chip, SR, cycle + 1)
        chip.set_cb1(1, cycle + 4)
        assert peek(chip, IFR, cycle + 4) & 4 == 0
        after_rise = peek(chip, SR, cycle + 5)
        assert peek(chip, IFR, cycle + 5) & 4 == (4 if bit % 8 == 7 else 0)
        chip.write(IFR, 0x04, cycle + 6)
        if mode == SR_IN_CB1:
            assert (after_fall, after_rise) == (before, before << 1 & 0xFF)
        else:
            assert (after_fall, after_rise) == (rotated(before, 1), rotated(before, 1))
            assert chip.cb2 == bool(after_fall & 1)


@both
@pytest.mark.parametrize("mode", [SR_IN_CB1, SR_OUT_CB1])
def test_fact19_an_access_counts_anew(kind: type[Chip], mode: int) -> None:
    chip = in_mode(kind, mode)
    for bit in range(5):
        pulse_cb1(chip, 10 + 10 * bit)
    chip.read(SR, 60)
    for bit in range(8):
        assert not peek(chip, IFR, 68 + 10 * bit) & 4
        pulse_cb1(chip, 70 + 10 * bit)
    assert peek(chip, IFR, 150) & 4


@both
@pytest.mark.parametrize("mode", [SR_IN_T2, SR_IN_PHI2, SR_OUT_T2, SR_OUT_PHI2])
@pytest.mark.parametrize("access", ["read", "write"])
def test_fact27_nothing_starts_in_mode_0(kind: type[Chip], mode: int, access: str) -> None:
    chip = in_mode(kind, SR_DISABLED)
    chip.write(SR, 0x01, 4)
    if access == "read":
        chip.read(SR, 5)
    chip.write(ACR, mode, 6)
    if kind is Mos6522:  # the oracle takes its time to say "never"
        assert [chip.next_event(watch) for watch in (WATCH_CB1, WATCH_CB2)] == [NEVER, NEVER]
    chip.advance(1000)
    assert (peek(chip, SR, 1000), chip.ifr & 4) == (0x01, 0)
    chip.read(SR, 1001)
    assert chip.next_event(WATCH_CB1) < NEVER


@both
def test_model_changes_of_mode(kind: type[Chip]) -> None:
    """Another clock goes on with a byte under way; mode 0 ends it."""
    chip = in_mode(kind, SR_OUT_T2, t2_low=20)
    chip.write(SR, 0x0F, 4)
    chip.advance(26 + 2 * 44)  # three bits out
    assert peek(chip, SR, chip.now) == rotated(0x0F, 3)
    chip.write(ACR, SR_OUT_PHI2, chip.now)
    start = chip.now
    assert [peek(chip, IFR, start + ticks) & 4 for ticks in (10, 11)] == [0, 4]
    chip.read(SR, start + 20)
    chip.write(ACR, SR_DISABLED, start + 25)
    chip.write(ACR, SR_OUT_PHI2, start + 26)
    stopped = peek(chip, SR, start + 27)
    assert (peek(chip, SR, start + 100), chip.ifr & 4, chip.cb1) == (stopped, 0, True)


@both
def test_model_a_write_in_the_cycle_of_a_shift_stands(kind: type[Chip]) -> None:
    chip = in_mode(kind, SR_OUT_PHI2)
    chip.write(SR, 0x01, 50)
    chip.write(SR, 0x80, 53)  # with the shift that would show in 54
    assert [peek(chip, SR, cycle) for cycle in (54, 55, 56)] == [0x80, 0x80, 0x01]
    assert [peek(chip, IFR, cycle) & 4 for cycle in (66, 67)] == [0, 4]


@both
def test_model_pulses_on_pb6_clock_t2_which_clocks_the_bits(kind: type[Chip]) -> None:
    chip = in_mode(kind, ACR_T2_PULSES | SR_OUT_T2, t2_low=0)
    chip.write(SR, 0x80, 4)
    # Pulses leave FF and, from the latch, 00 by turns; each reload ticks one cycle later.
    for pulse, (before, after) in enumerate([(0, 0), (0, 1), (1, 1), (1, 1), (1, 1), (1, 2)]):
        cycle = 10 + 10 * pulse
        chip.set_pins_b(0xBF, cycle)
        chip.set_pins_b(0xFF, cycle + 1)
        assert peek(chip, T2CL, cycle + 1) == (0x00 if pulse % 2 else 0xFF)
        assert peek(chip, SR, cycle + 1) == rotated(0x80, before)
        assert peek(chip, SR, cycle + 2) == rotated(0x80, after)


@both
def test_model_t2ch_written_instead_of_a_reload_does_not_tick(kind: type[Chip]) -> None:
    chip = in_mode(kind, SR_OUT_T2, t2_low=3)
    chip.write(SR, 0x80, 4)
    chip.write(T2CH, 0, 7)  # T2 shows FF; 3, from the write, in 8; a reload would tick in 9
    assert [peek(chip, SR, cycle) for cycle in (9, 13, 14)] == [0x80, 0x80, 0x01]


@both
def test_a_pulse_that_waits_to_reload_t2_is_foreseen_to_tick(kind: type[Chip]) -> None:
    chip = in_mode(kind, ACR_T2_PULSES | SR_OUT_T2, t2_low=0)
    chip.write(SR, 0x80, 4)
    for level, cycle in ((0xBF, 10), (0xFF, 12), (0xBF, 20)):
        chip.set_pins_b(level, cycle)
    assert chip.next_event(WATCH_CB1) == 2 * 22 + 1


@both
def test_modes_1_to_3_take_cb2_from_outside_whatever_pcr_says(kind: type[Chip]) -> None:
    chip = in_mode(kind, SR_IN_PHI2)
    chip.write(PCR, 0xC0, 3)
    assert chip.cb2
    chip.write(SR, 0x00, 4)
    assert peek(chip, SR, 30) == 0xFF
    chip.write(ACR, SR_DISABLED, 31)
    assert not chip.cb2


@both
def test_fact20_the_shift_register_survives_reset_and_rests(kind: type[Chip]) -> None:
    chip = in_mode(kind, SR_OUT_PHI2)
    chip.write(SR, 0x35, 10)
    chip.reset(14)
    chip.write(ACR, SR_OUT_PHI2, 15)
    assert peek(chip, SR, 50) == rotated(0x35, 2)


@both
def test_mode_0_between_two_parts_of_a_byte_from_outside_begins_it_anew(kind: type[Chip]) -> None:
    chip = kind()
    cycle = 1

    def clock(bits: int) -> None:
        nonlocal cycle
        for _ in range(bits):
            chip.set_cb1(0, cycle)
            chip.set_cb1(1, cycle + 2)
            cycle += 4

    chip.write(ACR, SR_IN_CB1, 0)
    clock(4)
    chip.write(ACR, SR_DISABLED, cycle)
    chip.write(ACR, SR_IN_CB1, cycle + 1)
    cycle += 2
    clock(7)
    assert chip.read(IFR, cycle) & IFR_SR == 0
    cycle += 1
    clock(1)
    assert chip.read(IFR, cycle) & IFR_SR
