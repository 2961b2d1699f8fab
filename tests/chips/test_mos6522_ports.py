"""Ports, control lines and input latches: facts 23 to 26, and that port B is port A in the mirror."""

import random

import pytest

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import (
    ACR,
    DDRA,
    DDRB,
    IER,
    IFR,
    NEVER,
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    PCR,
    SR_OUT_PHI2,
    WATCH_CA2,
    WATCH_CB2,
    WATCH_IRQ,
)

Chip = Mos6522 | Mos6522Stepwise
both = pytest.mark.parametrize("kind", [Mos6522, Mos6522Stepwise])


class Side:
    """One port of a chip by names that both ports share."""

    def __init__(self, chip: Chip, port: str) -> None:
        self.chip = chip
        self.is_b = port == "b"
        self.data, self.direction = (ORB, DDRB) if self.is_b else (ORA, DDRA)
        self.set_c1 = chip.set_cb1 if self.is_b else chip.set_ca1
        self.set_c2 = chip.set_cb2 if self.is_b else chip.set_ca2
        self.set_pins = chip.set_pins_b if self.is_b else chip.set_pins_a
        self.watch_c2 = WATCH_CB2 if self.is_b else WATCH_CA2

    def write_control(self, control: int, cycle: int) -> None:
        """Write this port's half of PCR, the other half is 0."""
        self.chip.write(PCR, control << 4 if self.is_b else control, cycle)

    def latch(self, on: bool, cycle: int) -> None:
        self.chip.write(ACR, (2 if self.is_b else 1) if on else 0, cycle)

    def flags(self, cycle: int) -> int:
        """Read this port's flags in IFR: 2 C1's, 1 C2's."""
        return self.chip.read(IFR, cycle) >> (3 if self.is_b else 0) & 3

    def c2_at(self, cycle: int) -> bool:
        self.chip.advance(cycle)
        return self.chip.cb2 if self.is_b else self.chip.ca2

    @property
    def c2_next(self) -> int:
        return self.chip.next_event(self.watch_c2)


both_ports = pytest.mark.parametrize("port", ["a", "b"])


@both
@both_ports
@pytest.mark.parametrize("rising", [False, True])
def test_c1_edge_selected_by_pcr(kind: type[Chip], port: str, rising: bool) -> None:
    side = Side(kind(), port)
    side.write_control(int(rising), 0)
    side.set_c1(0, 10)
    assert [side.flags(10), side.flags(11)] == [0, 0 if rising else 2]
    side.set_c1(1, 20)
    assert [side.flags(20), side.flags(21)] == [0 if rising else 2, 2]


@both
@both_ports
@pytest.mark.parametrize("control", range(0, 16, 2))
def test_c2_edges_count_where_c2_is_an_input(kind: type[Chip], port: str, control: int) -> None:
    side = Side(kind(), port)
    side.write_control(control, 0)
    side.set_c2(0, 10)
    assert side.flags(11) == (control in {0, 2})
    side.chip.write(IFR, 0x7F, 12)
    side.set_c2(1, 20)
    assert side.flags(21) == (control in {4, 6})


@both
@both_ports
@pytest.mark.parametrize(("control", "left"), [(0, 0), (2, 1), (4, 0), (6, 1)])
@pytest.mark.parametrize("access", ["read", "write"])
def test_fact25_an_access_clears_flags(
    kind: type[Chip], port: str, control: int, left: int, access: str
) -> None:
    side = Side(kind(), port)
    side.write_control(control, 0)
    for level, cycle in ((0, 10), (1, 12)):
        side.set_c1(level, cycle)
        side.set_c2(level, cycle)
    assert side.flags(13) == 3
    if access == "read":
        side.chip.read(side.data, 14)
    else:
        side.chip.write(side.data, 0, 14)
    assert side.flags(15) == left


@both
def test_fact25_register_f_clears_nothing(kind: type[Chip]) -> None:
    chip = kind()
    chip.set_ca1(0, 1)
    chip.read(ORA_NO_HANDSHAKE, 3)
    chip.write(ORA_NO_HANDSHAKE, 0, 4)
    assert chip.read(IFR, 5) == 0x02


