"""A program for a Macintosh with a 68040, started as a Linux kernel is: what its VIA1 shows, told serially.

An access to a VIA takes a cycle of φ2, so accesses made one right after the other lie in neighbouring
cycles, and a cycle in which nothing is to happen is spent by reading a register that nothing changes.  A
vector is such a row, without branches (:func:`piece`).  Whether each access took one cycle and no more is
found out: T2 of VIA2 counts the cycles of the row.

The pins of a Macintosh's VIA1 are wired to the keyboard's bus, the clock chip and much else
(:func:`reason_against`).
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from guestclock.chips.registers import (
    ACR,
    ACR_T1_FREE_RUN,
    ACR_T2_PULSES,
    DDRA,
    DDRB,
    IER,
    IER_SET,
    IFR,
    IFR_ANY,
    IFR_T1,
    IFR_T2,
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    PCR,
    SR,
    T2CH,
    T2CL,
)
from guestclock.conformance import library
from guestclock.conformance.capture.evidence import as_recorded, fingerprint
from guestclock.conformance.capture.mac_output import passes_said
from guestclock.conformance.capture.machine import Batch, Machine
from guestclock.conformance.capture.runs import Op, Run
from guestclock.conformance.preparing import prepared
from guestclock.conformance.programs.builder import t2_count
from guestclock.conformance.vector import Read, Step, Vector, Write, needs
from guestclock.errors import BadInputError
from guestclock.guests.viacapture.build import ELF

PASSES = 3
PASSES_ENOUGH = 2
RULER_BYTES = 2
SPEND = DDRA
OWN_FLAGS = IFR_ANY | IFR_T1 | IFR_T2
"""Of IFR; the others follow pins: 60 Hz, one second, the keyboard's bus."""

WIRED = {ORA, ORB, ORA_NO_HANDSHAKE, DDRA, DDRB, PCR, SR}
TIMER_MODES = ACR_T1_FREE_RUN | ACR_T2_PULSES

# The 68040's instruction cache; a piece that it does not hold would wait for memory between accesses.
PIECE_BYTES_MOST = 4096
PAGE_BYTES = 4096

# Instructions with a 16-bit displacement from a2 (VIA1) or a4 (VIA2): M68000 Family Programmer's Reference.
REGISTER_BYTES = 0x200
MOVE_IMMEDIATE = {1: 0x157C, 2: 0x197C}
MOVE_TO_RESULTS = {1: 0x12EA, 2: 0x12EC}
TST_VIA1 = 0x4A2A
RTS = 0x4E75


def reason_against(vector: Vector) -> str:
    """Return why a Macintosh cannot run a vector, or an empty string."""
    if "reset" in needs(vector):
        return "RES would reset the machine"
    if "irq" in needs(vector):
        return "the CPU cannot tell in which half of a cycle IRQ falls"
    accesses = [step for step in vector.steps if isinstance(step, Read | Write)]
    if needs(vector) or any(step.register in WIRED for step in accesses):
        return "it is about pins, and those are wired"
    writes = [step for step in accesses if isinstance(step, Write)]
    if any(step.register == ACR and step.value & ~TIMER_MODES for step in writes):
        return "PB7, CB1 and CB2 are wired"
    reads_flags = any(step.register == IFR for step in accesses if isinstance(step, Read))
    if reads_flags and any(step.register == IER and _enables_others(step.value) for step in writes):
        return "IFR7 would tell of flags that pins set"
    if prepared(vector) is None:
        return "it means power-up"
    if len(piece(_run(vector))[0]) > PIECE_BYTES_MOST:
        return "it is too long for the instruction cache"
    return ""


def _enables_others(value: int) -> bool:
    return bool(value & IER_SET and value & ~OWN_FLAGS)


def runs(vectors: Iterable[Vector]) -> list[Run]:
    """Return the vectors that a Macintosh can run, in their own cycles; of IFR the timers' bits count."""
    return [_run(vector) for vector in vectors if not reason_against(vector)]


def _run(vector: Vector) -> Run:
    steps = tuple(map(_own_flags, vector.steps))
    ops = [
        Op("write", step.cycle, step.register, step.value)
        if isinstance(step, Write)
        else Op("read", step.cycle, step.register, stored=bool(step.values))
        for step in steps
        if isinstance(step, Read | Write)
    ]
    return Run(replace(vector, steps=steps), tuple(ops), outputs_a=0, late_cycles=0)


def _own_flags(step: Step) -> Step:
    if isinstance(step, Read) and step.register == IFR and step.values:
        values = tuple(dict.fromkeys(value & OWN_FLAGS for value in step.values))
        return step._replace(values=values, mask=step.mask & OWN_FLAGS)
    return step


# ---------------------------------------------------------------------- code


def piece(run: Run) -> tuple[bytes, int]:
    """Return the code of a run, and how many cycles it takes between the ruler's start and its reading."""
    ready = prepared(run.vector)
    assert ready is not None, "such vectors are left out"
    code = _write(2, T2CL, 0xFF) + _write(2, T2CH, 0xFF)
    cycle = 0
    for step in ready.steps:
        assert isinstance(step, Read | Write)
        code += (step.cycle - cycle) * _tst(SPEND)
        if isinstance(step, Write):
            code += _write(1, step.register, step.value)
        else:
            code += _read(1, step.register) if step.values else _tst(step.register)
        cycle = step.cycle + 1
    return code + _read(2, T2CL) + _read(2, T2CH) + struct.pack(">H", RTS), cycle


