"""What recordings and data sheets say of the 6522 (docs/6522.md), on the closed form and on the oracle."""

from pathlib import Path

import pytest
from vector_text import Vector, read_vectors, replay

from guestclock.chips.mos6522 import TIMEOUT_BEATS, Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import (
    ACR,
    ACR_T1_FREE_RUN,
    ACR_T1_PB7,
    ACR_T2_PULSES,
    DDRA,
    DDRB,
    IER,
    IFR,
    IFR_CA1,
    IFR_CA2,
    IFR_CB1,
    IFR_CB2,
    IFR_SR,
    IFR_T1,
    IFR_T2,
    NEVER,
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    PCR,
    READ_T1CL,
    SR,
    SR_IN_T2,
    SR_OUT_T2,
    T1CH,
    T1CL,
    T1LH,
    T1LL,
    T2CH,
    T2CL,
    WATCH_IRQ,
    WATCH_PB7,
    WRITE_IFR,
)

VECTORS = list(read_vectors(Path(__file__).with_name("facts.txt")))
Chip = Mos6522 | Mos6522Stepwise
both = pytest.mark.parametrize("kind", [Mos6522, Mos6522Stepwise])


@both
@pytest.mark.parametrize("vector", VECTORS, ids=[vector.name for vector in VECTORS])
def test_fact(vector: Vector, kind: type[Chip]) -> None:
    assert replay(vector, kind()) > 0


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.name for vector in VECTORS])
def test_fact_cmos(vector: Vector) -> None:
    assert replay(vector, Mos6522("cmos")) > 0


def load_t1(chip: Chip, count: int, at: int, acr: int = 0, ier: int = 0x80 | IFR_T1) -> None:
    """Start T1 with the count so that T1CH is written in cycle ``at``."""
    chip.write(IER, ier, at - 3)
    chip.write(ACR, acr, at - 2)
    chip.write(T1CL, count & 0xFF, at - 1)
    chip.write(T1CH, count >> 8, at)


@both
@pytest.mark.parametrize("count", [0, 1, 5, 20, 0xFF, 0x100, 7831])
def test_fact04_irq_pin_falls_at_n_plus_one_and_a_half(kind: type[Chip], count: int) -> None:
    chip = kind()
    load_t1(chip, count, at=10)
    if count:
        assert not chip.irq
        assert chip.next_event(WATCH_IRQ) == 2 * 10 + 2 * count + 3
    chip.advance(10 + count + 1)  # the counter shows 0: the pin falls in the second half ...
    assert chip.irq
    assert chip.next_event(WATCH_IRQ) == NEVER
    assert not chip.read_here(IFR) & IFR_T1  # ... and the flag can be read in the next cycle
    chip.advance(10 + count + 2)
    assert chip.irq
    assert chip.read_here(IFR) == 0x80 | IFR_T1


@both
def test_fact04_irq_pin_is_high_one_cycle_before(kind: type[Chip]) -> None:
    chip = kind()
    load_t1(chip, 20, at=10)
    chip.advance(10 + 20)
    assert not chip.irq


