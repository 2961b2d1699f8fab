"""The VIC-20's program, run on a 6502 emulator wired to our chip."""

import itertools
from dataclasses import replace

import pytest
from py65.devices.mpu6502 import MPU
from py65.memory import ObservableMemory

from guestclock.chips.mos6522 import Mos6522
from guestclock.conformance import library, runner, targets
from guestclock.conformance.capture.evidence import recorded
from guestclock.conformance.capture.retiming import gap_cycles, possible, retimed, runnable
from guestclock.conformance.capture.vic20 import BASIC_LINE, CHROUT, LOAD_ADDRESS, VIA2, VIC20, program
from guestclock.conformance.runner import Outcome
from guestclock.conformance.text_format import read_text, write_text
from guestclock.conformance.vector import Read, Write
from guestclock.errors import BadInputError

ACCESS_CYCLE = 3
"""LDA and STA with an absolute address touch it in the last of their four cycles."""

RETURN_TO_BASIC = 0xC000
PACKAGED = library.packaged()
chosen = VIC20.vectors


class Vic20:
    """Memory, a 6502, VIA 2, and the KERNAL's CHROUT; nothing else."""

    def __init__(self, via: Mos6522) -> None:
        self.via = via
        self.accesses: list[tuple[int, str, int]] = []
        self.printed = ""
        self.memory = ObservableMemory()
        self.cpu = MPU(memory=self.memory)
        window = range(VIA2, VIA2 + 16)
        self.memory.subscribe_to_read(window, self._read)
        self.memory.subscribe_to_write(window, self._write)

    def _cycle(self) -> int:
        return int(self.cpu.processorCycles) + ACCESS_CYCLE

    def _read(self, address: int) -> int:
        self.accesses.append((self._cycle(), "r", address - VIA2))
        return self.via.read(address - VIA2, self._cycle())

    def _write(self, address: int, value: int) -> None:
        self.accesses.append((self._cycle(), "w", address - VIA2))
        self.via.write(address - VIA2, value, self._cycle())

    def run(self, prg: bytes) -> None:
        assert int.from_bytes(prg[:2], "little") == LOAD_ADDRESS
        for offset, byte in enumerate(prg[2:]):
            self.memory[LOAD_ADDRESS + offset] = byte
        self.memory[CHROUT] = 0x60
        self.cpu.stPushWord(RETURN_TO_BASIC - 1)
        self.cpu.pc = int(BASIC_LINE[5:9].decode())
        while self.cpu.pc != RETURN_TO_BASIC:
            if self.cpu.pc == CHROUT:
                self.printed += chr(self.cpu.a)
            self.cpu.step()


def captured(via: Mos6522) -> Vic20:
    machine = Vic20(via)
    machine.run(program(chosen()))
    return machine


def test_our_chip_in_the_machine_gives_what_the_vectors_expect() -> None:
    machine = captured(Mos6522())
    found = recorded(machine.printed, "x", chosen(), "us")
    for vector, run in zip(chosen(), found, strict=True):
        assert runner.judge(vector, _values(run)).outcome in {Outcome.PASSED, Outcome.CONTESTED}
        assert (run.grade, run.hardware_run) == ("recorded", "us")
    assert list(read_text(write_text(found), "x")) == found
    results = runner.run(found, targets.model(), "nmos")
    assert {result.outcome for result in results} == {Outcome.PASSED}


def _values(vector: runner.Vector) -> list[int]:
    return [step.values[0] if step.values else 0 for step in vector.steps if isinstance(step, Read)]


@pytest.mark.parametrize("beats", [0x00, 0x01, 0x3F])
def test_chips_that_differ_in_the_timeout_print_something_else(beats: int) -> None:
    assert captured(Mos6522(timeout_beats=beats)).printed != captured(Mos6522()).printed


def test_every_access_comes_in_its_cycle() -> None:
    accesses = captured(Mos6522()).accesses
    at = 0
    for vector in chosen():
        at += 8  # what prepares the chip
        now = accesses[at : at + len(vector.steps)]
        at += len(vector.steps)
        first = now[0][0] - vector.steps[0].cycle
        assert [
            (cycle - first, kind, register) for cycle, kind, register in now
        ] == [
            (step.cycle, "w" if isinstance(step, Write) else "r", step.register)
            for step in vector.steps
            if isinstance(step, Read | Write)
        ]  # fmt: skip
    assert at == len(accesses)


def test_what_is_captured() -> None:
    names = {vector.name for vector in chosen()}
    wanted = {vector.name for vector in PACKAGED if vector.fact in (7, 8)}
    assert names == wanted
    for vector in runnable(PACKAGED):
        steps = [step for step in vector.steps if isinstance(step, Read | Write)]
        for before, step in itertools.pairwise(steps):
            assert possible(step.cycle - before.cycle, gap_cycles(before, step))


def test_a_vector_that_cannot_be_moved_is_left_out() -> None:
    assert retimed(library.named(PACKAGED, "t1.count.n0014-k1")) is None  # no 6502 reads in the next cycle
    assert retimed(library.named(PACKAGED, "pb6.falls-count")) is None  # pins
    assert retimed(library.named(PACKAGED, "ifr.ier-bit-7")) is None  # starts no timer


def test_a_misread_screen_is_noticed() -> None:
    printed = captured(Mos6522()).printed
    digits = "".join(printed.split())
    wrong = ("0" if digits[5] != "0" else "1").join((digits[:5], digits[6:]))
    for text, message in ((wrong, "sum"), (digits[2:], "bytes instead of"), (digits + "x", "hexadecimal")):
        with pytest.raises(BadInputError, match=message):
            recorded(text, "x", chosen(), "us")


def test_too_much_for_the_machine() -> None:
    (first, *_) = chosen()
    many = [replace(first, name=str(number)) for number in range(100)]
    with pytest.raises(BadInputError, match="too many for an unexpanded VIC-20"):
        program(many)