def _write(via: int, register: int, value: int) -> bytes:
    return struct.pack(">HHH", MOVE_IMMEDIATE[via], value, register * REGISTER_BYTES)


def _read(via: int, register: int) -> bytes:
    return struct.pack(">HH", MOVE_TO_RESULTS[via], register * REGISTER_BYTES)


def _tst(register: int) -> bytes:
    return struct.pack(">HH", TST_VIA1, register * REGISTER_BYTES)


# ---------------------------------------------------------------------- the file

_FILE_HEADER = struct.Struct(">16sHHIIIIIHHHHHH")
_PROGRAM_HEADER = struct.Struct(">8I")
_TABLE = struct.Struct(">2sHHHI")


def program(found: Sequence[Run]) -> bytes:
    """Return the ELF file that does the runs, three times over, and tells what it saw."""
    image = ELF.read_bytes()
    file_header = _FILE_HEADER.unpack_from(image)
    kind, offset, address, physical, size, *_ = _PROGRAM_HEADER.unpack_from(image, file_header[5])
    base = image[offset : offset + size]
    pieces = [piece(run)[0] for run in found]
    at = _TABLE.size + 4 * len(pieces)
    offsets = []
    body = b""
    for code in pieces:
        # One page, so that our own machine's translator takes it for one block.
        if (gap := -(address + size + at + len(body)) % PAGE_BYTES) < len(code):
            body += bytes(gap)
        offsets.append(at + len(body))
        body += code
    at += len(body)
    results = _results(found)
    table = _TABLE.pack(fingerprint(found), PASSES, len(pieces), results, at)
    data = base + table + struct.pack(f">{len(offsets)}I", *offsets) + body
    header = (*file_header[:5], _FILE_HEADER.size, 0, *file_header[7:9], _PROGRAM_HEADER.size, 1, 0, 0, 0)
    start = _FILE_HEADER.size + _PROGRAM_HEADER.size
    segment = _PROGRAM_HEADER.pack(kind, start, address, physical, len(data), len(data) + results, 7, 4)
    return _FILE_HEADER.pack(*header) + segment + data


# ---------------------------------------------------------------------- and back


@dataclass(frozen=True)
class Macintosh(Machine):
    """The machine of the kit: not every run that it makes is one of the vector."""

    def read(self, said: str, name: str, who: str) -> list[Vector]:
        """Return the vectors whose accesses all took one cycle, in two passes or more with one result.

        Raises :class:`BadInputError` if the text is damaged, or no vector was run so.
        """
        batches = {fingerprint(batch.runs): batch.runs for batch in self.batches()}
        mark, passes = passes_said(said, name)
        if mark not in batches:
            raise BadInputError(f"{name}: {mark.hex()} is none of this version's programs for the machine")
        found = batches[mark]
        count = _results(found)
        for number, bytes_ in enumerate(passes):
            if len(bytes_) != count:
                raise BadInputError(f"{name}: pass {number} has {len(bytes_)} bytes instead of {count}")
        shown = zip(*(_placed(found, bytes_) for bytes_ in passes), strict=True)
        steady = [
            vector
            for run, answers in zip(found, shown, strict=True)
            if (vector := _steady(run, answers, who)) is not None
        ]
        if not steady:
            raise BadInputError(
                f"{name}: in none of {len(found)} vectors did each access take one cycle of φ2, as T2 of VIA2"
                " counted them: this machine's accesses tell nothing"
            )
        return steady


def _results(found: Sequence[Run]) -> int:
    return sum(run.results + RULER_BYTES for run in found)


def ruler(cycles: int) -> bytes:
    """Return what T2 of VIA2 shows behind so many cycles of a piece, read byte by byte, the low one first."""
    return bytes([t2_count(0xFFFF, cycles + 1) & 0xFF, t2_count(0xFFFF, cycles + 2) >> 8])


def _placed(found: Sequence[Run], said: bytes) -> Iterator[bytes | None]:
    """Yield what each run found, None where an access was late: then the ruler counted more cycles."""
    at = 0
    for run in found:
        counted = said[at + run.results : at + run.results + RULER_BYTES]
        yield said[at : at + run.results] if counted == ruler(piece(run)[1]) else None
        at += run.results + RULER_BYTES


def _steady(run: Run, passes: Sequence[bytes | None], who: str) -> Vector | None:
    """Return the run's vector with what all passes in which it was placed say, if those are enough."""
    placed = [as_recorded(run, iter(answers), who) for answers in passes if answers is not None]
    return placed[0] if len(placed) >= PASSES_ENOUGH and placed.count(placed[0]) == len(placed) else None


def _batches() -> list[Batch]:
    found = runs(library.packaged())
    return [Batch(found, program(found))]


MAC = Macintosh(
    "mac",
    "a Macintosh with a 68040 (Quadra 800 and its like), its VIA1",
    "Start the file as a Linux kernel (Penguin, EMILE) and keep what comes out of the modem port at 9600 8N1,"
    " up to '@gc bye'.",
    _batches,
)