@both
@pytest.mark.parametrize("count", [2, 5, 20])
def test_fact04_irq_pin_falls_every_n_plus_2_in_free_run(kind: type[Chip], count: int) -> None:
    chip = kind()
    load_t1(chip, count, at=10, acr=ACR_T1_FREE_RUN)
    for timeout in range(5):
        half = 2 * 10 + 2 * count + 3 + 2 * (count + 2) * timeout
        assert chip.next_event(WATCH_IRQ) == half
        chip.write(IFR, IFR_T1, half // 2 + 1)
        assert not chip.irq


@both
def test_fact04_t2_pin_falls_at_n_plus_one_and_a_half(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(IER, 0x80 | IFR_T2, 0)
    chip.write(T2CL, 20, 9)
    chip.write(T2CH, 0, 10)
    assert chip.next_event(WATCH_IRQ) == 2 * 10 + 2 * 20 + 3


@both
def test_flags_that_are_not_enabled_pull_no_pin(kind: type[Chip]) -> None:
    chip = kind()
    load_t1(chip, 5, at=10, ier=0x80 | IFR_T2)
    assert chip.next_event(WATCH_IRQ) == NEVER
    chip.advance(100)
    assert chip.read_here(IFR) == IFR_T1
    assert not chip.irq


@both
def test_what_nobody_watches_causes_no_event(kind: type[Chip]) -> None:
    chip = kind()
    load_t1(chip, 3, at=10, acr=ACR_T1_FREE_RUN | ACR_T1_PB7)
    assert chip.next_event(0) == NEVER
    assert chip.next_event(WATCH_IRQ) == chip.next_event(WATCH_PB7) == 2 * 10 + 9
    chip.advance(14)  # the IRQ pin is low and stays so; PB7 goes on
    assert chip.next_event(WATCH_IRQ) == NEVER
    assert chip.next_event(WATCH_PB7) == 2 * 10 + 19


@both
@pytest.mark.parametrize("access", [(T1CL, None), (T1LH, 0), (T1CH, 0), (T2CL, None), (T2CH, 0), (IFR, 0x60)])
@pytest.mark.parametrize("beats", [0x00, 0x3F])
def test_facts07_and_08_are_options(kind: type[Chip], access: tuple[int, int | None], beats: int) -> None:
    chip = kind(timeout_beats=beats)
    chip.write(T1CL, 6, 7)
    chip.write(T2CL, 5, 8)
    chip.write(T1CH, 0, 9)
    chip.write(T2CH, 0, 10)
    register, value = access
    if value is None:
        chip.read(register, 17)  # both flags are set in this cycle
    else:
        chip.write(register, value, 17)
    cleared = {T1CL: IFR_T1, T1LH: IFR_T1, T1CH: IFR_T1, T2CL: IFR_T2, T2CH: IFR_T2, IFR: 0x60}[register]
    assert chip.read(IFR, 18) == (0x60 if beats else 0x60 & ~cleared)


def test_facts07_and_08_defaults() -> None:
    assert TIMEOUT_BEATS & READ_T1CL
    assert not TIMEOUT_BEATS & WRITE_IFR


@both
def test_model_t1ch_written_in_the_cycle_that_shows_0_prevents_the_timeout(kind: type[Chip]) -> None:
    chip = kind()
    load_t1(chip, 5, at=10)
    chip.write(T1CH, 0, 16)
    assert chip.read(T1CL, 17) == 5
    assert chip.t1_underflows == 0
    assert chip.next_event(WATCH_IRQ) == 2 * 16 + 2 * 5 + 3


@both
def test_model_t2ch_written_in_the_cycle_that_shows_0_prevents_the_timeout(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(T2CL, 5, 9)
    chip.write(T2CH, 0, 10)
    chip.write(T2CH, 0, 16)
    assert chip.read(T2CL, 17) == 5
    assert chip.read(IFR, 18) == 0


@both
def test_model_t2_latch_ff_reloaded_while_the_mode_changes_is_not_passing_zero(kind: type[Chip]) -> None:
    """The mode of fact 16 is left and entered again while the reloaded FF shows: no second reload."""
    chip = kind()
    chip.write(ACR, SR_OUT_T2, 0)
    chip.write(T2CL, 0xFF, 1)
    chip.write(T2CH, 1, 2)  # 1FF shows in cycle 3, 100 in 258, FF in 259, and FF again in 260
    chip.advance(259)
    chip.write(ACR, SR_IN_T2, 259)
    assert [chip.read(T2CL, cycle) for cycle in (260, 261, 262)] == [0xFF, 0xFE, 0xFD]


@both
@pytest.mark.parametrize(("low", "pulses", "shown"), [(0xFF, 0, [0xFF, 0xFE]), (0x00, 1, [0xFF, 0x00])])
def test_model_t2_enters_the_reload_mode_with_the_count_it_has(
    kind: type[Chip], low: int, pulses: int, shown: list[int]
) -> None:
    """A low byte that pulses took through zero is followed by the latch, an FF that was loaded is not."""
    chip = kind()
    chip.write(ACR, ACR_T2_PULSES, 0)
    chip.write(T2CL, low, 1)
    chip.write(T2CH, 1, 2)
    for cycle in range(10, 10 + 2 * pulses, 2):
        chip.set_pins_b(0xBF, cycle)
        chip.set_pins_b(0xFF, cycle + 1)
    chip.write(ACR, SR_OUT_T2, 20)
    assert [chip.read(T2CL, cycle) for cycle in (21, 22)] == shown


@both
def test_fact14_falling_edges_on_pb6_count(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(IER, 0x80 | IFR_T2, 0)
    chip.write(ACR, ACR_T2_PULSES, 1)
    chip.write(T2CL, 1, 2)
    chip.write(T2CH, 0, 3)
    assert chip.next_event(WATCH_IRQ) == NEVER
    chip.set_pins_b(0xBF, 10)
    assert chip.read(T2CL, 10) == 1
    assert chip.read(T2CL, 11) == 0
    chip.set_pins_b(0xFF, 12)  # rising: no count
    assert chip.read(T2CL, 14) == 0
    chip.set_pins_b(0xBF, 20)
    assert chip.irq  # the count comes in the next cycle, the pin half a cycle before
    assert chip.read(IFR, 20) == 0
    assert chip.read(IFR, 21) == 0x80 | IFR_T2
    chip.set_pins_b(0xFF, 22)
    chip.set_pins_b(0xBF, 23)
    assert chip.read(T2CL, 24) == 0xFE


@both
def test_fact14_a_fall_taken_back_within_its_cycle_is_none(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(ACR, ACR_T2_PULSES, 0)
    chip.write(T2CL, 9, 2)
    chip.write(T2CH, 0, 3)
    chip.set_pins_b(0xBF, 10)
    chip.set_pins_b(0xFF, 10)
    assert chip.read(T2CL, 12) == 9


@both
def test_fact14_pulses_do_not_count_in_timer_mode(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(T2CL, 100, 2)
    chip.write(T2CH, 0, 3)
    chip.set_pins_b(0xBF, 10)
    assert chip.read(T2CL, 14) == 100 - 10


@both
def test_fact14_pb6_after_reset_is_the_pin_from_outside(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(DDRB, 0x40, 0)  # the chip drives PB6 low; from outside it is high
    chip.reset(2)
    chip.write(ACR, ACR_T2_PULSES, 3)
    chip.write(T2CL, 9, 4)
    chip.write(T2CH, 0, 5)
    chip.set_pins_b(0xBF, 6)
    assert chip.read(T2CL, 7) == 8


@both
def test_fact14_a_load_takes_the_place_of_a_pulse(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(ACR, ACR_T2_PULSES, 0)
    chip.write(T2CL, 9, 1)
    chip.set_pins_b(0xBF, 4)
    chip.write(T2CH, 0, 4)
    assert chip.read(T2CL, 6) == 9


@both
def test_fact15_pb7_pin_toggles_with_the_irq_pin(kind: type[Chip]) -> None:
    chip = kind()
    load_t1(chip, 5, at=10, acr=ACR_T1_FREE_RUN | ACR_T1_PB7)
    assert not chip.pb7
    for timeout in range(4):
        half = 2 * 10 + 13 + 14 * timeout
        assert chip.next_event(WATCH_PB7) == half
        chip.advance(half // 2)
        assert chip.pb7 == (timeout % 2 == 0)


@both
def test_fact15_pb7_is_a_port_pin_while_acr7_is_0(kind: type[Chip]) -> None:
    chip = kind()
    assert chip.pb7
    chip.set_pins_b(0x7F, 1)
    assert not chip.pb7
    chip.write(ORB, 0x80, 2)
    chip.write(DDRB, 0x80, 3)
    assert chip.pb7


@both
def test_fact20_reset(kind: type[Chip]) -> None:
    chip = kind()
    for cycle, register in enumerate([ORB, ORA, DDRB, DDRA, PCR]):
        chip.write(register, 0xCF, cycle)
    chip.write(SR, 0x5A, 8)
    chip.write(T2CL, 0x34, 9)
    chip.write(T2CH, 0x12, 10)
    load_t1(chip, 0x2345, at=20, acr=ACR_T1_FREE_RUN | ACR_T1_PB7)
    chip.ifr |= 0x1F
    chip.reset(24)
    expected = {ORB: 0xFF, ORA: 0xFF, DDRB: 0, DDRA: 0, ACR: 0, PCR: 0, IFR: 0, IER: 0x80, SR: 0x5A}
    assert {register: chip.read_here(register) for register in expected} == expected
    assert [chip.read_here(register) for register in (T1LL, T1LH)] == [0x45, 0x23]
    assert chip.read_here(T1CH) == 0x23
    assert chip.read_here(T1CL) == 0x45 - 3
    assert chip.read_here(T2CH) == 0x12
    assert chip.read_here(T2CL) == 0x34 - 13
    assert not chip.irq
    assert chip.next_event(WATCH_IRQ | WATCH_PB7) == NEVER
    assert chip.read(IFR, 200_000) == 0  # both counters have passed zero, neither was armed


PORT_FLAGS = IFR_CA1 | IFR_CA2 | IFR_CB1 | IFR_CB2


@both
@pytest.mark.parametrize("is_write", [False, True])
@pytest.mark.parametrize(
    ("register", "pcr", "left"),
    [
        (ORA, 0x00, IFR_CB1 | IFR_CB2),
        (ORA, 0x02, IFR_CB1 | IFR_CB2 | IFR_CA2),
        (ORA, 0x06, IFR_CB1 | IFR_CB2 | IFR_CA2),
        (ORA, 0x68, IFR_CB1 | IFR_CB2),
        (ORB, 0x00, IFR_CA1 | IFR_CA2),
        (ORB, 0x20, IFR_CA1 | IFR_CA2 | IFR_CB2),
        (ORB, 0x60, IFR_CA1 | IFR_CA2 | IFR_CB2),
        (ORB, 0x86, IFR_CA1 | IFR_CA2),
        (ORA_NO_HANDSHAKE, 0x00, PORT_FLAGS),
        (SR, 0x00, PORT_FLAGS & ~IFR_SR),
    ],
)
def test_fact25_port_accesses_clear_their_flags(
    kind: type[Chip], is_write: bool, register: int, pcr: int, left: int
) -> None:
    chip = kind()
    chip.write(PCR, pcr, 0)
    chip.ifr |= PORT_FLAGS | (IFR_SR if register == SR else 0)
    if is_write:
        chip.write(register, 0, 1)
    else:
        chip.read(register, 1)
    assert chip.read(IFR, 2) == left


@both
def test_fact26_input_pins(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(DDRA, 0x0F, 0)
    chip.write(DDRB, 0x0F, 1)
    chip.set_pins_a(0x66, 4)
    chip.set_pins_b(0x66, 4)
    assert chip.read(ORA, 4) == 0x60
    assert chip.read(ORB, 5) == 0x60
    chip.write(ORA, 0xFF, 6)
    chip.write(ORB, 0xF1, 7)
    assert chip.read(ORA, 8) == 0x6F
    assert chip.read(ORB, 9) == 0x61
    assert chip.port_a_output() == 0xFF
    assert chip.port_b_output() == 0xF1
    chip.write(DDRB, 0x40, 10)
    assert chip.port_b_output() == 0xFF
    chip.write(ORB, 0x00, 11)
    assert chip.port_b_output() == 0xBF


@both
def test_underflows_are_counted_armed_or_not(kind: type[Chip]) -> None:
    chip = kind()
    load_t1(chip, 98, at=10)  # one-shot, a period of 100 cycles, first timeout readable in cycle 110
    chip.advance(109)
    assert (chip.t1_underflows, chip.t1_flag_half) == (0, -1)
    chip.advance(110)
    assert (chip.t1_underflows, chip.t1_flag_half) == (1, 219)
    chip.advance(209)
    assert chip.t1_underflows == 1
    chip.advance(1010)
    assert (chip.t1_underflows, chip.t1_flag_half) == (10, 219)


@both
def test_counters_run_from_power_up(kind: type[Chip]) -> None:
    chip = kind()
    chip.advance(0x10000)
    assert chip.t1_underflows == 1
    assert [chip.read_here(register) for register in (T1CL, T1CH, T2CL, T2CH)] == [0xFF] * 4
    chip.advance(0x10001)
    assert [chip.read_here(register) for register in (T1CL, T1CH, T2CL, T2CH)] == [0xFF, 0xFF, 0xFE, 0xFF]
