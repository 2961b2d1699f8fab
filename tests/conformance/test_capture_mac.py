"""The Macintosh's program on our Quadra, whose bus is a real one's, and on a real QEMU."""

import re
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.registers import IFR, IFR_CA1, IFR_T1, T2CH, T2CL
from guestclock.conformance import library, runner, targets
from guestclock.conformance.capture.mac import (
    MAC,
    PASSES,
    PIECE_BYTES_MOST,
    RULER_BYTES,
    piece,
    reason_against,
    ruler,
)
from guestclock.conformance.capture.mac_output import END, passes_said
from guestclock.conformance.runner import Outcome
from guestclock.conformance.vector import Vector, observed
from guestclock.errors import BadInputError
from guestclock.guests.viacapture.build import ELF, build_capture
from guestclock.qemu.binary import open_binary
from guestclock.quadra.elf import load_elf
from guestclock.quadra.image import assemble
from guestclock.quadra.machine import Quadra
from guestclock.timebase.pacing import VirtualPacer

RAM_BYTES = 8 << 20
CHANNEL_A = 1
(BATCH,) = MAC.batches()
VECTORS = {run.vector.name: run.vector for run in BATCH.runs}
LINE_BYTES = 32
BLOCK_INSTRUCTIONS = 512
"""Our Quadra's translator cuts code there, and then an access comes a cycle late."""


def said_by_our_quadra(bus: str = "phi2") -> str:
    said = bytearray()

    def heard(channel: int, byte: int) -> None:
        assert channel == CHANNEL_A
        said.append(byte)
        machine.bus.stop_requested |= said.endswith(END.encode())

    kernel = load_elf(BATCH.program)
    image = assemble(kernel, initrd=None, command_line="", ram_bytes=RAM_BYTES)
    with Quadra(
        image, ram_bytes=RAM_BYTES, pacer=VirtualPacer(), bus=bus, rtc_seconds=lambda: 0, transmitted=heard
    ) as machine:
        machine.run()
    return said.decode()


@pytest.fixture(scope="module")
def said() -> str:
    return said_by_our_quadra()


def outcome(found: Vector) -> Outcome:
    """Return how a run's answers do against the vector that it was."""
    answers = [step.values[0] if step.values else 0 for step in observed(found.steps)]
    return runner.judge(VECTORS[found.name], answers).outcome


def test_our_quadra_gives_what_the_vectors_expect(said: str) -> None:
    found = MAC.read(said, "x", "us")
    late = VECTORS.keys() - {vector.name for vector in found}
    long = {run.vector.name for run in BATCH.runs if piece(run)[1] >= BLOCK_INSTRUCTIONS}
    assert late == long
    assert {outcome(vector) for vector in found} <= {Outcome.PASSED, Outcome.CONTESTED}
    assert {(vector.grade, vector.hardware_run) for vector in found} == {("recorded", "us")}
    assert {result.outcome for result in runner.run(found, targets.model(), "nmos")} == {Outcome.PASSED}


def test_a_bus_on_which_reads_share_a_cycle_tells_nothing() -> None:
    with pytest.raises(BadInputError, match=r"x: in none of \d+ vectors did each access take one cycle"):
        MAC.read(said_by_our_quadra("fast"), "x", "us")


def resummed(line: str) -> str:
    digits = re.findall(r"=([0-9a-f]*)", line)
    total = sum(bytes.fromhex("".join(digits[:-1]))) & 0xFF
    return line[: line.rindex("=") + 1] + f"{total:02x}"


def altered(said: str, chosen: str, change: Callable[[str], str]) -> str:
    lines = said.splitlines()
    (at,) = (number for number, line in enumerate(lines) if chosen in line)
    lines[at] = change(lines[at])
    return "\n".join(lines)


def with_byte(said: str, number: int, offset: int, mask: int) -> str:
    """Flip bits of what a pass found."""
    line_at, index = offset // LINE_BYTES * LINE_BYTES, offset % LINE_BYTES

    def change(line: str) -> str:
        head, mark, tail = line.partition(" data=")
        byte = int(tail[2 * index : 2 * index + 2], 16) ^ mask
        return resummed(f"{head}{mark}{tail[: 2 * index]}{byte:02x}{tail[2 * index + 2 :]}")

    return altered(said, f"pass={number:04x} at={line_at:04x}", change)


def names(said: str) -> set[str]:
    return {vector.name for vector in MAC.read(said, "x", "us")}


def test_flags_that_pins_set_may_differ_from_pass_to_pass(said: str) -> None:
    """CA1 has a pulse 60 times a second; the timers' flags may not differ."""
    offset = 0
    for run in BATCH.runs:
        stored = [op for op in run.ops if op.gives]
        if stored and stored[0].register == IFR:
            break
        offset += run.results + RULER_BYTES
    assert names(with_byte(said, 1, offset, IFR_CA1)) == names(said)
    assert names(said) - names(with_byte(said, 1, offset, IFR_T1)) == {run.vector.name}


