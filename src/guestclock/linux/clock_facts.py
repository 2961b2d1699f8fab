"""What is known of a kernel's clocks: how wide they are, how fast they count, which is in use."""

from dataclasses import dataclass, field
from fractions import Fraction

VIA1 = "via1"
KVM_CLOCK = "kvm-clock"
_MAX_ADJUST = Fraction(11, 100)
"""``clocksource_max_adjustment()`` of kernel/time/clocksource.c: a multiplier may be tuned by so much."""


@dataclass(frozen=True)
class Clock:
    """A clocksource: the mask of its counter and its frequency, None where unknown."""

    mask: int | None = None
    hz: Fraction | None = None

    def wrap_ns(self) -> int | None:
        """Return after how long the counter starts anew, rounded down."""
        if self.mask is None or self.hz is None:
            return None
        return int((self.mask + 1) * 1_000_000_000 / self.hz)


FIXED = {
    VIA1: Clock(0xFFFFFFFF, Fraction(783_360)),  # arch/m68k/mac/via.c
    "acpi_pm": Clock(0xFFFFFF, Fraction(3_579_545)),  # PMTMR_TICKS_PER_SEC
    KVM_CLOCK: Clock(2**64 - 1, Fraction(10**9)),
    "hyperv_clocksource_tsc_page": Clock(2**64 - 1, Fraction(10**7)),
    "hpet": Clock(0xFFFFFFFF, None),
    "tsc": Clock(2**64 - 1, None),
    "tsc-early": Clock(2**64 - 1, None),
}
"""What does not depend on the machine."""


@dataclass
class Known:
    """What the log has told so far, over what is fixed."""

    clocks: dict[str, Clock] = field(default_factory=lambda: dict(FIXED))
    current: str | None = None

    def learn(self, name: str, mask: int | None = None, hz: Fraction | None = None) -> None:
        """Note the mask or frequency of a clock."""
        old = self.clocks.get(name, Clock())
        self.clocks[name] = Clock(old.mask if mask is None else mask, old.hz if hz is None else hz)

    def of(self, name: str) -> Clock:
        """Return what is known of a clock."""
        return self.clocks.get(name, Clock())

    def time_ns(self, name: str, cycles: int) -> int | None:
        """Return how long so many cycles of a clock are, to the nearest ns."""
        hz = self.of(name).hz
        return None if not hz else round(cycles * 1_000_000_000 / hz)


def registered_hz(max_cycles: int, max_idle_ns: int) -> Fraction | None:
    """Return the frequency behind a clocksource's registration message.

    ``clocks_calc_max_nsecs()``: max_idle_ns is half of what max_cycles are when the clock is tuned slowest.

    Exact to about 1 ppm, as the kernel rounds its multipliers.

    >>> round(registered_hz(0xffffff, 2085701024)), round(registered_hz(0x1cd42e4dffb, 881590591483) / 1000)
    (3579545, 1000000)
    """
    if not max_idle_ns:
        return None
    return Fraction(max_cycles, 2 * max_idle_ns) * (1 - _MAX_ADJUST) * 1_000_000_000


def signed(cycles: int, mask: int) -> int:
    """Return a difference modulo ``mask + 1`` as the number nearest to 0.

    >>> signed(4294966426, 0xffffffff), signed(1000, 0xffffffff)
    (-870, 1000)
    """
    cycles &= mask
    return cycles - (mask + 1) if cycles > mask >> 1 else cycles
