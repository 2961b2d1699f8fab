"""The capture programs, run on an emulated 6502 wired to our chip."""

import re
from collections.abc import Callable
from functools import cache

import pytest
from computers import AnyChip, Computer
from py65.devices.mpu6502 import MPU

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.chips.registers import DDRB
from guestclock.conformance import library, runner, targets
from guestclock.conformance.capture import apple2, bbc, vic20
from guestclock.conformance.capture.code6502 import JMP, Code, delays, wait
from guestclock.conformance.capture.evidence import recorded
from guestclock.conformance.capture.machine import Batch
from guestclock.conformance.capture.machines import MACHINES
from guestclock.conformance.capture.program6502 import PREPARE
from guestclock.conformance.capture.runs import Run, runs
from guestclock.conformance.runner import Outcome
from guestclock.conformance.text_format import read_text, write_text
from guestclock.conformance.vector import Check, Drive, Reset, Vector, Write, observed
from guestclock.errors import BadInputError

PACKAGED = library.packaged()
PUSH_A_X_Y = bytes.fromhex("48 8a 48 98 48")
KEEP_A = {"bbc": bytes.fromhex("85 fc"), "apple2": bytes.fromhex("85 45")}


def on_vic20(batch: Batch, chip: AnyChip, via: int = vic20.VIA2) -> Computer:
    wires = vic20.WIRES if via == vic20.VIA1 else vic20.NONE
    computer = Computer(chip, via, 0x0314, PUSH_A_X_Y, wired=wires.driven, shown=wires.seen)
    load, prg = int.from_bytes(batch.program[:2], "little"), batch.program[2:]
    computer.put(load, prg)
    computer.prints_at(vic20.CHROUT)
    computer.rom(vic20.IOINIT)
    sys = re.fullmatch(rb"\x0b\x10\x0a\x00\x9e(\d{4})\0\0\0", prg[:12])
    assert load == 0x1001
    assert sys
    computer.call(int(sys[1]))
    return computer


def on_user_port(batch: Batch, chip: AnyChip) -> Computer:
    return on_vic20(batch, chip, vic20.VIA1)


def on_apple2(batch: Batch, chip: AnyChip) -> Computer:
    computer = Computer(chip, apple2.VIA, 0x03FE, KEEP_A["apple2"])
    chip.set_pins_a(0x5A, 0)
    chip.set_pins_b(0xA5, 0)
    computer.put(apple2.ORIGIN, batch.program)
    computer.prints_at(apple2.COUT)
    computer.call(apple2.ORIGIN)
    return computer


DATA = re.compile(r"(\d+) DATA ([0-9A-F]+),(\d+)")


def poked(listing: str) -> bytes:
    """Return the bytes that the listing pokes, checked as it checks them."""
    numbers = [int(line.split()[0]) for line in listing.splitlines()]
    assert numbers == sorted(set(numbers))
    assert max(map(len, listing.splitlines())) < 230
    found = [DATA.fullmatch(line) for line in listing.splitlines() if "DATA" in line]
    assert f"TO {len(found)}:READ" in listing
    data = [bytes.fromhex(match[2]) for match in found if match]
    assert [sum(line) % 256 for line in data] == [int(match[3]) for match in found if match]
    return b"".join(data)


def on_bbc(batch: Batch, chip: AnyChip, wires: bool = False) -> Computer:
    listing = batch.program.decode("ascii")
    origins = re.findall(r"(?:HIMEM|P%|CALL )=?&(\w+)", listing)
    assert len(origins) == 3
    assert len(set(origins)) == 1
    origin = int(origins[0], 16)
    driven, seen = (bbc.WIRES.driven, bbc.WIRES.seen) if wires else ({}, {})
    computer = Computer(chip, bbc.USER_VIA, 0x0204, KEEP_A["bbc"], slow=True, wired=driven, shown=seen)
    image = poked(listing)
    computer.put(origin, image)
    assert origin + len(image) <= bbc.END
    computer.memory[bbc.SYSTEM_VIA_IER] = 0xF2
    computer.call(origin)
    assert computer.memory[bbc.SYSTEM_VIA_IER] == 0xF2
    ((last, at),) = re.findall(r"TO (\d+):B%=\?\(&(\w+)\+I%\)", listing)
    shown = bytes(computer.memory[int(at, 16) + number] for number in range(int(last) + 1))
    computer.printed = (shown + bytes([sum(shown) % 256])).hex()
    return computer


def on_bbc_port(batch: Batch, chip: AnyChip) -> Computer:
    return on_bbc(batch, chip, wires=True)


