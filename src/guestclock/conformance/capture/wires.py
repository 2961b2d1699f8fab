"""Wires from a chip's port A to its other pins and from these to port B: a program drives and sees them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.registers import ACR, IFR, PB6


@dataclass(frozen=True)
class Wires:
    """``driven``: pin to the bit of port A that drives it; ``seen``: pin to the bit of port B that shows it.

    A bit of port A is an output only while a vector drives its pin from outside.
    """

    driven: Mapping[str, int] = field(default_factory=dict)
    seen: Mapping[str, int] = field(default_factory=dict)

    @property
    def port_b(self) -> int:
        """The bits of port B that have a wire."""
        bits = 0
        for bit in self.seen.values():
            bits |= bit
        return bits | (PB6 if "pb6" in self.driven else 0)


NONE = Wires()
HISTORY_CYCLES = 40


class WiredChip:
    """Our chip in a machine.

    ``history`` are registers written once a cycle and their values, after which the chip has some cycles and
    its flags are cleared; ``open_pins`` is what the inputs show that nothing is wired to.
    """

    def __init__(self, wires: Wires, history: Sequence[tuple[int, int]] = (), open_pins: int = 0xFF) -> None:
        self.chip = Mos6522()
        self._wires = wires
        self._open_pins = open_pins
        self._settled = 0
        self.chip.set_pins_a(open_pins, 0)
        self.chip.set_pins_b(open_pins, 0)
        for cycle, (register, value) in enumerate(history):
            self.chip.write(register, value, cycle)
        self.chip.write(ACR, 0, HISTORY_CYCLES)
        self.chip.write(IFR, 0x7F, HISTORY_CYCLES + 1)

    def advance(self, cycle: int) -> None:
        """Bring the chip to a cycle, its wires following in every cycle."""
        if not (self._wires.driven or self._wires.seen):
            self.chip.advance(cycle)
            return
        while self._settled < cycle:
            self._settled += 1  # a write leaves the chip in the next cycle, its wires yet to follow
            self.chip.advance(self._settled)
            self._settle()

    def _settle(self) -> None:
        chip = self.chip
        outputs = chip.port_a_output()
        pins_b = self._open_pins
        for pin, bit in self._wires.driven.items():
            level = int(bool(outputs & bit))
            if pin == "pb6":
                pins_b = pins_b & ~PB6 | PB6 * level
            else:
                getattr(chip, f"set_{pin}")(level, chip.now)
        for pin, bit in self._wires.seen.items():
            pins_b = pins_b & ~bit | bit * int(getattr(chip, pin))
        chip.set_pins_b(pins_b, chip.now)
