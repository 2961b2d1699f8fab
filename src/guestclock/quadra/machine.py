"""The machine: a CPU, its memory and its bus, and the loop that runs them."""

import mmap
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from guestclock.chips.mac_rtc import MacRtc
from guestclock.chips.qemu_deviations import SETS
from guestclock.chips.registers import NEVER
from guestclock.errors import BadInputError
from guestclock.quadra.board import QuadraBoard
from guestclock.quadra.bus import Bus, FastBus, Phi2Bus
from guestclock.quadra.cpu import Cpu
from guestclock.quadra.image import INITIAL_A7, INITIAL_SR, BootImage
from guestclock.quadra.memory_map import IO_BASE, IO_END
from guestclock.quadra.qemu_bus import QemuBus
from guestclock.quadra.traced import AccessTrace, TracedFastBus, TracedPhi2Bus, TracedQemuBus
from guestclock.timebase.pacing import Pacer

CHIP = "chip"
"""The name of the VIA that is a 6522; all others are QEMU's (:mod:`guestclock.chips.qemu_deviations`)."""

BUSES: dict[str, type[Bus]] = {"phi2": Phi2Bus, "fast": FastBus}
TRACED_BUSES: dict[str, type[TracedPhi2Bus] | type[TracedFastBus]] = {
    "phi2": TracedPhi2Bus,
    "fast": TracedFastBus,
}
QEMU_BUS = "none"
"""What stands for a bus with QEMU's VIAs: an access takes no time, so there is nothing to choose."""

Parts = tuple[Pacer, MacRtc, Callable[[int, int], None]]
"""What every board takes: what makes time advance, the clock chip, who gets the serial output."""

# Everything that is neither RAM nor the I/O window: the ROM's place, expansion and NuBus slots.  It reads as
# zero and is counted.  The last page is left out: the CPU's "never" address lies there.
EMPTY_END = 0xFFFF_F000


def check_parts(chip: str, bus: str) -> None:
    """Raise :class:`BadInputError` unless there are such VIAs and they go with such a bus."""
    if chip not in SETS:
        raise BadInputError(f"chip '{chip}': say one of {', '.join(SETS)}")
    if chip != CHIP and bus != QEMU_BUS:
        raise BadInputError(
            f"bus '{bus}': only the 6522 has a bus to choose, and chip '{chip}' is QEMU's: leave --bus out"
        )
    if chip == CHIP and bus not in BUSES:
        raise BadInputError(f"bus '{bus}': say {' or '.join(BUSES)}")


def _board(chip: str, bus: str, parts: Parts) -> QuadraBoard:
    return BUSES[bus](*parts) if chip == CHIP else QemuBus(SETS[chip], *parts)


def _traced_board(trace: AccessTrace, chip: str, bus: str, parts: Parts) -> QuadraBoard:
    return TRACED_BUSES[bus](trace, *parts) if chip == CHIP else TracedQemuBus(trace, SETS[chip], *parts)


class Quadra:
    """A Quadra 800 with a boot image in its memory.

    ``chip`` names the VIAs, ``bus`` how they are reached (:func:`check_parts`).
    ``transmitted(channel, byte)`` receives the serial output (the console is ``CHANNEL_A`` of the SCC);
    ``rtc_seconds()`` tells the clock chip's time in seconds since 1904.

    A context manager: leaving it frees the engine and the guest's memory.
    """

    def __init__(
        self,
        image: BootImage,
        *,
        ram_bytes: int,
        pacer: Pacer,
        bus: str,
        rtc_seconds: Callable[[], int],
        transmitted: Callable[[int, int], None],
        chip: str = CHIP,
        trace: AccessTrace | None = None,
    ) -> None:
        """Put the image into memory; nothing runs yet.  With a ``trace`` it notes the guest's accesses."""
        check_parts(chip, bus)
        parts = (pacer, MacRtc(rtc_seconds), transmitted)
        self.bus = _board(chip, bus, parts) if trace is None else _traced_board(trace, chip, bus, parts)
        self.cpu = Cpu(self.bus)
        self.memory = mmap.mmap(-1, ram_bytes)
        self.powered_off = False
        self.in_stop = False
        self.bus.on_power_off = self._power_off
        self.bus.attach_memory(self.memory)
        self.cpu.map_memory(0, self.memory)
        self.cpu.map_board(ram_bytes, IO_BASE - ram_bytes)
        self.cpu.map_board(IO_BASE, IO_END - IO_BASE)
        self.cpu.map_board(IO_END, EMPTY_END - IO_END)
        for address, data in image.writes:
            self.memory[address : address + len(data)] = data
        self.cpu.start(image.entry, INITIAL_A7, INITIAL_SR)

    def _power_off(self) -> None:
        self.powered_off = True

    def run(self) -> None:
        """Run until the guest powers off or something sets ``bus.stop_requested``.

        ``bus.on_housekeeping`` is called every few milliseconds, idle or not.  A machine that it stops stands
        between two blocks of code, or in STOP; when ``bus.stop_requested`` is cleared it can go on as if it
        had not been stopped.
        """
        bus, cpu = self.bus, self.cpu
        while not bus.stop_requested:
            if not self.in_stop:
                cpu.run()
                self.in_stop = not bus.stop_requested
            while self.in_stop and not bus.stop_requested:
                self.in_stop = bus.irq_level <= cpu.interrupt_mask
                if self.in_stop:
                    bus.interrupt_mask = cpu.interrupt_mask
                    bus.idle()
                    bus.on_housekeeping()

    def snapshot(self) -> dict[str, Any]:
        """Return the state of a machine that is not in :meth:`run`, as plain data.

        Memory (``memory``) and logs (``bus.events``, ``bus.probes``) are apart.
        """
        return {"cpu": self.cpu.snapshot(), "board": self.bus.snapshot(), "in_stop": self.in_stop}

    def restore(self, state: dict[str, Any]) -> None:
        """Let a machine of the same parts that has not run become what :meth:`snapshot` saw."""
        # An engine's very first block is counted twice if an interrupt comes with it: let that be one that
        # does not run.
        self.bus.stop_requested = True
        self.cpu.run()
        self.bus.stop_requested = False
        self.cpu.restore(state["cpu"])
        self.bus.restore(state["board"])
        self.in_stop = state["in_stop"]

    @property
    def asleep_for_ever(self) -> bool:
        """Whether the guest waits in STOP for an interrupt that no timer will bring."""
        return (
            self.in_stop and self.bus.deadline_ns == NEVER and self.bus.irq_level <= self.bus.interrupt_mask
        )

    def close(self) -> None:
        """Free the engine and the memory."""
        self.cpu.close()
        self.memory.close()

    def __enter__(self) -> Self:
        """Return the machine."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free the machine."""
        self.close()
