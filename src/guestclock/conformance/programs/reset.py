"""RES in the middle of things."""

from collections.abc import Iterator

from guestclock.chips.registers import (
    ACR,
    ACR_T1_FREE_RUN,
    ACR_T2_PULSES,
    DDRA,
    DDRB,
    IER,
    IER_SET,
    IFR,
    IFR_T1,
    IFR_T2,
    ORA,
    ORB,
    PB6,
    PCR,
    SR,
    SR_OUT_PHI2,
    T1CH,
    T1CL,
    T1LH,
    T1LL,
    T2CH,
    T2CL,
)
from guestclock.conformance.programs.builder import LOAD, T1, T2, Program, t1_count, t2_count, timeout
from guestclock.conformance.programs.lines import HANDSHAKE, A, B

RES = 40
"""The cycle in which RES is pulled."""


def programs() -> Iterator[Program]:
    """Yield programs for what reset clears, stops and leaves."""
    yield _clears()
    yield _data_registers()
    yield _counters_go_on()
    yield from _disarms()
    yield _releases_irq()
    yield from _releases_lines()
    yield _stops_shifting()
    yield _frees_pb6()


def _clears() -> Program:
    program = Program("reset.registers", 20, "DDRA, DDRB, ACR, PCR and IER are clear after reset")
    written = {DDRA: 0xFF, DDRB: 0xFF, ACR: 0x40, PCR: 0x44, IER: 0xFF}
    for number, (register, value) in enumerate(written.items()):
        program.write(number, register, value)
    program.reset(RES)
    for number, register in enumerate(written):
        program.read(RES + 1 + number, register, 0x80 if register == IER else 0)
    return program


def _data_registers() -> Program:
    program = Program("reset.data-registers", 20, "ORA and ORB are clear after reset")
    program.write(0, ORA, 0xFF)
    program.write(1, ORB, 0xFF)
    program.reset(RES)
    program.write(RES + 1, DDRA, 0xFF)
    program.write(RES + 2, DDRB, 0xFF)
    program.read(RES + 3, ORA, 0)
    program.read(RES + 4, ORB, 0)
    return program


def _counters_go_on() -> Program:
    program = Program("reset.counters-survive", 20, "both counters go on, T1's latch is kept")
    program.load(T2, 0x1234, 5)
    program.load(T1, 0x2345)
    program.reset(RES)
    program.read(RES + 1, T1CL, t1_count(0x2345, RES + 1 - LOAD))
    program.read(RES + 2, T1CH, t1_count(0x2345, RES + 2 - LOAD) >> 8)
    program.read(RES + 3, T2CL, t2_count(0x1234, RES + 3 - 5))
    program.read(RES + 4, T2CH, t2_count(0x1234, RES + 4 - 5) >> 8)
    program.read(RES + 5, T1LL, 0x45)
    program.read(RES + 6, T1LH, 0x23)
    return program


def _disarms() -> Iterator[Program]:
    for timer in (T1, T2):
        program = Program(
            f"reset.disarms-{timer.name.lower()}", 20, "a timer started before reset sets no flag"
        )
        program.load(timer, 60)
        program.reset(RES)
        program.read(timeout(60), IFR, 0)
        program.read(timeout(60) + 1, IFR, 0)
        yield program


def _releases_lines() -> Iterator[Program]:
    for port in (A, B):
        program = Program(
            f"reset.releases-{port.c2}", 20, "C2 is an input after reset, no longer low", "data-sheet"
        )
        program.write(0, PCR, HANDSHAKE << port.shift)
        program.write(10, port.data, 0)
        program.check(2 * 20 + 1, port.c2, 0)
        program.reset(RES)
        program.check(2 * (RES + 2) + 1, port.c2, 1)
        program.write(RES + 3, PCR, HANDSHAKE << port.shift)
        program.check(2 * (RES + 6) + 1, port.c2, 1)
        yield program


def _stops_shifting() -> Program:
    program = Program("reset.stops-shifting", 20, "reset stops the shift register, which keeps what it has")
    program.write(0, ACR, SR_OUT_PHI2)
    program.write(RES - 5, SR, 0xB4)
    program.reset(RES)
    program.write(RES + 20, ACR, SR_OUT_PHI2)
    program.read(RES + 25, IFR, 0)
    program.read(RES + 30, SR, 0xD2)
    return program


def _frees_pb6() -> Program:
    program = Program(
        "reset.frees-pb6", 20, "PB6 that was driven low is an input: its next fall counts", "model"
    )
    program.write(0, ORB, 0)
    program.write(1, DDRB, PB6)
    program.reset(RES)
    program.write(RES + 2, ACR, ACR_T2_PULSES)
    program.load(T2, 9, RES + 10)
    program.drive(RES + 20, "pb", 0xFF & ~PB6)
    program.read(RES + 25, T2CL, 8)
    return program


def _releases_irq() -> Program:
    program = Program("reset.releases-irq", 20, "flags and enables are gone, IRQ is released", "data-sheet")
    program.write(0, ACR, ACR_T1_FREE_RUN)
    program.write(1, IER, IER_SET | IFR_T1 | IFR_T2)
    program.load(T1, 5)
    program.check(2 * RES - 1, "irq", 0)
    program.reset(RES)
    program.check(2 * (RES + 1) + 1, "irq", 1)
    program.read(RES + 2, IFR, 0)
    return program
