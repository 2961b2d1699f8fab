"""How a machine is to be set up and paced."""

from dataclasses import dataclass

from guestclock.errors import BadInputError
from guestclock.quadra.machine import CHIP, QEMU_BUS, check_parts
from guestclock.timebase.stalls import parse_stalls

PACINGS = ("paced", "virtual", "host")
HOSTS = ("real", "simulated")


@dataclass(frozen=True)
class RunPlan:
    """How a machine is to be set up and paced.

    ``chip`` names its VIAs: ``chip``, the 6522, or a set of :mod:`guestclock.chips.qemu_deviations`.
    ``bus`` None takes the default of the pacing and the chip.
    """

    chip: str = CHIP
    pacing: str = "paced"
    host: str = "real"
    bus: str | None = None
    stall: str | None = None
    seed: int = 1
    ram_mib: int = 64
    silence_s: int = 30

    def __post_init__(self) -> None:
        """Check the words and that they go together."""
        if self.pacing not in PACINGS:
            raise BadInputError(f"pacing '{self.pacing}': say {', '.join(PACINGS[:-1])} or {PACINGS[-1]}")
        if self.host not in HOSTS:
            raise BadInputError(f"host '{self.host}': say {' or '.join(HOSTS)}")
        check_parts(self.chip, self.bus_or_default)
        if self.stall is not None:
            if self.pacing == "virtual":
                raise BadInputError(
                    "virtual time knows no host, so nothing can stall it: say --pacing paced or host"
                )
            parse_stalls(self.stall, self.seed)
        if self.ram_mib < 1:
            raise BadInputError(f"{self.ram_mib} MiB of memory: give a positive number")
        if self.silence_s < 0:
            raise BadInputError(f"a watchdog of {self.silence_s} s: give a positive number, or 0 for none")

    @property
    def reproducible(self) -> bool:
        """Whether two runs of this plan give the same bytes."""
        return self.pacing == "virtual" or self.host == "simulated"

    @property
    def bus_or_default(self) -> str:
        """The bus, or the default of the chip and the pacing."""
        if self.bus is None and self.chip != CHIP:
            return QEMU_BUS
        return self.bus or ("phi2" if self.pacing == "virtual" else "fast")
