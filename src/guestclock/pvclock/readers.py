"""The guest's side: every shape of reader as a program, and what it returns for a given page.

The shapes are those of Linux through the years, and their faulty relatives.  ``read`` executes one in
program order on real bytes; ``interleave`` tries every other order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import singledispatch

from guestclock.errors import BadInputError
from guestclock.pvclock import scale
from guestclock.pvclock.layouts import HypervTsc, Page, PvclockFlag, PvclockTime, Vmclock
from guestclock.pvclock.steps import (
    At,
    Barrier,
    Branch,
    CompareSwap,
    Compute,
    Counter,
    Fence,
    Finish,
    Formula,
    Load,
    Memory,
    Program,
    StartAgainError,
    Step,
    Store,
    Vcpu,
    run,
)

_U64 = 1 << 64
RMB = Fence(Barrier.READ)
BEFORE = Fence(Barrier.BEFORE_COUNTER)
AFTER = Fence(Barrier.AFTER_COUNTER)
LAST = At("last")  # the greatest time that any vCPU has returned


@dataclass(frozen=True)
class Reader:
    """A shape of reader: its page's type, its program, and whether each vCPU reads a page of its own."""

    name: str
    title: str
    page: type[Page]
    program: Program
    own_page: bool = False
    clamps: bool = False


def _loads(names: Sequence[str], page: int | str = 0) -> tuple[Step, ...]:
    return tuple(Load(name, At(name, page)) for name in names)


PVCLOCK_FIELDS = ("tsc_timestamp", "system_time", "tsc_to_system_mul", "tsc_shift")
_PVCLOCK_TIME = Compute("ns", "pvclock", ("tsc", *PVCLOCK_FIELDS))
_STABLE = (Load("flags", At("flags")), Branch("stable", ("flags",)))
_PVCLOCK_DATA = (*_loads(PVCLOCK_FIELDS), _PVCLOCK_TIME)
_FIRST_VERSION = Load("version", At("version"))
_UNCHANGED = (Load("version_again", At("version")), Branch("unchanged", ("version", "version_again")))
_DONE = (Finish("ns"),)

# Per-vCPU pages: the page number is in a register.
_OWN_VERSION = Load("version", At("version", "vcpu"))
_OWN_DATA = (*_loads(PVCLOCK_FIELDS, "vcpu"), _PVCLOCK_TIME)
_OWN_UNCHANGED = (
    Load("version_again", At("version", "vcpu")),
    Branch("unchanged", ("version", "version_again")),
)
_OWN_READ: Program = (
    Vcpu("vcpu"),
    _OWN_VERSION,
    RMB,
    BEFORE,
    Counter("tsc"),
    *_OWN_DATA,
    RMB,
    *_OWN_UNCHANGED,
)
_LATER = Compute("later", "greater", ("ns", "last"))
_RESULT = (Compute("clamped", "greatest", ("ns", "last")), Finish("clamped"))

_HYPERV_BEGIN = (Load("sequence", At("sequence")), Branch("nonzero", ("sequence",)), RMB)
_HYPERV_DATA = (*_loads(("scale", "offset")),)
_HYPERV_END = (
    RMB,
    Load("sequence_again", At("sequence")),
    Branch("same", ("sequence", "sequence_again")),
    Compute("ns", "hyperv", ("tsc", "scale", "offset")),
    *_DONE,
)

VMCLOCK_FIELDS = (
    "counter_value",
    "counter_period_frac_sec",
    "counter_period_shift",
    "time_sec",
    "time_frac_sec",
)
_VMCLOCK_BEGIN = (
    Load("seq_count", At("seq_count")),
    RMB,
    Load("clock_status", At("clock_status")),
    Branch("reliable", ("clock_status",)),
)
_VMCLOCK_DATA = (*_loads(VMCLOCK_FIELDS), Compute("ns", "vmclock", ("tsc", *VMCLOCK_FIELDS)))
_VMCLOCK_END = (
    RMB,
    Load("seq_count_again", At("seq_count")),
    Branch("unchanged", ("seq_count", "seq_count_again")),
    *_DONE,
)

