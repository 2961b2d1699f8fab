"""The hypervisor's side for the explorer: how a page is updated, and what the update promises.

Page fields hold (tag, number) instead of register values: the tag says which update of whose page
wrote the field, so that a torn read shows; the number is a time or a counter value.  Clocks run at one
unit a tick, so a time is just a number.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from guestclock.errors import BadInputError
from guestclock.pvclock.interleave.machine import Fault
from guestclock.pvclock.layouts import HypervTsc, Page, PvclockFlag, PvclockTime, Vmclock, VmclockStatus
from guestclock.pvclock.readers import EXACT
from guestclock.pvclock.steps import (
    At,
    Barrier,
    Compute,
    Counter,
    Fence,
    Formula,
    Migrate,
    Program,
    Resume,
    Step,
    Stop,
    Store,
)

Tagged: TypeAlias = tuple[tuple[int, int], Any]  # (owner, update), number (None: of no account)

BEGIN_TICKS = 1_000  # the time of the first page at counter 0
JUMP_TICKS = 1_000  # far more than pass in any schedule
PAUSE_TICKS = 100  # that an update takes, where it matters


@dataclass(frozen=True)
class Hypervisor:
    """What an update promises; ``jump_ticks`` is the new page's time less the old one's at one moment."""

    name: str
    title: str
    jump_ticks: int = 0
    stands_still: bool = False  # during the update; else the new page continues the old one
    stops_vcpus: bool = False
    apart_ticks: int = 0  # how far each vCPU's page is behind the one before
    skew_ticks: int = 0  # how far each vCPU's counter is ahead of the one before
    moves_threads: bool = False


HYPERVISORS = {
    hypervisor.name: hypervisor
    for hypervisor in (
        Hypervisor("continuous", "the new page shows at each moment what the old one would have shown"),
        Hypervisor("forward", "the new page is ahead of the old one", jump_ticks=JUMP_TICKS),
        Hypervisor(
            "paused",
            "the clock may stand still during an update, no more: vmclock's TIME_MONOTONIC",
            stands_still=True,
        ),
        Hypervisor(
            "stopped", "as paused, with all vCPUs out of the guest", stands_still=True, stops_vcpus=True
        ),
        Hypervisor(
            "backward", "the new page is behind the old one", jump_ticks=-JUMP_TICKS, stops_vcpus=True
        ),
        Hypervisor(
            "apart", "continuous; each vCPU's page a little behind the one before", apart_ticks=JUMP_TICKS
        ),
        Hypervisor(
            "moving",
            "no updates, but the first thread moves between two vCPUs whose counters differ",
            skew_ticks=JUMP_TICKS,
            moves_threads=True,
        ),
    )
}


def find_hypervisor(name: str) -> Hypervisor:
    """Return the hypervisor of a name; BadInputError lists those there are."""
    if name not in HYPERVISORS:
        raise BadInputError(f"hypervisor {name!r}: there are {', '.join(HYPERVISORS)}")
    return HYPERVISORS[name]


@dataclass(frozen=True)
class Family:
    """A type of page: which field guards it, which hold a counter value and a time, which are the rest."""

    guard: str
    base: str  # counter value; "" when the page has none
    time: str
    rest: tuple[str, ...]
    constant: tuple[tuple[str, int], ...]
    busy: Callable[[int], int]  # update -> the guard while it is written
    ready: Callable[[int], int]  # update -> the guard when it is done


FAMILIES: dict[type[Page], Family] = {
    PvclockTime: Family(
        "version",
        "tsc_timestamp",
        "system_time",
        ("tsc_to_system_mul", "tsc_shift"),
        (("flags", PvclockFlag.TSC_STABLE),),
        busy=lambda update: 2 * update + 1,
        ready=lambda update: 2 * update + 2,
    ),
    Vmclock: Family(
        "seq_count",
        "counter_value",
        "time_sec",
        ("counter_period_frac_sec", "counter_period_shift", "time_frac_sec"),
        (("clock_status", VmclockStatus.SYNCHRONIZED),),
        busy=lambda update: 2 * update + 1,
        ready=lambda update: 2 * update + 2,
    ),
    # Here `offset` alone holds the time; sequence 0 means "use the MSR".
    HypervTsc: Family(
        "sequence", "", "offset", ("scale",), (), busy=lambda _: 0, ready=lambda update: update + 1
    ),
}


def first_pages(family: Family, hypervisor: Hypervisor, pages: int) -> dict[At, Any]:
    """Return the memory before the first update: update 0 of every page is complete."""
    memory: dict[At, Any] = {}
    for page in range(pages):
        tag = (page, 0)
        behind = page * hypervisor.apart_ticks
        memory[At(family.guard, page)] = family.ready(0)
        for name, value in family.constant:
            memory[At(name, page)] = value
        for name in family.rest:
            memory[At(name, page)] = (tag, None)
        if family.base:
            memory[At(family.base, page)] = (tag, page * hypervisor.skew_ticks)
            memory[At(family.time, page)] = (tag, BEGIN_TICKS - behind)
        else:
            memory[At(family.time, page)] = (tag, BEGIN_TICKS - behind - page * hypervisor.skew_ticks)
    return memory


class Updates:
    """The hypervisor's program, and the formulas that it brings along."""

    def __init__(self, family: Family, hypervisor: Hypervisor, pages: int, updates: int) -> None:
        self.formulas: dict[str, Formula] = {}
        self._family = family
        self._hypervisor = hypervisor
        self._first = first_pages(family, hypervisor, pages)
        if hypervisor.moves_threads:
            self.program: Program = tuple(Migrate(1, (move + 1) % 2) for move in range(updates))
        else:
            self.program = tuple(
                step for update in range(1, updates + 1) for step in self._update(update, pages)
            )

    def _update(self, update: int, pages: int) -> Iterator[Step]:
        """One update of every page.  A host reads its own clock first, unless that must stand still."""
        hypervisor, family = self._hypervisor, self._family
        if hypervisor.stops_vcpus:
            yield Stop()
        if not hypervisor.stands_still:
            yield Counter(f"now_{update}")
        for page in range(pages):
            yield Store(At(family.guard, page), family.busy(update))
        yield Fence(Barrier.WRITE)
        if hypervisor.stands_still:
            yield Fence(Barrier.SETTLE)
            yield Counter(f"then_{update}")
            yield Fence(Barrier.SETTLE)
            yield Counter(f"now_{update}", PAUSE_TICKS)
        for page in range(pages):
            yield from self._fields(update, page)
        yield Fence(Barrier.WRITE)
        for page in range(pages):
            yield Store(At(family.guard, page), family.ready(update))
        if hypervisor.stops_vcpus:
            yield Resume()

    def _fields(self, update: int, page: int) -> Iterator[Step]:
        family, now = self._family, f"now_{update}"
        then = f"then_{update}" if self._hypervisor.stands_still else now
        before = self._before(update, page)
        fields = ((family.base,) if family.base else ()) + (family.time, *family.rest)
        for name in fields:
            register = f"{name}_{page}_{update}"
            formula = self.formula(name, update, page)
            yield Compute(register, formula, (now, then, *before))
            yield Store(At(name, page), register)

    def _before(self, update: int, page: int) -> tuple[str, ...]:
        """Return the registers with the counter value and time of the page before, if it has any."""
        if update == 1:
            return ()
        names = (self._family.base, self._family.time) if self._family.base else (self._family.time,)
        return tuple(f"{name}_{page}_{update - 1}" for name in names)

    def formula(self, name: str, update: int, page: int) -> str:
        """Define what an update writes into a field, and return the formula's name."""
        family, hypervisor, tag = self._family, self._hypervisor, (page, update)
        skew = page * hypervisor.skew_ticks
        first = [self._first[At(n, page)] for n in (family.base, family.time) if n]

        def value(now: tuple[int, int], then: tuple[int, int], *before: Tagged) -> Tagged:
            previous = before or first
            # A page without a counter value counts from counter 0.
            base = previous[0][1] if family.base else 0
            time = previous[-1][1] + then[1] + skew - base + hypervisor.jump_ticks
            if name == family.base:
                return tag, now[1] + skew
            if name == family.time:
                return tag, time if family.base else time - now[1] - skew
            return tag, None

        key = f"{name} of page {page}, update {update}"
        self.formulas[key] = value
        return key