COMPUTERS: dict[str, Callable[[Batch, AnyChip], Computer]] = {
    "vic20": on_vic20,
    "vic20-port": on_user_port,
    "bbc": on_bbc,
    "bbc-port": on_bbc_port,
    "apple2": on_apple2,
}
EVERY = [(name, number) for name in COMPUTERS for number in range(len(MACHINES[name].batches()))]


@cache
def ran(name: str, number: int) -> Computer:
    return COMPUTERS[name](MACHINES[name].batches()[number], Mos6522())


@pytest.mark.parametrize(("name", "number"), EVERY)
def test_our_chip_in_the_machine_shows_what_the_runs_expect(name: str, number: int) -> None:
    machine = MACHINES[name]
    batch = machine.batches()[number]
    found = machine.read(ran(name, number).printed, "x", "us")
    for run, vector in zip(batch.runs, found, strict=True):
        answers = [step.values[0] if step.values else 0 for step in observed(vector.steps)]
        assert runner.judge(run.vector, answers).outcome in {Outcome.PASSED, Outcome.CONTESTED}, vector.name
        assert (vector.grade, vector.hardware_run) == ("recorded", "us")
    assert list(read_text(write_text(found), "x")) == found
    results = runner.run(found, targets.model(), "nmos")
    assert {result.outcome for result in results} == {Outcome.PASSED}


@pytest.mark.parametrize(("name", "number"), EVERY)
def test_everything_comes_in_its_cycle(name: str, number: int) -> None:
    computer = ran(name, number)
    accesses = iter(computer.accesses)
    if name.startswith("vic20"):
        next(accesses)  # interrupts off, before all
    samples = iter(computer.samples)
    for run in MACHINES[name].batches()[number].runs:
        for _ in range(len(PREPARE) + 1):
            next(accesses)
        origin = None
        for op in run.ops:
            if op.kind == "sample":
                assert origin is not None
                assert next(samples) - 2 * origin == op.at, run.vector.name
                continue
            cycle, kind, register = next(accesses)
            origin = cycle - op.at if origin is None else origin
            assert (cycle - origin, kind, register) == (op.at, op.kind[0], op.register), run.vector.name


@pytest.mark.parametrize("name", ["vic20", "bbc", "apple2"])
@pytest.mark.parametrize("beats", [0x00, 0x01, 0x3F])
def test_chips_that_differ_in_the_timeout_print_something_else(name: str, beats: int) -> None:
    first = MACHINES[name].batches()[0]
    other = COMPUTERS[name](first, Mos6522(timeout_beats=beats))
    assert other.printed != ran(name, 0).printed


class LateIrq(Mos6522Stepwise):
    """A chip whose IRQ pin shows the flags as they can be read: half a cycle late."""

    @property
    def irq(self) -> bool:
        return bool(self.ifr & self.ier)


def test_half_a_cycle_shows_on_the_machine_that_sees_half_cycles() -> None:
    """The BBC's CPU looks twice in a cycle of the VIA's; the others' once, in the half that tells."""
    for name in ("bbc", "vic20", "apple2"):
        pins = MACHINES[name].batches()[1]
        assert {run.vector.fact for run in pins.runs} >= {4}
        assert COMPUTERS[name](pins, LateIrq()).printed != ran(name, 1).printed


def test_what_is_captured() -> None:
    """Each program says first what nobody has recorded; nearly every vector is in some program."""
    for name in ("vic20", "bbc", "apple2"):
        first, *rest = MACHINES[name].batches()
        wanted = {vector.name for vector in PACKAGED if vector.fact in (7, 8)}
        assert {run.vector.name for run in first.runs} == wanted
        assert not [run for batch in rest for run in batch.runs if run.vector.fact in (7, 8)]
    both = [run for name in ("bbc", "bbc-port") for batch in MACHINES[name].batches() for run in batch.runs]
    there = {run.vector.name.partition("@")[0] for run in both}
    missing = {vector.name for vector in PACKAGED if vector.name not in there and not _out_of_reach(vector)}
    assert missing == TOO_NARROW


def _out_of_reach(vector: Vector) -> bool:
    """Tell whether a vector resets the chip, or drives or loads pins that no wire can."""
    for step in vector.steps:
        if isinstance(step, Reset) or (isinstance(step, Drive) and step.pin in {"pa", "ca2"}):
            return True
        if isinstance(step, Drive) and step.pin == "pb" and step.level | 0x40 != 0xFF:
            return True
        if (
            isinstance(step, Write)
            and step.register == DDRB
            and step.value & 0x47
            and vector.feature != "port"
        ):
            return True
    return False


