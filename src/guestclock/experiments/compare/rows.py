"""Which machines are compared: the rows that options ask for, and those that tell the story when none do."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import product

from guestclock.errors import BadInputError
from guestclock.experiments.boot import Boot, bundled, userland
from guestclock.experiments.compare.emulator import Emulator
from guestclock.experiments.compare.events import SAVEVM, SIGSTOP, Event
from guestclock.experiments.compare.measured import MEASURING, Dialogue
from guestclock.experiments.run import RunPlan
from guestclock.guests.orders import CLOCKPROBE, LINUX, Phase
from guestclock.linux.cache import PLAIN
from guestclock.linux.userland import PROMPT
from guestclock.qemu.binary import Binary
from guestclock.quadra.machine import CHIP

MACHINE = "machine"
"""What a row's words always tell."""

STORY_STALL = "every=50ms,for=35ms"
STORY = (
    (CHIP, "paced", None),
    (CHIP, "virtual", None),
    (CHIP, "host", None),
    ("qemu-7.2", "host", None),
    ("series-2021", "host", None),
    ("qemu-7.2", "paced", None),
    (CHIP, "paced", STORY_STALL),
    (CHIP, "host", STORY_STALL),
)
"""Chip set, pacing and stalls of the rows that are measured when nothing is asked for."""

LEVELS = (6, 1)
"""Where VIA1 may interrupt: as Linux has it on a Quadra, and as on most other Macintoshes."""

USERLAND = Dialogue(PROMPT.encode(), b"poweroff\n", b"The system is going down")

Machine = RunPlan | Emulator


@dataclass(frozen=True)
class Row:
    """One machine under one set of circumstances.

    ``words`` are what tells it from other rows, by what they are about, and ``common`` what all rows have in
    common; ``why_not``: it cannot do what was asked, and is told but not run.
    """

    machine: Machine
    boot: Boot
    words: dict[str, str]
    common: dict[str, str] = field(default_factory=dict)
    load: int = 0
    event: Event | None = None
    dialogue: Dialogue = MEASURING
    why_not: str | None = None


@dataclass(frozen=True)
class Wanted:
    """What options ask for; each tuple is one dimension of the table."""

    phases: tuple[Phase, ...]
    guest: str = CLOCKPROBE
    variants: tuple[str, ...] = (PLAIN,)
    chips: tuple[str, ...] = ()
    pacings: tuple[str, ...] = ()
    binaries: tuple[Binary, ...] = ()
    icounts: tuple[int, ...] = ()
    levels: tuple[int, ...] = ()
    loads: tuple[int, ...] = (0,)
    stalls: tuple[str | None, ...] = (None,)
    event: Event | None = None
    userland: bool = False
    plan: RunPlan = field(default_factory=RunPlan)
    """What all our machines have in common: the host, the bus, the seed, the memory."""

    def __post_init__(self) -> None:
        """Check what goes together."""
        if self.levels and self.guest != CLOCKPROBE:
            raise BadInputError(f"--level: {self.guest} chooses its interrupt level itself; clockprobe obeys")
        if self.userland and (self.event is not None or self.levels or self.variants != (PLAIN,)):
            raise BadInputError("--userland measures a boot to a prompt: no --event, --level or --variant")
        for level in self.levels:
            if level not in LEVELS:
                raise BadInputError(f"--level {level}: VIA1 interrupts at level 1 or 6")
        if self.icounts and not self.binaries:
            raise BadInputError("--icount is for QEMU: give --qemu PATH too")
        if self.event is not None and any(self.stalls):
            raise BadInputError("--event and --stall: one at a time, or nobody could tell what did what")
        if self.guest == CLOCKPROBE and self.variants != (PLAIN,):
            raise BadInputError("--variant: clockprobe has one kernel; say --guest linux")

    @property
    def is_story(self) -> bool:
        """Whether nothing was said of machines and circumstances."""
        asked = (self.chips, self.pacings, self.binaries, self.levels, any(self.stalls), self.event)
        return not any(asked) and self.variants == (PLAIN,)


