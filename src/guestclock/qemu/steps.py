"""Lists of VIA accesses performed by a guest on a real QEMU, each at an instant that is known exactly.

Under ``-icount shift=N,sleep=off`` virtual time is instructions executed << N, and an access happens when
its own instruction is counted.  The guest (``guests/viasteps/steps.S``) executes a known number of them
between any two accesses.  It lets interrupts in where a step says so; the handler, which is as exact, logs
which instruction it came before and masks further ones.

A probe asks whether an interrupt is waiting: it lets one in and stores the low byte of where the next entry
of the log would go, which an interruption has moved on.
"""

import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from guestclock.errors import UnavailableError
from guestclock.guests.viasteps.build import ELF
from guestclock.qemu.binary import Binary
from guestclock.qemu.qtest import Qtest, private_folder, write_file

VIA1_BASE = 0x50000000
VIA2_BASE = 0x50002000
REGISTER_BYTES = 0x200
MASKED = 0x2700
UNMASKED = 0x2000

# The guest's own numbers, from its source.
PREFIX_INSTRUCTIONS = 7
HANDLER_INSTRUCTIONS = 4
_PROGRAM = 0x100000
_STEP_PC = 0x10018
_LOOP_PC = 0x10020
_ROUTINES = 0x10040
_ROUTINE_BYTES = 64
_FINISH = 3
_FETCHES = 4
_DONE = b"done"
_STEP = struct.Struct(">IIHH")
_POLL_S = 0.02


class Kind(IntEnum):
    """What a step does at its instant."""

    READ = 0
    WRITE = 1
    SET_STATUS = 2
    PROBE = 4


# Bytes of each of a routine's instructions but its branch back; the access is the first.
_LENGTHS = {Kind.READ: (4, 2), Kind.WRITE: (4,), Kind.SET_STATUS: (2,), Kind.PROBE: (2, 4, 2, 2)}
ANSWERING = (Kind.READ, Kind.PROBE)
"""The kinds that store a byte."""


@dataclass(frozen=True, slots=True)
class Step:
    """``loops`` turns of a loop of two instructions (1 to 2^32 - 1), then one access, or one change of the
    CPU's status register to ``value``; a probe masks interrupts again."""

    kind: Kind
    register: int
    value: int
    loops: int

    @property
    def before(self) -> int:
        """Instructions from the step's first to the last before its access."""
        return _FETCHES + 2 * self.loops + 1

    @property
    def after(self) -> int:
        """Instructions after its access."""
        return len(_LENGTHS[self.kind])

    def seen_before(self, instruction: int) -> tuple[int, int]:
        """Return what the handler logs if it comes before that instruction of the step: d0 and PC."""
        if instruction == 0:
            return 0, _STEP_PC
        if instruction <= _FETCHES:
            return self.loops, _STEP_PC + 2 * instruction
        looped = instruction - _FETCHES
        if looped < 2 * self.loops:
            return self.loops - (looped + 1) // 2, _LOOP_PC + 2 * (looped % 2)
        past = looped - 2 * self.loops
        if past == 0:
            return 0, _LOOP_PC + 4
        return 0, _ROUTINES + _ROUTINE_BYTES * self.kind + sum(_LENGTHS[self.kind][: past - 1])


@dataclass(frozen=True)
class Outcome:
    """What a program found: a byte for each read and probe, and (d0, PC) of each interruption."""

    reads: bytes
    interruptions: tuple[tuple[int, int], ...]
    log_start: int = field(default=0, compare=False)
    """Where the log began; a probe's byte follows from it."""


def encode(steps: Sequence[Step], base: int) -> tuple[bytes, int, int]:
    """Return the program as the guest takes it, and where it will put reads and interruptions."""
    routine = _ROUTINES + _ROUTINE_BYTES * _FINISH
    body = [
        _STEP.pack(
            step.loops, _ROUTINES + _ROUTINE_BYTES * step.kind, step.register * REGISTER_BYTES, step.value
        )
        for step in steps
    ]
    body.append(_STEP.pack(1, routine, 0, 0))
    reads = _PROGRAM + 12 + _STEP.size * len(body)
    log = (reads + len(steps) + 3) & ~3
    return struct.pack(">III", reads, log, base) + b"".join(body), reads, log


def run_steps(
    binary: Binary, steps: Sequence[Step], shift: int, base: int = VIA1_BASE, patience_s: float = 120.0
) -> Outcome:
    """Perform the steps on the binary's q800 with one instruction taking 2^shift ns.

    Raises what :class:`~guestclock.qemu.qtest.Qtest` does, :class:`~guestclock.errors.BadInputError` for a
    binary without that machine, and :class:`~guestclock.errors.UnavailableError` if the guest has not come to
    its end in ``patience_s``.
    """
    binary.require_machine("q800")
    program, reads_at, log_at = encode(steps, base)
    memory_mib = 8 + (log_at + 8 * len(steps) >> 20)
    with private_folder() as folder:
        path = write_file(folder, "program", program)
        arguments = [
            *("-M", "q800", "-m", str(memory_mib), "-accel", "tcg", "-icount", f"shift={shift},sleep=off"),
            *("-kernel", str(ELF), "-device", f"loader,file={path},addr={_PROGRAM:#x},force-raw=on"),
        ]
        with Qtest(binary, arguments, binary.answer_s) as machine:
            log_end = _wait_for_end(machine, patience_s, binary)
            count = sum(step.kind in ANSWERING for step in steps)
            reads = machine.read_memory(reads_at, count)
            log = machine.read_memory(log_at, log_end - log_at)
    return Outcome(reads, tuple(struct.iter_unpack(">II", log)), log_at)


def _wait_for_end(machine: Qtest, patience_s: float, binary: Binary) -> int:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        header = machine.read_memory(_PROGRAM, 8)
        if header[4:] == _DONE:
            return int.from_bytes(header[:4], "big")
        time.sleep(_POLL_S)
    raise UnavailableError(
        f"{binary.path} ({binary.version}): its guest has not come to its end in {patience_s:g} s"
    )
