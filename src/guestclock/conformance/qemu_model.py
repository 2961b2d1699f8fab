"""QEMU's VIA as a target: instants instead of cycles.

QEMU counts from the instant of a write; two accesses of one instant see the same count.  Put at the places
that steps have within their cycles (a read before a write, :func:`~guestclock.conformance.vector.place`),
its counts are those of a 6522 (fact 1).  A write that starts a counter comes a little before other
writes, so that none of these falls on the very instant of a count.
"""

from collections.abc import Iterable, Iterator

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.qemu_deviations import ALWAYS, SETS, Deviation
from guestclock.chips.qemu_timer import NS_PER_S, PHI2_HZ
from guestclock.chips.qemu_via import ALONE, QemuVia, Wiring
from guestclock.chips.registers import (
    ACR,
    ACR_SR_MODE,
    ACR_T2_PULSES,
    IFR,
    IFR_ANY,
    IFR_T2,
    ORA,
    ORA_NO_HANDSHAKE,
    ORB,
    SR_IN_T2,
    SR_OUT_FREE,
    SR_OUT_T2,
    T1CH,
    T2CH,
    T2CL,
)
from guestclock.conformance.preparing import prepared
from guestclock.conformance.targets import Answers, OurChip, PythonTarget, TargetBrokeError, run_on
from guestclock.conformance.vector import Check, Read, Step, Vector, Write, place

INSTANTS_A_CYCLE = 16
SR_MODES_BY_T2 = (SR_IN_T2, SR_OUT_FREE, SR_OUT_T2)
HAS = frozenset({"irq", "half"})
"""What QEMU's VIA has of :data:`~guestclock.conformance.vector.OPTIONAL`."""


def instant_ns(step: Step, start_cycle: int = 0) -> int:
    """Return when a step of a vector that starts in a cycle happens, to the nearest ns."""
    instant = start_cycle * INSTANTS_A_CYCLE + 2 * place(step)
    if isinstance(step, Write) and step.register in (T1CH, T2CH):
        instant -= 1
    return (instant * NS_PER_S + INSTANTS_A_CYCLE * PHI2_HZ // 2) // (INSTANTS_A_CYCLE * PHI2_HZ)


class QemuChip:
    """A VIA of a set of deviations as an :class:`~guestclock.conformance.targets.Emulator`, with IRQ.

    Two deviations that no model of QEMU is without are taken away by asking a 6522 that gets the same
    accesses: without ``PINS_IGNORED`` for the ports, and for T2 once it clocks the shift register; without
    ``PULSES_IGNORED`` for T2 once it counts pulses.  Without ``ACCESS_TAKES_NO_TIME`` all would be a 6522's.
    """

    def __init__(self, deviations: Deviation, wiring: Wiring) -> None:
        self._via = QemuVia(deviations | ALWAYS, wiring)
        self._chip = Mos6522()
        self._has_pins = Deviation.PINS_IGNORED not in deviations
        self._counts_pulses = Deviation.PULSES_IGNORED not in deviations
        self._t2_is_real = False

    def read(self, register: int, cycle: int) -> int:
        """Return what a read gives in that cycle."""
        value = self._via.read(register, instant_ns(Read(cycle, register)))
        real = self._chip.read(register, cycle)
        if self._has_pins and register in (ORA, ORB, ORA_NO_HANDSHAKE):
            return real
        if self._t2_is_real and register in (T2CL, T2CH):
            return real
        if self._t2_is_real and register == IFR:
            flags = value & ~(IFR_ANY | IFR_T2) | real & IFR_T2
            return flags | (IFR_ANY if flags & self._via.ier else 0)
        return value

    def write(self, register: int, value: int, cycle: int) -> None:
        """Write in that cycle."""
        self._via.write(register, value, instant_ns(Write(cycle, register, value)))
        self._chip.write(register, value, cycle)
        if register == ACR:
            shifts_by_t2 = value & ACR_SR_MODE in SR_MODES_BY_T2
            self._t2_is_real |= bool(value & ACR_T2_PULSES) and self._counts_pulses
            self._t2_is_real |= shifts_by_t2 and self._has_pins

    def level(self, pin: str, half: int) -> int:
        """Return the level of the IRQ pin: low while the line is raised."""
        self._via.advance(instant_ns(Check(half, pin)))
        return int(not self._via.irq)


def run_deviating(vector: Vector, deviations: Deviation, wiring: Wiring) -> Answers:
    """Return what a VIA with these deviations shows in a vector, prepared if it can be."""
    chip = QemuChip(deviations, wiring) if deviations else OurChip(Mos6522())
    return run_on(chip, prepared(vector) or vector)


class QemuModel:
    """The target ``model:SET``: our model of QEMU's VIA with a named set of deviations."""

    qemu_wiring: Wiring | None = ALONE

    def __init__(self, name: str, timeout_s: float) -> None:
        self.name = f"model:{name}"
        self._inner = PythonTarget(self.name, lambda: QemuChip(SETS[name], ALONE), timeout_s)
        self.has = HAS

    def run(self, vectors: Iterable[Vector]) -> Iterator[Answers | TargetBrokeError]:
        """Yield what each vector shows."""
        return self._inner.run(prepared(vector) or vector for vector in vectors)

    def close(self) -> None:
        """Nothing is running."""