def test_late_once_is_no_harm_late_twice_is(said: str) -> None:
    ruler = BATCH.runs[0].results
    once = with_byte(said, 1, ruler, 1)
    assert names(once) == names(said)
    twice = with_byte(once, 2, ruler, 1)
    assert names(said) - names(twice) == {BATCH.runs[0].vector.name}


def test_what_the_ruler_counts() -> None:
    for cycles in (0, 1, 253, 254, 255, 256, 257, 1000):
        chip = Mos6522()
        chip.write(T2CL, 0xFF, 10)
        chip.write(T2CH, 0xFF, 11)
        shown = bytes([chip.read(T2CL, 12 + cycles), chip.read(T2CH, 13 + cycles)])
        assert ruler(cycles) == shown


def test_what_a_chip_shows_otherwise_is_kept(said: str) -> None:
    other = said
    for number in range(PASSES):
        other = with_byte(other, number, 0, 1)
    first = MAC.read(other, "x", "us")[0]
    assert first.name == "calibration.t1"
    assert outcome(first) is Outcome.FAILED


@pytest.mark.parametrize(
    ("chosen", "change", "message"),
    [
        ("pass=0001 at=0020", lambda line: line.replace("data=", "data=f"), r"x:21: damaged: '@gc found id="),
        (
            "pass=0000 at=0020",
            lambda line: line.replace("at=0020", "at=0040"),
            "x:2: the sum of its bytes is",
        ),
        ("pass=0000 at=0020", lambda _: "noise", "x:3: a line before it is missing"),
        (END, lambda _: "", "x: ends before the line '@gc bye'"),
    ],
)
def test_damaged_output(said: str, chosen: str, change: Callable[[str], str], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        MAC.read(altered(said, chosen, change), "x", "us")


def test_output_of_something_else(said: str) -> None:
    with pytest.raises(BadInputError, match="x: has no line that begins '@gc found'"):
        MAC.read("", "x", "us")
    mark = passes_said(said, "x")[0].hex()
    lines = [line.replace(f"id={mark}", "id=0000") for line in said.splitlines()]
    other = "\n".join(resummed(line) if "sum=" in line else line for line in lines)
    with pytest.raises(BadInputError, match="x: 0000 is none of this version's programs"):
        MAC.read(other, "x", "us")
    last = next(line for line in reversed(said.splitlines()) if "sum=" in line)
    with pytest.raises(BadInputError, match="x: pass 2 has"):
        MAC.read(said.replace(last, ""), "x", "us")


def test_what_is_left_out_and_why() -> None:
    """Everything that needs no pin, no RES and fits; the rest has a reason."""
    reasons = {vector.name: reason_against(vector) for vector in library.packaged()}
    assert {name for name, reason in reasons.items() if not reason} == VECTORS.keys()
    for name, part in {
        "pb7.square-wave.n5": "wired",
        "pb6.falls-count": "pins",
        "reset.registers": "RES",
        "t1.pin-at-n+1.5.n5.one-shot": "half of a cycle",
        "t2.low-byte-reloads.mode4": "CB1",
        "t2.never-armed-never-flags": "power-up",
        "t1.period-n+2.n257.one-shot": "instruction cache",
        "ifr.any.ier-1f": "IFR7",
    }.items():
        assert part in reasons[name], name
    assert max(len(piece(run)[0]) for run in BATCH.runs) <= PIECE_BYTES_MOST


def test_results_have_room_behind_the_program() -> None:
    (segment,) = load_elf(BATCH.program).segments
    results = sum(run.results + RULER_BYTES for run in BATCH.runs)
    assert segment.memsize == len(segment.data) + results
    assert segment.data.startswith(load_elf(ELF).segments[0].data)


# ---------------------------------------------------------------------- with Debian's tools


@pytest.mark.real
def test_the_committed_elf_is_what_its_source_builds(tmp_path: Path) -> None:
    build_capture(tmp_path / "capture.elf")
    assert (tmp_path / "capture.elf").read_bytes() == ELF.read_bytes(), (
        "the source has changed: python -m guestclock.guests.viacapture.build"
        " (or this compiler is not Debian 12's gcc-m68k-linux-gnu)"
    )


@pytest.mark.real
def test_on_qemu_it_boots_and_reports_and_proves_nothing(tmp_path: Path) -> None:
    """QEMU's accesses take no φ2 cycle: the ruler says so."""
    kernel = tmp_path / "mac.elf"
    kernel.write_bytes(BATCH.program)
    command = [open_binary().path, "-M", "q800", "-m", "8", "-display", "none", "-monitor", "none"]
    said = ""
    with subprocess.Popen(
        [*command, "-serial", "stdio", "-kernel", str(kernel)],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    ) as process:
        limit = threading.Timer(60, process.kill)
        limit.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                said += line.decode()
                if END in said:
                    break
        finally:
            limit.cancel()
            process.kill()
    _mark, passes = passes_said(said, "x")
    assert len(passes) == 3
    with pytest.raises(BadInputError, match="in none of"):
        MAC.read(said, "x", "us")