TOO_NARROW = {
    "t1.acr-never-restarts",
    *(f"t1.{latch}-written-at-n+3.{mode}" for latch in ("t1ll", "t1cl") for mode in ("one-shot", "free-run")),
    "t2.low-byte-write-sets-the-latch",
    "pb6.with-sr.entered-at-xxff", "pb6.with-sr.left-at-loaded-ff",
    *(f"sr.in-phi2.shifts-cb2.{pattern:02x}" for pattern in (0x00, 0x55, 0xA5, 0xE1)),
}  # fmt: skip
"""Each of their steps counts, and there is no time for them all."""


def test_most_runs_keep_the_vectors_cycles() -> None:
    every = [run for batch in MACHINES["bbc"].batches() for run in batch.runs]
    exact = [run for run in every if run.late_cycles == 0]
    assert len(exact) > 0.6 * len(every)
    single = [run for run in every if "@" in run.vector.name]
    for run in single:
        assert sum(bool(step.values) for step in observed(run.vector.steps)) >= 1


def of(name: str) -> list[Run]:
    return runs([library.named(PACKAGED, name)], bbc.WITHOUT_WIRES)


def test_reads_too_near_each_other_become_runs_of_their_own() -> None:
    found = of("t1.flag-at-n+2.n5.one-shot")
    assert [run.vector.name for run in found] == [
        "t1.flag-at-n+2.n5.one-shot@16", "t1.flag-at-n+2.n5.one-shot@17"
    ]  # fmt: skip
    assert [run.late_cycles for run in found] == [0, 0]
    assert [observed(run.vector.steps)[0].values for run in found] == [(0,), (0x40,)]


def test_a_check_of_the_irq_pin_ends_its_run() -> None:
    for run in of("t1.pin-every-n+2.free-run"):
        assert isinstance(run.vector.steps[-1], Check)
        assert [op.kind for op in run.ops].count("sample") == 1


@pytest.mark.parametrize("cycles", [0, *range(2, 60), 1292, 1293, 1294, 1295, 1300, 2600, 70_001, 131_100])
def test_waiting_takes_exactly_so_long(cycles: int) -> None:
    code = Code(0x10F0)
    code.absolute(JMP, "begin")
    delays(code)
    code.label("begin")
    wait(code, 0xFB, cycles)
    cpu = MPU()
    for offset, byte in enumerate(code.finish()):
        cpu.memory[0x10F0 + offset] = byte
    cpu.pc = 0x10F0
    cpu.step()
    before = cpu.processorCycles
    while cpu.pc < 0x10F0 + len(code.bytes):
        cpu.step()
    assert cpu.processorCycles - before == cycles


def test_a_misread_screen_is_noticed() -> None:
    printed = ran("vic20", 0).printed
    digits = "".join(printed.split())
    wrong = ("0" if digits[7] != "0" else "1").join((digits[:7], digits[8:]))
    shorter, other = digits[:4] + digits[6:], "0000" + digits[4:]
    cases = ((wrong, "sum"), (shorter, "bytes instead of"), (digits + "x", "hexadecimal"),
             (other, "0000 begins the output of none"), ("", "nothing begins"))  # fmt: skip
    for text, message in cases:
        with pytest.raises(BadInputError, match=message):
            MACHINES["vic20"].read(text, "x", "us")


def test_programs_of_one_machine_have_different_fingerprints() -> None:
    for name in COMPUTERS:
        begun = [re.sub(r"\s", "", ran(name, number).printed)[:4] for each, number in EVERY if each == name]
        assert len(set(begun)) == len(begun)
        assert recorded(ran(name, 0).printed, "x", [MACHINES[name].batches()[0].runs], "us")


def test_programs_fit_their_machines() -> None:
    for name in ("vic20", "vic20-port"):
        for batch in MACHINES[name].batches():
            assert 0x1001 + len(batch.program) - 2 <= vic20.MEMORY_END
    for number, batch in enumerate(MACHINES["bbc"].batches()):
        assert 0x1900 + len(batch.program) < bbc.ORIGIN, number  # the tokens make it shorter, not longer
    for name, columns, lines in (("vic20", 22, 23), ("apple2", 40, 24)):
        for each, number in EVERY:
            if each == name:
                shown = ran(name, number).printed.split("\r")
                assert max(map(len, shown)) <= columns
                assert len(shown) < lines