def rows(wanted: Wanted) -> list[Row]:
    """Return the rows, ours first; in each, the first of every option comes first."""
    machines = _story(wanted.plan) if wanted.is_story else _asked(wanted)
    found = [
        Row(
            machine=machine,
            boot=_boot(wanted, variant, level),
            words=words | _circumstances(wanted, variant, level, load),
            load=load,
            event=wanted.event,
            dialogue=USERLAND if wanted.userland else MEASURING,
            why_not=None if wanted.event is None else _why_not(machine, wanted.event),
        )
        for load, (machine, words), variant, level in product(
            wanted.loads, machines, wanted.variants, wanted.levels or (None,)
        )
    ]
    shared = set.intersection(*(set(row.words.items()) for row in found))
    return [_named(row, shared) for row in found]


def _named(row: Row, shared: set[tuple[str, str]]) -> Row:
    """Return the row with what all rows share apart; which machine it is stays."""
    common = {
        about: word for about, word in row.words.items() if (about, word) in shared and about != MACHINE
    }
    own = {about: word for about, word in row.words.items() if about not in common}
    return replace(row, words=own, common=common)


def name(row: Row) -> str:
    """Return what a row is called."""
    return ", ".join(row.words.values())


def _boot(wanted: Wanted, variant: str, level: int | None) -> Boot:
    if wanted.userland:
        return userland()
    append = "" if level is None else f"level={level}"
    return bundled(wanted.guest, wanted.phases, append, variant)


def _circumstances(wanted: Wanted, variant: str, level: int | None, load: int) -> dict[str, str]:
    words = {"guest": LINUX if wanted.userland else wanted.guest}
    if wanted.loads != (0,):
        words["load"] = f"load {load}" if load else "no load"
    if wanted.variants != (PLAIN,):
        words["kernel"] = variant
    if level is not None:
        words["level"] = f"level {level}"
    return words


def _story(plan: RunPlan) -> list[tuple[Machine, dict[str, str]]]:
    return [_ours(plan, *row) for row in STORY]


def _asked(wanted: Wanted) -> list[tuple[Machine, dict[str, str]]]:
    ours = [
        _ours(wanted.plan, chip, pacing, stall)
        for chip, pacing, stall in product(
            wanted.chips or (CHIP,), wanted.pacings or ("paced",), wanted.stalls
        )
    ]
    theirs = [
        _emulator(wanted, binary, icount, stall)
        for binary, (icount, stall) in product(wanted.binaries, _times(wanted))
    ]
    return [*ours, *theirs]


def _times(wanted: Wanted) -> Iterable[tuple[int | None, str | None]]:
    """Return the kinds of time that a QEMU runs in; under icount nothing of the host matters."""
    yield from ((None, stall) for stall in wanted.stalls)
    if wanted.event is None:
        yield from ((shift, None) for shift in wanted.icounts)


def _ours(plan: RunPlan, chip: str, pacing: str, stall: str | None) -> tuple[Machine, dict[str, str]]:
    words = {MACHINE: chip, "pacing": pacing} | _stalled(stall)
    # A QEMU's VIA has a bus of its own.
    return replace(plan, chip=chip, pacing=pacing, stall=stall, bus=plan.bus if chip == CHIP else None), words


def _emulator(
    wanted: Wanted, binary: Binary, icount: int | None, stall: str | None
) -> tuple[Machine, dict[str, str]]:
    version = binary.version.split(" ")[0]
    alike = [other for other in wanted.binaries if other.version.split(" ")[0] == version]
    words = {MACHINE: f"QEMU {version}" if len(alike) == 1 else f"QEMU {version} ({binary.path})"}
    if icount is not None:
        words["time"] = f"icount {icount}"
    plan = wanted.plan
    machine = Emulator(binary, icount, stall, plan.seed, plan.ram_mib, plan.silence_s)
    return machine, words | _stalled(stall)


def _stalled(stall: str | None) -> dict[str, str]:
    return {} if stall is None else {"stall": f"stalls {stall}"}


def _why_not(machine: Machine, event: Event) -> str | None:
    if isinstance(machine, Emulator):
        return None
    if machine.pacing == "virtual":
        return "virtual time knows no host"
    if machine.host == "simulated" and event.kind == SIGSTOP:
        return "a simulated host sends no signals"
    if machine.host == "simulated" and event.kind == SAVEVM:
        return "a simulated host goes back with its machine"
    return None
