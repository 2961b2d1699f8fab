"""What the tables of an examination say of each clock, looked up by name."""

from dataclasses import dataclass

from guestclock.experiments import loop_tables
from guestclock.experiments.doctor import DRIFT, SYSTEM_CALL, Examination
from guestclock.host.clocks import Clock
from guestclock.host.cost import through_system_call, yardsticks
from guestclock.verdict import cost, drift, monotonicity, stability
from guestclock.verdict.cost import SourceCost
from guestclock.verdict.drift import Offsets
from guestclock.verdict.monotonicity import SourceSteps
from guestclock.verdict.stability import Steadiness

ALWAYS_A_SYSTEM_CALL = "CLOCK_THREAD_CPUTIME_ID"


@dataclass(frozen=True)
class Figures:
    """Verdicts by the clock's name; every figure comes from the tables."""

    costs: dict[str, SourceCost]
    steps: dict[str, SourceSteps]
    compared: dict[str, int]
    """How many reads were compared with the latest before them."""
    drifts: dict[str, Offsets]
    """Against CLOCK_MONOTONIC_RAW, over the looks that are spread for it."""
    steadiness: dict[str, Steadiness]
    """The same looks, against the same clock."""

    @classmethod
    def of(cls, found: Examination) -> "Figures":
        """Judge the tables of an examination."""
        return cls(
            costs={source.source: source for source in cost.judge(found.tables).sources},
            steps={source.source: source for source in monotonicity.judge(found.tables).sources},
            compared=loop_tables.compared(found.tables),
            drifts={
                clock.source: clock.phases[DRIFT]
                for clock in drift.judge(found.tables).clocks
                if DRIFT in clock.phases and clock.reference == "host"
            },
            steadiness=stability.of_phase(found.tables, DRIFT),
        )

    def least_ns(self, name: str) -> float | None:
        """Return the cheapest batch of a clock, in ns a read."""
        return self.costs[name].min_ns if name in self.costs else None

    def enters_kernel(self, clock: Clock) -> bool | None:
        """Return whether a read of a clock is a system call; None where nothing tells.

        A read is compared with system calls that do the same work; where only Python could measure,
        with a clock that always is one.
        """
        read = self.least_ns(clock.name)
        calls = [self.least_ns(name + SYSTEM_CALL) for name in yardsticks(clock)]
        call = min((call for call in calls if call is not None), default=self.least_ns(ALWAYS_A_SYSTEM_CALL))
        return None if read is None or call is None else through_system_call(read, call)
