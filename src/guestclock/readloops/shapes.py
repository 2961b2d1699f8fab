"""The shapes of a clock read: what each one does, which page it reads and what it needs."""

from dataclasses import dataclass
from enum import Enum


class Page(Enum):
    """What a shape reads beside the TSC."""

    NONE = "none"
    PVCLOCK = "pvclock"
    PVCLOCK_UNSTABLE = "pvclock with TSC_STABLE clear"
    TSC = "tsc clocksource"


@dataclass(frozen=True)
class Shape:
    """One way to read a clock; ``cost_NAME`` and ``warp_NAME`` are its loops."""

    name: str
    title: str
    page: Page
    barriers: int
    needs_rdtscp: bool = False
    needs_getcpu: bool = False
    """Needs the CPU's number in GDT entry 15, as Linux keeps it."""
    cost_page: Page | None = None
    """The page that makes the cost loop take its expensive path, where that is another one."""

    @property
    def in_ns(self) -> bool:
        """Whether a read returns nanoseconds (else TSC cycles)."""
        return self.page is not Page.NONE


# Why each: `own page` is the kernel's reader without its clamp, whatever the flags say; `clamped` never
# goes below a global last value; `2014` is the vDSO's reader then: two barriers and getcpu twice.
SHAPES: tuple[Shape, ...] = (
    Shape("rdtsc", "rdtsc", Page.NONE, 0),
    Shape("lfence_rdtsc", "lfence; rdtsc", Page.NONE, 1),
    Shape("mfence_rdtsc", "mfence; rdtsc", Page.NONE, 1),
    Shape("rdtscp", "rdtscp", Page.NONE, 1, needs_rdtscp=True),
    Shape("pvclock_none", "pvclock, no barrier", Page.PVCLOCK, 0),
    Shape("pvclock_one", "pvclock, 1 barrier (today)", Page.PVCLOCK, 1),
    Shape("pvclock_rdtscp", "pvclock, rdtscp", Page.PVCLOCK, 1, needs_rdtscp=True),
    Shape("pvclock_two", "pvclock, 2 barriers", Page.PVCLOCK, 2),
    Shape("pvclock_2014", "pvclock, 2014", Page.PVCLOCK, 2, needs_getcpu=True),
    Shape("pvclock_own", "pvclock, own page", Page.PVCLOCK, 1),
    Shape(
        "pvclock_clamp",
        "pvclock, clamped",
        Page.PVCLOCK,
        1,
        cost_page=Page.PVCLOCK_UNSTABLE,
    ),
    Shape("tsc_clocksource", "tsc clocksource", Page.TSC, 1),
)
