"""Computers for the capture programs: memory, a 6502, one of our chips, and what ROMs do for a program.

py65 does an instruction at a time; LDA and STA with an absolute address touch it in the last of their four
cycles.  An interrupt is taken after an instruction if the pin was low at the end of its last cycle but one,
and the I flag clear before it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from py65.devices.mpu6502 import MPU
from py65.memory import ObservableMemory

from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.mos6522_stepwise import Mos6522Stepwise
from guestclock.conformance.targets import OurChip

AnyChip = Mos6522 | Mos6522Stepwise
ACCESS_CYCLE = 3
INTERRUPT_CYCLES = 7
STEPS_MOST = 3_000_000
I_FLAG = 0x04
PB6 = 0x40
RETURN = 0xC000
"""Where the program's caller is."""
ROM_HANDLER = 0xFF00


class Computer:
    """A 6502 with a 6522 at ``via``.

    ``wired``: pin to the bit of port A that drives it; ``shown``: pin to the bit of port B that shows it.
    ``handler``: what the ROM does before it jumps through ``vector``.  ``slow``: the CPU does two cycles in
    one of the chip's, and waits for it.
    """

    def __init__(
        self,
        chip: AnyChip,
        via: int,
        vector: int,
        handler: bytes = b"",
        *,
        slow: bool = False,
        wired: Mapping[str, int] | None = None,
        shown: Mapping[str, int] | None = None,
    ) -> None:
        self.chip, self.via, self.slow = chip, via, slow
        self._wired, self._shown = wired or {}, shown or {}
        self._stretched = self._followed = 0
        self.accesses: list[tuple[int, str, int]] = []
        self.samples: list[int] = []
        self.printed = ""
        self.memory = ObservableMemory()
        self.cpu = MPU(memory=self.memory)
        self.memory.subscribe_to_read(range(via, via + 16), self._read)
        self.memory.subscribe_to_write(range(via, via + 16), self._write)
        self.put(ROM_HANDLER, handler + bytes([0x6C, vector & 0xFF, vector >> 8]))
        self._rom: dict[int, Callable[[], None]] = {}

    def put(self, address: int, data: bytes) -> None:
        """Store bytes."""
        for offset, byte in enumerate(data):
            self.memory[address + offset] = byte

    def rom(self, address: int, what: Callable[[], None] = lambda: None) -> None:
        """Have a routine of the ROM do something, and return."""
        self.memory[address] = 0x60
        self._rom[address] = what

    def prints_at(self, address: int) -> None:
        """Have a routine print the character in A."""

        def put_character() -> None:
            self.printed += chr(self.cpu.a & 0x7F)

        self.rom(address, put_character)

    # ------------------------------------------------------------------ time

    def _now(self) -> int:
        """The CPU cycle in which an instruction begins, those counted that it waited."""
        return int(self.cpu.processorCycles) + self._stretched

    def _access(self) -> int:
        at = self._now() + ACCESS_CYCLE
        if not self.slow:
            return at
        self._stretched += at % 2 + 1
        return (at + 1) // 2

    def _advance(self, cycle: int) -> None:
        """Let the chip's cycles pass, the wires following in each."""
        if not self._wired:
            self.chip.advance(cycle)
            return
        for each in range(self._followed + 1, cycle + 1):
            self.chip.advance(each)
            self._follow_wires()
        self._followed = cycle

    def _follow_wires(self) -> None:
        chip: Any = self.chip
        outputs, pins_b = chip.port_a_output(), 0xFF
        for pin, bit in self._wired.items():
            if pin == "pb6" and not outputs & bit:
                pins_b &= ~PB6
            elif pin != "pb6":
                getattr(chip, f"set_{pin}")(int(bool(outputs & bit)), chip.now)
        for pin, bit in self._shown.items():
            if not getattr(chip, pin):
                pins_b &= ~bit
        chip.set_pins_b(pins_b, chip.now)

    def _read(self, address: int) -> int:
        cycle = self._access()
        self._advance(cycle)
        self.accesses.append((cycle, "r", address - self.via))
        return self.chip.read(address - self.via, cycle)

    def _write(self, address: int, value: int) -> None:
        cycle = self._access()
        self._advance(cycle)
        self.accesses.append((cycle, "w", address - self.via))
        self.chip.write(address - self.via, value, cycle)

    # ------------------------------------------------------------------ programs

    def call(self, address: int) -> None:
        """Call a program until it returns."""
        self.cpu.stPushWord(RETURN - 1)
        self.cpu.pc = address
        self.cpu.p |= I_FLAG  # a program that wants interrupts says so itself
        for _ in range(STEPS_MOST):
            if self.cpu.pc == RETURN:
                return
            if self.cpu.pc in self._rom:
                self._rom[self.cpu.pc]()
            masked = self.cpu.p & I_FLAG
            self.cpu.step()
            if not masked and self._interrupted():
                self._interrupt()
        raise AssertionError("the program does not return")

    def _interrupted(self) -> bool:
        """Tell whether the pin was low at the end of the instruction's last cycle but one."""
        at = self._now() - 2
        half = at if self.slow else 2 * at + 1
        if half // 2 < self.chip.now:
            return False  # printing, long after: the chip's interrupts are off
        self._advance(half // 2)
        self.samples.append(half)
        return not OurChip(self.chip).level("irq", half)

    def _interrupt(self) -> None:
        cpu = self.cpu
        cpu.stPushWord(cpu.pc)
        cpu.stPush(cpu.p & ~0x10 | 0x20)
        cpu.p |= I_FLAG
        cpu.pc = ROM_HANDLER
        cpu.processorCycles += INTERRUPT_CYCLES
