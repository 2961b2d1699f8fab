"""VIAs by name, all told the time in ns: QEMU's, with its deviations, and the chip."""

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.qemu_deviations import SETS
from guestclock.chips.qemu_timer import NS_PER_S, PHI2_HZ
from guestclock.chips.qemu_via import VIA1, QemuVia
from guestclock.chips.registers import NEVER, WATCH_IRQ


class ChipVia:
    """The exact 6522 with the surface of :class:`~guestclock.chips.qemu_via.QemuVia`: no deviation at all.

    An access falls into the φ2 cycle of its instant.  Reads may share one; a write has it for itself, so that
    what comes at the same instant happens a cycle later.
    """

    def __init__(self) -> None:
        self.chip = Mos6522()
        self.now_ns = 0

    def read(self, register: int, ns: int) -> int:
        """Return what a read gives in the cycle of that instant."""
        self.advance(ns)
        return self.read_here(register)

    def write(self, register: int, value: int, ns: int) -> None:
        """Write in the cycle of that instant."""
        self.advance(ns)
        self.write_here(register, value)

    def advance(self, ns: int) -> None:
        """Come to that instant."""
        self.now_ns = max(self.now_ns, ns)
        self.chip.advance(self.now_ns * PHI2_HZ // NS_PER_S)

    def reach(self, ns: int) -> None:
        """Do what :meth:`advance` does: the chip has no alarms that could be late."""
        self.advance(ns)

    def read_here(self, register: int) -> int:
        """Return what a read gives at the present instant."""
        return self.chip.read_here(register)

    def write_here(self, register: int, value: int) -> None:
        """Write at the present instant."""
        self.chip.write_here(register, value)

    @property
    def irq(self) -> bool:
        """Whether the IRQ pin is low at the present instant; it falls in the middle of a cycle."""
        if self.chip.ifr & self.chip.ier:
            return True
        return self.chip.irq and self.now_ns >= _half_cycle_ns(2 * self.chip.now + 1)

    def next_event(self) -> int:
        """Return the instant at which the IRQ pin next falls, or NEVER."""
        if self.chip.irq and not self.irq:
            return _half_cycle_ns(2 * self.chip.now + 1)
        half = self.chip.next_event(WATCH_IRQ)
        return NEVER if half == NEVER else _half_cycle_ns(half)


def _half_cycle_ns(half: int) -> int:
    """Return the first whole ns in a half-cycle."""
    return -(-half * NS_PER_S // (2 * PHI2_HZ))


def make_via(name: str) -> QemuVia | ChipVia:
    """Return a VIA of a named set, without a machine around it.

    >>> make_via("qemu-7.2").deviations == SETS["qemu-7.2"]
    True

    Raises :class:`KeyError` with the names there are.
    """
    if name not in SETS:
        raise KeyError(f"no VIA {name!r}: there are {', '.join(SETS)}")
    return QemuVia(SETS[name]) if SETS[name] else ChipVia()


def make_via1(name: str) -> QemuVia | ChipVia:
    """Return a VIA of a named set, QEMU's as its Quadra wires VIA1.  Raises what :func:`make_via` does."""
    via = make_via(name)
    return via if isinstance(via, ChipVia) else QemuVia(via.deviations, VIA1)
