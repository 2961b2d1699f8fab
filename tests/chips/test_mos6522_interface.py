"""What the 6522 refuses, and its state as data."""

import json
import random

import pytest
from programs import Pair, random_program, visible

from guestclock.chips.mos6522 import CycleError, Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import ACR, DDRA, IER, T1CH, T1CL

Chip = Mos6522 | Mos6522Stepwise
both = pytest.mark.parametrize("kind", [Mos6522, Mos6522Stepwise])


@both
def test_one_access_per_cycle(kind: type[Chip]) -> None:
    chip = kind()
    chip.read(T1CL, 41)
    message = "cycle 41 is not after cycle 41: one bus access per φ2 cycle"
    with pytest.raises(CycleError, match=message):
        chip.read(T1CL, 41)
    with pytest.raises(CycleError, match=message):
        chip.write(T1CL, 0, 41)
    with pytest.raises(CycleError, match="cycle 40 is not after cycle 41"):
        chip.read(T1CL, 40)
    chip.write(T1CL, 0, 42)
    chip.read(T1CL, 43)


@both
def test_the_past_is_over(kind: type[Chip]) -> None:
    chip = kind()
    chip.advance(100)
    for access in (
        lambda: chip.read(T1CL, 99),
        lambda: chip.write(T1CL, 0, 99),
        lambda: chip.set_pins_a(0, 99),
        lambda: chip.set_pins_b(0, 99),
        lambda: chip.set_ca1(0, 99),
        lambda: chip.set_ca2(0, 99),
        lambda: chip.set_cb1(0, 99),
        lambda: chip.set_cb2(0, 99),
        lambda: chip.reset(99),
    ):
        with pytest.raises(CycleError, match="cycle 99 is over: the chip is at cycle 100"):
            access()
    chip.advance(50)
    assert chip.now == 100
    chip.read(T1CL, 100)


@both
def test_a_refused_access_changes_nothing(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(T1CH, 3, 10)
    before = chip.snapshot()
    with pytest.raises(CycleError):
        chip.write(T1CH, 7, 10)
    assert chip.snapshot() == before


@both
@pytest.mark.parametrize("register", [-1, 16, 0x1E00])
def test_there_are_16_registers(kind: type[Chip], register: int) -> None:
    chip = kind()
    with pytest.raises(ValueError, match=f"register {register}: a 6522 has registers 0 to 15"):
        chip.read(register, 0)
    with pytest.raises(ValueError, match=f"register {register}: a 6522 has registers 0 to 15"):
        chip.write(register, 0, 0)


@both
def test_reads_may_share_a_cycle_on_buses_that_let_them(kind: type[Chip]) -> None:
    chip = kind()
    chip.write(T1CL, 0x34, 0)
    chip.write(T1CH, 0x12, 1)
    chip.advance(2)
    assert (chip.read_here(T1CH), chip.read_here(T1CL), chip.read_here(T1CL)) == (0x12, 0x34, 0x34)
    chip.write_here(IER, 0x81)
    assert chip.now == 3
    assert (chip.read_here(T1CL), chip.read_here(IER)) == (0x33, 0x81)


@pytest.mark.parametrize("variant", ["", "NMOS", "65c22"])
def test_unknown_variant(variant: str) -> None:
    with pytest.raises(ValueError, match="a 6522 is 'nmos' or 'cmos'"):
        Mos6522(variant)


def test_restore_refuses_what_is_no_state() -> None:
    chip = Mos6522()
    state = chip.snapshot()
    del state["timer1"]
    with pytest.raises(ValueError, match="timer1"):
        chip.restore(state)
    with pytest.raises(ValueError, match="not a 6522's state"):
        chip.restore({"timer1": {}})


@pytest.mark.parametrize("seed", range(10))
def test_a_restored_chip_goes_on_alike(seed: int) -> None:
    """At any point of a program, chips rebuilt from JSON text live on as the originals do."""
    rng = random.Random(seed)
    pair = Pair(timeout_beats=rng.randrange(64))
    for action in random_program(rng, 60, longest_gap=60):
        pair.do(action)
        copies: list[Chip] = [Mos6522(), Mos6522Stepwise()]
        for original, rebuilt in zip((pair.closed, pair.stepwise), copies, strict=True):
            state = original.snapshot()
            rebuilt.restore(json.loads(json.dumps(state)))
            assert rebuilt.snapshot() == state
            rebuilt.advance(rebuilt.now + 20)
        assert visible(copies[0]) == visible(copies[1])


@both
def test_eight_bits_of_a_value_are_written(kind: type[Chip]) -> None:
    chip = kind()
    for cycle, register in enumerate((T1CL, T1CH, ACR, DDRA)):
        chip.write(register, 0x1FF, cycle)
    assert chip.read(DDRA, 30) == 0xFF
    assert chip.read(ACR, 31) == 0xFF
    assert chip.read(T1CH, 32) == 0xFF