READERS = {
    reader.name: reader
    for reader in (
        Reader(
            "2014",
            "the loop of vread_pvclock in 2014: own page, getcpu twice, a barrier on either side of RDTSC",
            PvclockTime,
            (
                Vcpu("vcpu"),
                _OWN_VERSION,
                BEFORE,
                Counter("tsc"),
                *_OWN_DATA,
                AFTER,
                Vcpu("vcpu_again"),
                Branch("same", ("vcpu", "vcpu_again")),
                *_OWN_UNCHANGED,
                *_DONE,
            ),
            own_page=True,
        ),
        Reader(
            "one-getcpu",
            "as 2014, but getcpu once",
            PvclockTime,
            (
                Vcpu("vcpu"),
                _OWN_VERSION,
                BEFORE,
                Counter("tsc"),
                *_OWN_DATA,
                AFTER,
                *_OWN_UNCHANGED,
                *_DONE,
            ),
            own_page=True,
        ),
        Reader(
            "pvclock",
            "vread_pvclock of today: page 0 if TSC_STABLE, one barrier, before RDTSC",
            PvclockTime,
            (_FIRST_VERSION, RMB, *_STABLE, BEFORE, Counter("tsc"), *_PVCLOCK_DATA, RMB, *_UNCHANGED, *_DONE),
        ),
        Reader(
            "pvclock-two-barriers",
            "as pvclock, with a second barrier behind RDTSC",
            PvclockTime,
            (
                *(_FIRST_VERSION, RMB, *_STABLE, BEFORE, Counter("tsc"), AFTER, *_PVCLOCK_DATA, RMB),
                *_UNCHANGED,
                *_DONE,
            ),
        ),
        Reader(
            "pvclock-no-barrier",
            "as pvclock, with no barrier at all",
            PvclockTime,
            (_FIRST_VERSION, *_STABLE, Counter("tsc"), *_PVCLOCK_DATA, *_UNCHANGED, *_DONE),
        ),
        Reader(
            "pvclock-barrier-first",
            "as pvclock, with the barrier before the version is read instead of behind",
            PvclockTime,
            (BEFORE, _FIRST_VERSION, RMB, *_STABLE, Counter("tsc"), *_PVCLOCK_DATA, RMB, *_UNCHANGED, *_DONE),
        ),
        Reader(
            "pvclock-unchecked",
            "as pvclock, but the version is not looked at again",
            PvclockTime,
            (_FIRST_VERSION, RMB, *_STABLE, BEFORE, Counter("tsc"), *_PVCLOCK_DATA, *_DONE),
        ),
        Reader(
            "own-page",
            "the vCPU's own page, TSC not stable, no clamp",
            PvclockTime,
            (*_OWN_READ, *_DONE),
            own_page=True,
        ),
        Reader(
            "clamp",
            "pvclock_clocksource_read: own page, clamped to the last value by compare-and-swap",
            PvclockTime,
            (*_OWN_READ, Load("last", LAST), _LATER, CompareSwap(LAST, "last", "ns", "later"), *_RESULT),
            own_page=True,
            clamps=True,
        ),
        Reader(
            "clamp-race",
            "as clamp, but `last = ret` by a plain store",
            PvclockTime,
            (*_OWN_READ, Load("last", LAST), _LATER, Store(LAST, "ns", when="later"), *_RESULT),
            own_page=True,
            clamps=True,
        ),
        Reader(
            "hyperv",
            "hv_read_tsc_page: sequence, one barrier before RDTSC, sequence",
            HypervTsc,
            (*_HYPERV_BEGIN, *_HYPERV_DATA, BEFORE, Counter("tsc"), *_HYPERV_END),
        ),
        Reader(
            "hyperv-two-barriers",
            "as hyperv, with a second barrier behind RDTSC",
            HypervTsc,
            (*_HYPERV_BEGIN, *_HYPERV_DATA, BEFORE, Counter("tsc"), AFTER, *_HYPERV_END),
        ),
        Reader(
            "hyperv-no-barrier",
            "as hyperv, with no barrier at all",
            HypervTsc,
            tuple(
                step for step in (*_HYPERV_BEGIN, *_HYPERV_DATA, Counter("tsc"), *_HYPERV_END) if step != RMB
            ),
        ),
        Reader(
            "vmclock",
            "a vmclock reader with one barrier, before the counter",
            Vmclock,
            (*_VMCLOCK_BEGIN, BEFORE, Counter("tsc"), *_VMCLOCK_DATA, *_VMCLOCK_END),
        ),
        Reader(
            "vmclock-two-barriers",
            "as vmclock, with a second barrier behind the counter",
            Vmclock,
            (*_VMCLOCK_BEGIN, BEFORE, Counter("tsc"), AFTER, *_VMCLOCK_DATA, *_VMCLOCK_END),
        ),
        Reader(
            "vmclock-no-barrier",
            "ptp_vmclock with get_cycles(): on x86 that is RDTSC without a barrier",
            Vmclock,
            (*_VMCLOCK_BEGIN, Counter("tsc"), *_VMCLOCK_DATA, *_VMCLOCK_END),
        ),
    )
}


