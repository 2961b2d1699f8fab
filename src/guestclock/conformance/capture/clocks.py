"""How the cycles of a 6502 and the φ2 of the 6522 beside it go together."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """A CPU that does so many cycles in one of the 6522's.

    With more than one, the CPU waits for the 6522: an access begins with a cycle of the 6522 and takes the
    whole of it, so that code which comes back from one knows where it stands (BBC Micro, "cycle stretching").
    """

    cpu_per_cycle: int

    def extra(self, cycles: int, cpu_cycles: int) -> int | None:
        """Return how many CPU cycles to add for the next access to come so many cycles after the last.

        ``cpu_cycles`` lie between the two in any case.  None if that cannot be: too late already, or one CPU
        cycle is missing, which no instruction takes.
        """
        latest = self.cpu_per_cycle * (cycles - 1) - cpu_cycles
        fitting = (extra for extra in range(latest, latest - self.cpu_per_cycle, -1) if extra >= 0)
        return next((extra for extra in fitting if extra != 1), None)

    def least(self, cycles: int, cpu_cycles: int) -> int:
        """Return how many cycles after the last access the next can come, from ``cycles`` on."""
        while self.extra(cycles, cpu_cycles) is None:
            cycles += 1
        return cycles

    def sample_at(self, half: int) -> int:
        """Return in which CPU cycle, counted from the 6522's cycle 0, the CPU sees a pin of a half-cycle.

        A 6502 looks at its IRQ pin at the end of a cycle.  Where its cycle is one of the 6522's, that is the
        second half.
        """
        return half if self.cpu_per_cycle == 2 else (half - 1) // 2


SAME = Clock(1)
TWICE = Clock(2)
