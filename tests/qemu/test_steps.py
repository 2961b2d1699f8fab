"""The guest that performs VIA accesses: its bytes, its instructions, its machine."""

import random
import shutil
import struct
from pathlib import Path

import pytest
from via_programs import VIA2_WRITES, Prediction, first_difference, predict, random_steps

from guestclock.chips.qemu_deviations import ALWAYS, QEMU_7_2, Deviation
from guestclock.chips.qemu_via import VIA1, VIA2, QemuVia
from guestclock.chips.registers import IER, T1CH, T1CL
from guestclock.errors import BadInputError
from guestclock.guests.viasteps.build import ELF, build_steps
from guestclock.qemu.binary import Binary, open_binary
from guestclock.qemu.steps import UNMASKED, VIA1_BASE, VIA2_BASE, Kind, Step, encode, run_steps


def test_a_program_in_bytes() -> None:
    program, reads, log = encode([Step(Kind.WRITE, T1CH, 0x12, 3)], VIA1_BASE)
    assert struct.unpack(">III", program[:12]) == (reads, log, VIA1_BASE)
    assert struct.unpack(">IIHH", program[12:24]) == (3, 0x10080, 5 * 0x200, 0x12)
    assert reads >= 0x100000 + len(program)
    assert log % 4 == 0


@pytest.mark.parametrize(
    ("instruction", "seen"),
    [
        (0, (0, 0x10018)),
        (1, (2, 0x1001A)),
        (4, (2, 0x10020)),
        (5, (1, 0x10022)),
        (6, (1, 0x10020)),
        (7, (0, 0x10022)),
        (8, (0, 0x10024)),
        (9, (0, 0x10040)),
        (10, (0, 0x10044)),
        (11, (0, 0x10046)),
    ],
)
def test_where_an_interruption_is_seen(instruction: int, seen: tuple[int, int]) -> None:
    step = Step(Kind.READ, T1CL, 0, 2)
    assert step.seen_before(instruction) == seen
    assert step.before == 9


def test_a_binary_without_the_machine_is_refused(tmp_path: Path) -> None:
    path = shutil.which("true")
    assert path is not None
    with pytest.raises(BadInputError, match="has no machine q800"):
        run_steps(Binary(path, "1.0"), [], 3)


@pytest.mark.parametrize("deviation", list(QEMU_7_2 & ~ALWAYS))
def test_the_random_programs_show_each_deviation(deviation: Deviation) -> None:
    """A model that lacks one would not pass for QEMU."""
    for seed in range(20):
        shift = (0, 6)[seed % 2]
        steps = list(random_steps(random.Random(seed), 1000, 1 << 12))
        models = (QemuVia(QEMU_7_2, VIA1), QemuVia(QEMU_7_2 & ~deviation, VIA1))
        outcomes = [predict(model, steps, shift) for model in models]
        if first_difference(steps, *outcomes) is not None:
            return
    pytest.fail("not one of the programs shows it")


@pytest.mark.real
def test_via2_on_qemu() -> None:
    """All registers, port B too."""
    steps = list(random_steps(random.Random(7), 10_000, 1 << 12, VIA2_WRITES))
    found = run_steps(open_binary(), steps, 6, VIA2_BASE)
    assert first_difference(steps, found, predict(QemuVia(wiring=VIA2), steps, 6)) is None
    assert len(found.interruptions) > 100


@pytest.mark.real
def test_the_committed_elf_is_what_its_source_builds(tmp_path: Path) -> None:
    build_steps(tmp_path / "steps.elf")
    assert (tmp_path / "steps.elf").read_bytes() == ELF.read_bytes(), (
        "the source has changed: python -m guestclock.guests.viasteps.build"
        " (or this compiler is not Debian 12's gcc-m68k-linux-gnu)"
    )


@pytest.mark.real
def test_interruptions_on_qemu_at_every_offset_of_a_step() -> None:
    """An alarm is let fall before each instruction of a step in turn, the loop's two among them."""
    shift = 6
    steps = [Step(Kind.WRITE, IER, 0x7F, 1)]
    for loops in range(1, 60):
        steps += [
            Step(Kind.WRITE, 0xB, 0x40, 1),
            Step(Kind.WRITE, T1CL, 1, 1),
            Step(Kind.WRITE, IER, 0xC0, 1),
            Step(Kind.WRITE, T1CH, 0, loops),
            Step(Kind.SET_STATUS, 0, UNMASKED, 1),
            *[Step(Kind.READ, 0xC, 0, 1 + extra) for extra in (loops % 3, 4, 7)],
            Step(Kind.READ, T1CL, 0, 1),
            Step(Kind.WRITE, IER, 0x7F, 1),
        ]
    prediction = Prediction(QemuVia(wiring=VIA1), shift)
    for step in steps:
        prediction.perform(step)
    found = run_steps(open_binary(), steps, shift)
    assert found == prediction.outcome
    assert len(found.interruptions) == 59


@pytest.mark.real
def test_what_debians_binary_can_do() -> None:
    binary = open_binary()
    assert "q800" in binary.machines
    assert "tcg" in binary.accelerators
    assert {"mos6522_read", "mos6522_write"} <= set(binary.trace_events)