def find_reader(name: str) -> Reader:
    """Return the reader of a name; BadInputError lists those there are."""
    if name not in READERS:
        raise BadInputError(f"reader {name!r}: there are {', '.join(READERS)}")
    return READERS[name]


def unchanged(version: int | None, again: int | None) -> bool:
    """Is the version even and the same?  None: not read yet."""
    return (version is None or version & 1 == 0) and (again is None or version is None or again == version)


EXACT: Mapping[str, Formula] = {
    "stable": lambda flags: flags & PvclockFlag.TSC_STABLE,
    "reliable": lambda status: status != 4,
    "nonzero": bool,
    "same": int.__eq__,
    "unchanged": unchanged,
    "greater": int.__gt__,
    "greatest": max,
    "pvclock": scale.pvclock_ns,
    "hyperv": lambda tsc, factor, offset: 100 * scale.hyperv_ticks(tsc, factor, offset),
    "vmclock": lambda tsc, value, *page: scale.vmclock_ns((tsc - value) % _U64, *page),
}


@singledispatch
def ns_at(page: Page, counter: int) -> int:
    """Return the time, in ns, that a page tells at a counter value; the page is taken as it is.

    >>> ns_at(PvclockTime(2, 1000, 70, 0x80000000, 1, 0), 1500)
    570
    """
    raise TypeError(f"{type(page).__name__} tells no time")


@ns_at.register
def _(page: PvclockTime, counter: int) -> int:
    return scale.pvclock_ns(
        counter, page.tsc_timestamp, page.system_time, page.tsc_to_system_mul, page.tsc_shift
    )


@ns_at.register
def _(page: HypervTsc, counter: int) -> int:
    return 100 * scale.hyperv_ticks(counter, page.scale, page.offset)


@ns_at.register
def _(page: Vmclock, counter: int) -> int:
    return scale.vmclock_ns(
        (counter - page.counter_value) % _U64,
        page.counter_period_frac_sec,
        page.counter_period_shift,
        page.time_sec,
        page.time_frac_sec,
    )


def memory_of(page: Page, number: int = 0) -> Memory:
    """Return a page's fields as the memory that a program reads."""
    return {At(f.name, number): getattr(page, f.name) for f in fields(page)}  # type: ignore[arg-type]


def read(reader: Reader, memory: Memory, counter: Callable[[], int], attempts_max: int = 1000) -> int:
    """Return what a reader returns, in ns, when its steps run in program order on vCPU 0.

    ``memory`` may change while ``counter`` is called: that is how a test lets an update happen.
    Raises BadInputError when no attempt in ``attempts_max`` finds the page whole.
    """
    for _ in range(attempts_max):
        try:
            return run(reader.program, memory, counter, EXACT)
        except StartAgainError:
            continue
    raise BadInputError(
        f"reader {reader.name}: in {attempts_max} attempts the page was never whole, or tells no time"
    )