def _read(tsc: tuple[int, int], base: Tagged, time: Tagged, *rest: Tagged, own_counter: bool) -> int | Fault:
    """Return what a reader makes of the fields that it has loaded."""
    owners = {field[0] for field in (base, time, *rest)}
    if len(owners) > 1:
        pages = ", ".join(f"{update} of page {page}" for page, update in sorted(owners))
        return Fault("torn read", f"fields of updates {pages} in one result")
    vcpu, counter = tsc
    ((owner, update),) = owners
    if own_counter and vcpu != owner:
        return Fault("wrong page", f"the counter of vCPU {vcpu} with the page of vCPU {owner}")
    if counter < base[1]:
        return Fault(
            "negative delta",
            f"counter {counter} is before update {update}'s {base[1]}: unsigned, some 584 years ahead",
        )
    said: int = time[1] + counter - base[1]
    return said


def formulas(hypervisor: Hypervisor) -> dict[str, Formula]:
    """Return the readers' arithmetic on tagged fields."""
    own = hypervisor.skew_ticks != 0

    def pvclock(tsc: Any, base: Tagged, time: Tagged, *rest: Tagged) -> Any:
        return _read(tsc, base, time, *rest, own_counter=own)

    def vmclock(tsc: Any, base: Tagged, *page: Tagged) -> Any:
        period, shift, sec, frac = page
        return _read(tsc, base, sec, period, shift, frac, own_counter=own)

    def hyperv(tsc: Any, scale: Tagged, offset: Tagged) -> Any:
        return _read(tsc, (scale[0], 0), offset, own_counter=own)

    def greater(ns: Any, last: int) -> bool:
        return not isinstance(ns, Fault) and ns > last

    def greatest(ns: Any, last: int) -> Any:
        return ns if isinstance(ns, Fault) else max(ns, last)

    def same(one: int | None, two: int | None) -> bool:
        return one is None or two is None or one == two

    return {
        "stable": EXACT["stable"],
        "reliable": EXACT["reliable"],
        "nonzero": EXACT["nonzero"],
        "unchanged": EXACT["unchanged"],
        "same": same,
        "set": EXACT["nonzero"],
        "greater": greater,
        "greatest": greatest,
        "pvclock": pvclock,
        "vmclock": vmclock,
        "hyperv": hyperv,
    }
