"""Edges of the control lines, the flags that they set, and what clears these."""

from collections.abc import Iterator

from guestclock.chips.registers import ACR, ACR_T1_FREE_RUN, IER, IER_SET, IFR, IFR_ANY, PCR
from guestclock.conformance.programs.builder import T1, Program
from guestclock.conformance.programs.lines import (
    ACCESS,
    C1_EDGES,
    C2_INPUTS,
    EDGE,
    HANDSHAKE,
    HIGH,
    LOW,
    PULSE,
    A,
    B,
    Port,
    access,
    line_program,
)


def programs(port: Port) -> Iterator[Program]:
    """Yield the programs of a port."""
    yield from _c1_edges(port)
    yield from _c2_edges(port)
    yield from _cleared(port)


def _active(program: Program, port: Port, half: int, at: int) -> None:
    """Let C1 have its active edge in that cycle, having the other one ten cycles before if need be."""
    level = half & 1
    if level:
        program.drive(at - 10, port.c1, 0)
    program.drive(at, port.c1, level)


def _c1_edges(port: Port) -> Iterator[Program]:
    for name, half in C1_EDGES.items():
        program = line_program(
            port,
            f"1-{name}-edge",
            half,
            f"the {name} edge of {port.c1.upper()} sets its flag, the other does not",
        )
        for number, level in enumerate((0, 1)):
            at = EDGE + 20 * number
            program.drive(at, port.c1, level)
            flag = port.c1_flag if level == half else 0
            program.read(at + 5, IFR, flag)
            program.write(at + 6, IFR, port.c1_flag)
            program.read(at + 8, IFR, 0)
        yield program
        program = line_program(
            port,
            f"1-{name}-shows-in-c+1",
            half,
            "an edge in c: the flag reads 1 first in c + 1",
            grade="model",
        )
        _active(program, port, half, EDGE)
        program.read(EDGE, IFR, 0)
        program.read(EDGE + 1, IFR, port.c1_flag)
        yield program
        program = line_program(
            port,
            f"1-{name}-irq-pin",
            half,
            "the IRQ pin falls in the middle of the edge's cycle",
            grade="model",
        )
        program.write(1, IER, IER_SET | port.c1_flag)
        _active(program, port, half, EDGE)
        program.check(2 * EDGE, "irq", 1)
        program.check(2 * EDGE + 1, "irq", 0)
        program.read(EDGE + 1, IFR, IFR_ANY | port.c1_flag)
        yield program
    program = line_program(
        port, "1-edge-sense-changes", 0, "a change of the active edge in PCR is no edge", grade="data-sheet"
    )
    for number, half in enumerate((1, 0, 1)):
        program.write(10 + 4 * number, PCR, half << port.shift)
    program.read(30, IFR, 0)
    yield program


def _c2_edges(port: Port) -> Iterator[Program]:
    for name, half in C2_INPUTS.items():
        active = half >> 2 & 1
        program = line_program(
            port,
            f"2-{name}-edge",
            half,
            f"as {name} input {port.c2.upper()} sets its flag by that edge alone",
        )
        for number, level in enumerate((0, 1)):
            at = EDGE + 20 * number
            program.drive(at, port.c2, level)
            program.read(at + 5, IFR, port.c2_flag if level == active else 0)
            program.write(at + 6, IFR, port.c2_flag)
            program.read(at + 8, IFR, 0)
        yield program
    program = line_program(
        port, "2-edge-shows-in-c+1", 0, "an edge in c: the flag reads 1 first in c + 1", grade="model"
    )
    program.drive(EDGE, port.c2, 0)
    program.read(EDGE, IFR, 0)
    program.read(EDGE + 1, IFR, port.c2_flag)
    yield program
    program = line_program(
        port, "1-edge-acts-once", 0, "a flag once cleared does not come again without an edge"
    )
    program.write(1, ACR, ACR_T1_FREE_RUN)
    program.write(2, IER, IER_SET | port.c1_flag)
    program.load(T1, 5)
    program.drive(EDGE, port.c1, 0)
    program.write(EDGE + 3, IFR, port.c1_flag)
    for cycle in range(EDGE + 5, EDGE + 20):
        program.check(2 * cycle + 1, "irq", 1)
    yield program
    for name, level, flags in (("alone", 1, port.c1_flag), ("together", 0, port.c1_flag | port.c2_flag)):
        program = line_program(
            port, f"1-and-2.{name}", 0, "both lines driven in one cycle: each has its own flag"
        )
        program.drive(EDGE, port.c1, 0)
        program.drive(EDGE, port.c2, level)
        program.read(EDGE + 5, IFR, flags)
        yield program
    for name, half in (("handshake", HANDSHAKE), ("pulse", PULSE), ("low", LOW), ("high", HIGH)):
        program = line_program(
            port, f"2-{name}-hears-nothing", half, "as an output it sets no flag", grade="data-sheet"
        )
        program.drive(EDGE, port.c2, 0)
        program.drive(EDGE + 10, port.c2, 1)
        program.read(EDGE + 15, IFR, 0)
        yield program


def _cleared(port: Port) -> Iterator[Program]:
    for kind in ("read", "write"):
        program = line_program(
            port, f"1-cleared-by-{kind}", 0, f"a {kind} of the data register clears the flag of C1", 25
        )
        program.drive(EDGE, port.c1, 0)
        program.read(EDGE + 5, IFR, port.c1_flag)
        access(program, port, ACCESS, kind)
        program.read(ACCESS + 1, IFR, 0)
        yield program
        for name, half in C2_INPUTS.items():
            stays = name.startswith("independent")
            program = line_program(
                port,
                f"2-{name}.{kind}",
                half,
                f"a {kind} of the data register {'leaves' if stays else 'clears'} the flag of C2",
                25,
            )
            program.drive(EDGE - 10, port.c2, 0)
            program.drive(EDGE, port.c2, 1)
            program.read(EDGE + 5, IFR, port.c2_flag)
            access(program, port, ACCESS, kind)
            program.read(ACCESS + 1, IFR, port.c2_flag if stays else 0)
            yield program
    other = B if port is A else A
    program = line_program(
        port, "flags-and-the-other-port", 0, "an access to the other port clears none of the flags", 25
    )
    program.drive(EDGE, port.c1, 0)
    program.drive(EDGE, port.c2, 0)
    for kind, at in (("read", ACCESS), ("write", ACCESS + 1)):
        access(program, other, at, kind)
    program.read(ACCESS + 2, IFR, port.c1_flag | port.c2_flag)
    yield program
