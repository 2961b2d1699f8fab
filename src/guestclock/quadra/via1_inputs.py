"""What drives VIA1 from outside on a Quadra 800: 60.15 Hz on CA1, a second on CA2, the ADB on CB1 and CB2.

Both timing lines come from the 15.6672 MHz that φ2 is a twentieth of.  The faster one has the rate of the
first Macintosh's picture, 370 lines of 704 pixels, so that a period of either is a whole number of φ2
cycles (Guide to the Macintosh Family Hardware, ch. 2).  Their duty cycle is nowhere told: half here.

Nobody need ask for every edge: periods that went by unwatched leave one flag, however many they were.
"""

from collections.abc import Callable
from typing import Any

from guestclock.chips.adb_transceiver import AdbTransceiver
from guestclock.chips.mos6522 import Mos6522
from guestclock.chips.registers import C1_RISING, C2_RISING, IFR_CA1, IFR_CA2, IFR_SR

CYCLES_PER_SIXTIETH = 370 * 704 // 20
CYCLES_PER_SECOND = 783_360

LINE_PERIOD_CYCLES = {"via1.ca1": CYCLES_PER_SIXTIETH, "via1.ca2": CYCLES_PER_SECOND, "via1.sr": None}
"""What interrupts through VIA1 beside its timers, by its name in the log, and its period if it has one."""

Note = Callable[[int, int, int], None]
"""Takes a flag of IFR, the cycle of an edge that sets it in the next, and how many such edges there were."""


class TimingLine:
    """A square wave: high from the start, and first falling after a whole period."""

    def __init__(self, period_cycles: int, drive: Callable[[int, int], None]) -> None:
        self.next_cycle = period_cycles
        self._half_cycles = period_cycles // 2
        self._drive = drive
        self._level = 1
        self._skipped = [0, 0]  # falls and rises

    def skip(self, cycle: int) -> None:
        """Leave out whole periods that are over before that cycle, all but the last."""
        period_cycles = 2 * self._half_cycles
        periods = (cycle - self.next_cycle) // period_cycles - 1
        if periods > 0:
            self.next_cycle += periods * period_cycles
            self._skipped = [skipped + periods for skipped in self._skipped]

    def move(self) -> tuple[bool, int]:
        """Change the level: return whether it rose, and how many times since the last such change."""
        self._level = 1 - self._level
        self._drive(self._level, self.next_cycle)
        self.next_cycle += self._half_cycles
        times, self._skipped[self._level] = 1 + self._skipped[self._level], 0
        return self._level == 1, times

    def snapshot(self) -> tuple[int, ...]:
        """Return the whole state as plain data."""
        return self.next_cycle, self._level, *self._skipped

    def restore(self, state: tuple[int, ...]) -> None:
        """Become what :meth:`snapshot` saw."""
        self.next_cycle, self._level, *self._skipped = state


class Via1Inputs:
    """All three.  ``note`` is told of edges that set a flag, as PCR selects them, and of the ADB's bytes."""

    def __init__(self, via1: Mos6522, note: Note) -> None:
        self._via1 = via1
        self._note = note
        self.sixtieths = TimingLine(CYCLES_PER_SIXTIETH, via1.set_ca1)
        self.seconds = TimingLine(CYCLES_PER_SECOND, via1.set_ca2)
        self.adb = AdbTransceiver(via1)

    @property
    def next_line_cycle(self) -> int:
        """The cycle of the next change of a timing line."""
        return min(self.sixtieths.next_cycle, self.seconds.next_cycle)

    @property
    def next_cycle(self) -> int:
        """The cycle of the next change of any of them."""
        return min(self.next_line_cycle, self.adb.next_cycle)

    def advance(self, cycle: int) -> None:
        """Let come what is due by that cycle, one after the other."""
        self.sixtieths.skip(cycle)
        self.seconds.skip(cycle)
        while self.next_cycle <= cycle:
            self._move(self.next_cycle)

    def _move(self, cycle: int) -> None:
        control = self._via1.pcr
        if self.adb.next_cycle == cycle:
            self.adb.advance(cycle)
            if self.adb.byte_done:
                self._note(IFR_SR, cycle, 1)
        elif self.sixtieths.next_cycle == cycle:
            rose, times = self.sixtieths.move()
            if rose == bool(control & C1_RISING):
                self._note(IFR_CA1, cycle, times)
        else:
            rose, times = self.seconds.move()
            if rose == bool(control & C2_RISING):
                self._note(IFR_CA2, cycle, times)

    def snapshot(self) -> dict[str, Any]:
        """Return the whole state as plain data."""
        return {
            "sixtieths": self.sixtieths.snapshot(),
            "seconds": self.seconds.snapshot(),
            "adb": self.adb.snapshot(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Become what :meth:`snapshot` saw."""
        self.sixtieths.restore(state["sixtieths"])
        self.seconds.restore(state["seconds"])
        self.adb.restore(state["adb"])