@both
def test_the_interrupt_comes_half_a_cycle_before_the_flag(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(IER, 0x82, 0)
    chip.advance(9)
    assert not chip.irq
    chip.set_ca1(0, 10)
    assert (chip.irq, chip.read(IFR, 10), chip.read(IFR, 11)) == (True, 0, 0x82)
    assert chip.next_event(WATCH_IRQ) == NEVER


@both
def test_a_short_pulse_within_a_cycle_is_not_seen(kind: type[Chip]) -> None:
    chip = kind()
    chip.set_ca1(0, 10)
    chip.set_ca1(1, 10)
    assert chip.read(IFR, 12) == 0


@both
@both_ports
def test_an_edge_beats_the_access_that_would_clear_its_flag(kind: type[Chip], port: str) -> None:
    side = Side(kind(), port)
    side.set_c1(0, 10)
    side.chip.read(side.data, 10)
    assert side.flags(11) == 2


@both
@both_ports
def test_fact23_pulse_is_low_one_cycle(kind: type[Chip], port: str) -> None:
    side = Side(kind(), port)
    side.write_control(0xA, 0)
    side.chip.write(side.data, 0x55, 10)
    assert side.c2_next == 2 * 12 + 1
    assert [side.c2_at(cycle) for cycle in (11, 12, 13)] == [False, True, True]
    side.chip.write(side.data, 0x55, 20)
    side.chip.write(side.data, 0x55, 21)
    assert [side.c2_at(cycle) for cycle in (22, 23)] == [False, True]


@both
@both_ports
def test_fact23_handshake_ends_with_c1(kind: type[Chip], port: str) -> None:
    side = Side(kind(), port)
    side.write_control(0x9, 0)
    side.chip.advance(10)
    assert side.c2_at(10)
    side.chip.write(side.data, 0, 10)
    assert [side.c2_at(11), side.c2_at(1000), side.c2_next] == [False, False, NEVER]
    side.set_c1(0, 1001)  # the other edge
    assert not side.c2_at(1010)
    side.set_c1(1, 1011)
    assert side.c2_next == 2 * 1012 + 1
    assert [side.c2_at(1011), side.c2_at(1012)] == [False, True]


@both
@both_ports
def test_a_handshake_beats_c1_in_the_same_cycle(kind: type[Chip], port: str) -> None:
    side = Side(kind(), port)
    side.write_control(0x8, 0)
    side.chip.write(side.data, 0, 10)
    side.set_c1(0, 20)
    side.chip.write(side.data, 0, 20)
    assert not side.c2_at(30)
    side.write_control(0xA, 31)
    assert side.c2_at(32)


@both
def test_fact23_reads_shake_hands_on_port_a_only(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(PCR, 0x88, 0)
    chip.read(ORB, 10)
    chip.read(ORA_NO_HANDSHAKE, 11)
    chip.write(ORA_NO_HANDSHAKE, 0, 12)
    assert (chip.ca2, chip.cb2) == (True, True)
    chip.read(ORA, 20)
    assert chip.ca2
    assert chip.next_event(WATCH_CA2) == 2 * 21 + 1
    chip.advance(21)
    assert (chip.ca2, chip.cb2) == (False, True)
    chip.reset(22)
    assert chip.ca2


@both
@both_ports
def test_manual_output(kind: type[Chip], port: str) -> None:
    side = Side(kind(), port)
    side.write_control(0xC, 10)
    assert not side.c2_at(11)
    side.write_control(0xE, 12)
    assert side.c2_at(13)
    side.set_c2(0, 14)
    assert side.c2_at(14)


@both
@both_ports
def test_fact24_a_latched_port_shows_the_pins_of_the_edge(kind: type[Chip], port: str) -> None:
    side = Side(kind(), port)
    side.latch(True, 0)
    side.set_pins(0x12, 5)
    assert side.chip.read(side.data, 6) == 0x12
    side.set_c1(0, 10)
    side.set_pins(0x34, 10)
    side.set_pins(0x56, 11)
    side.set_c1(1, 12)
    side.set_c1(0, 14)  # the flag is set: the latch stays closed
    assert side.chip.read(side.data, 20) == 0x34
    assert side.chip.read(side.data, 21) == 0x56


@both
@both_ports
def test_fact24_no_latch_without_acr(kind: type[Chip], port: str) -> None:
    side = Side(kind(), port)
    side.set_pins(0x12, 5)
    side.set_c1(0, 6)
    side.set_pins(0x34, 8)
    side.latch(True, 10)  # closes at once, on the pins as they are
    side.set_pins(0x56, 11)
    assert side.chip.read(side.data, 20) == 0x34


@both
def test_fact24_register_f_shows_the_latch_too_and_outputs_of_port_b_orb(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(ACR, 0x83, 0)
    chip.write(DDRB, 0x0F, 1)
    chip.set_pins_a(0x12, 2)
    chip.set_pins_b(0x12, 2)
    chip.set_ca1(0, 3)
    chip.set_cb1(0, 3)
    chip.set_pins_a(0, 4)
    chip.set_pins_b(0, 4)
    chip.write(ORB, 0x05, 5)
    chip.set_cb1(1, 6)
    assert chip.read(ORA_NO_HANDSHAKE, 7) == 0x12
    assert chip.read(ORA, 8) == 0x12
    chip.write(ORB, 0x05, 9)
    chip.set_pins_b(0x32, 10)
    chip.set_cb1(0, 10)
    chip.set_pins_b(0x00, 11)
    assert chip.read(ORB, 12) == 0xB5  # PB7 is the timer's, PB0 to 3 are ORB's


@both
def test_lines_that_the_shift_register_drives_set_no_flag(kind: type[Chip]) -> None:
    """Fact 28; and of a driven line, nor does what outside does to it."""
    chip = kind()
    chip.write(ACR, SR_OUT_PHI2, 0)
    chip.write(10, 0x55, 1)
    chip.set_cb1(0, 5)
    chip.set_cb2(0, 6)
    assert chip.read(IFR, 30) == 0x04
    chip.write(ACR, 0, 31)
    assert (chip.cb1, chip.cb2, chip.read(IFR, 40)) == (False, False, 0)


# ---------------------------------------------------------------------- the mirror


def swapped_bits(value: int) -> int:
    """Exchange the flags of CA1 and CA2 with those of CB1 and CB2."""
    return value & 0xE4 | value >> 3 & 0x03 | value << 3 & 0x18


MIRRORED_REGISTER = {ORA: ORB, ORB: ORA, DDRA: DDRB, DDRB: DDRA}
MIRRORED_VALUE = {
    PCR: lambda value: value >> 4 | value << 4 & 0xF0,
    ACR: lambda value: value >> 1 & 1 | value << 1 & 2,
    IFR: swapped_bits,
    IER: swapped_bits,
}
LINES = {"ca1": "cb1", "ca2": "cb2", "cb1": "ca1", "cb2": "ca2", "pins_a": "pins_b", "pins_b": "pins_a"}


def looks(chip: Chip, cycle: int) -> tuple[object, ...]:
    """Return port A's side of a chip, then port B's, then what they share."""
    scratch = type(chip)()
    scratch.restore(chip.snapshot())
    flags = scratch.read_here(IFR)
    side_a = (chip.port_a_output(), chip.port_a_levels(), chip.ca1, chip.ca2, chip.next_event(WATCH_CA2))
    side_b = (chip.port_b_output(), chip.port_b_levels(), chip.cb1, chip.cb2, chip.next_event(WATCH_CB2))
    return side_a, side_b, flags & 3, flags >> 3 & 3, flags & 0xE0, chip.irq


@pytest.mark.parametrize("seed", range(20))
def test_port_b_is_port_a_in_the_mirror(seed: int) -> None:
    """Where the chip is symmetric: no timers, no shift register, and no reads that shake hands."""
    rng = random.Random(seed)
    chip, mirror = Mos6522(), Mos6522()
    cycle = 0
    for _ in range(400):
        cycle += rng.choice([1, 1, 1, 2, 7])
        kind = rng.choice(["write", "read", *LINES])
        if kind in LINES:
            value = rng.randrange(256) if kind.startswith("pins") else rng.randrange(2)
            getattr(chip, f"set_{kind}")(value, cycle)
            getattr(mirror, f"set_{LINES[kind]}")(value, cycle)
        elif kind == "write":
            register = rng.choice([ORA, ORB, DDRA, DDRB, PCR, ACR, IFR, IER])
            value = rng.randrange(4) if register == ACR else rng.randrange(256)
            chip.write(register, value, cycle)
            reflect = MIRRORED_VALUE.get(register, lambda value: value)
            mirror.write(MIRRORED_REGISTER.get(register, register), reflect(value), cycle)
        else:
            read_alike(chip, mirror, rng.choice([ORA, ORB]), cycle)
        side_a, side_b, flags_a, flags_b, rest, irq = looks(chip, cycle)
        assert looks(mirror, cycle) == (side_b, side_a, flags_b, flags_a, rest, irq)


def read_alike(chip: Chip, mirror: Chip, register: int, cycle: int) -> None:
    """Read a port and its image; inputs are alike, outputs are not where a latch holds port A's."""
    control_a, control_b = (chip.pcr & 0xF, chip.pcr >> 4)
    if (control_a if register == ORA else control_b) >> 1 in {4, 5}:
        return
    outputs = (chip.port_a if register == ORA else chip.port_b).direction
    seen, image = chip.read(register, cycle), mirror.read(MIRRORED_REGISTER[register], cycle)
    assert seen & ~outputs == image & ~outputs
