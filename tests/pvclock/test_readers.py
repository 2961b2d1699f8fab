"""Every reader on real bytes: what it returns, and that an update in the middle never shows."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.errors import BadInputError
from guestclock.pvclock import exact, layouts, readers
from guestclock.pvclock.layouts import HypervTsc, Page, PvclockTime, Vmclock
from guestclock.pvclock.readers import READERS, memory_of, ns_at, read
from guestclock.pvclock.steps import At, Memory, StartAgainError, renamed, run
from guestclock.pvclock.writers import publish, stores

TSC_HZ = 2_300_000_000
MUL, SHIFT = exact.time_scale(exact.NSEC_PER_SEC, TSC_HZ)
STABLE = layouts.PvclockFlag.TSC_STABLE


def pages() -> dict[type[Page], tuple[Page, Page]]:
    """Return a page and its successor a second later, of each type; both tell sensible times."""
    vmclock = Vmclock(
        *(layouts.VMCLOCK_MAGIC, 4096, 1, layouts.VmclockCounter.X86_TSC, layouts.VmclockTimeType.UTC, 2),
        *(0, 0, layouts.VmclockStatus.SYNCHRONIZED, 0, 0, 0, 4),
        *(0, (1 << 68) // TSC_HZ, 0, 0, 1_700_000_000, 5, 0, 0, 0),
    )
    return {
        PvclockTime: (
            PvclockTime(2, 0, 1000, MUL, SHIFT, STABLE),
            PvclockTime(4, TSC_HZ, 1_000_003_000, MUL - 1, SHIFT, STABLE),
        ),
        HypervTsc: (
            HypervTsc(1, (10_000_000 << 64) // TSC_HZ, 7),
            HypervTsc(2, (10_000_001 << 64) // TSC_HZ, 90),
        ),
        Vmclock: (
            vmclock,
            replace(vmclock, counter_value=TSC_HZ, time_sec=1_700_000_001, time_frac_sec=1 << 63),
        ),
    }


def memory_for(reader: readers.Reader, page: Page) -> Memory:
    return memory_of(page) | {readers.LAST: 0, At("stack"): 0}


@pytest.mark.parametrize("name", READERS)
@given(later=st.integers(0, 1 << 40))
def test_in_order_every_reader_says_what_the_page_says(name: str, later: int) -> None:
    reader = READERS[name]
    page = pages()[reader.page][0]
    assert read(reader, memory_for(reader, page), lambda: later) == ns_at(page, later)


@given(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1))
def test_the_time_at_a_counter_value_is_the_formulas(base: int, counter: int) -> None:
    """The oracle is the published formula, in fractions of a second where the page has them."""
    hyperv, vmclock = pages()[HypervTsc][0], pages()[Vmclock][0]
    assert isinstance(hyperv, HypervTsc)
    assert isinstance(vmclock, Vmclock)
    pvclock = PvclockTime(2, base, 5, MUL, SHIFT, STABLE)
    assert ns_at(pvclock, counter) == exact.pvclock_ns(counter, base, 5, MUL, SHIFT)
    assert ns_at(hyperv, counter) == 100 * exact.hyperv_ticks(counter, hyperv.scale, hyperv.offset)
    seconds = exact.vmclock_fraction(
        (counter - base) % exact.U64, vmclock.counter_period_frac_sec, 4, vmclock.time_sec, 5
    )
    assert ns_at(replace(vmclock, counter_value=base), counter) == int(seconds * 10**9) % exact.U64


def test_a_wall_clock_alone_tells_no_time() -> None:
    with pytest.raises(TypeError, match="tells no time"):
        ns_at(layouts.PvclockWallClock(2, 0, 0), 0)


def meeting(reader: readers.Reader, stores_before: int, stores_within: int) -> Iterator[int]:
    """Yield what a reader says whose page is being updated before and while it reads, if anything."""
    old, new = pages()[reader.page]
    memory = memory_for(reader, old)
    update = publish(memory, new)
    for _ in range(stores_before):
        next(update, None)

    def counter() -> int:
        for _ in range(stores_within):
            next(update, None)
        return 2 * TSC_HZ

    try:
        yield run(reader.program, memory, counter, readers.EXACT)
    except StartAgainError:
        return


CHECKED = [name for name in READERS if name != "pvclock-unchecked"]


@pytest.mark.parametrize("name", CHECKED)
def test_an_update_in_the_middle_never_shows(name: str) -> None:
    reader = READERS[name]
    old, new = pages()[reader.page]
    sensible = {ns_at(old, 2 * TSC_HZ), ns_at(new, 2 * TSC_HZ)}
    count = len(stores(new, 2))
    said = {
        value
        for before in range(count)
        for within in range(count)
        for value in meeting(reader, before, within)
    }
    assert said == sensible


def test_an_update_in_the_middle_shows_when_nobody_checks() -> None:
    old, new = pages()[PvclockTime]
    said = {value for before in range(9) for value in meeting(READERS["pvclock-unchecked"], before, 0)}
    assert said - {ns_at(old, 2 * TSC_HZ), ns_at(new, 2 * TSC_HZ)}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("pvclock", {At("version"): 3}),
        ("pvclock", {At("flags"): 0}),
        ("hyperv", {At("sequence"): 0}),
        ("vmclock", {At("seq_count"): 1}),
        ("vmclock", {At("clock_status"): layouts.VmclockStatus.UNRELIABLE}),
    ],
)
def test_a_page_that_never_becomes_readable_ends_in_one_line(name: str, change: Memory) -> None:
    reader = READERS[name]
    memory = memory_for(reader, pages()[reader.page][0]) | change
    with pytest.raises(BadInputError, match=f"reader {name}: in 5 attempts the page was never whole"):
        read(reader, memory, lambda: 0, attempts_max=5)


@pytest.mark.parametrize("name", ["clamp", "clamp-race"])
def test_the_clamp_never_goes_back_and_remembers(name: str) -> None:
    reader = READERS[name]
    page = pages()[PvclockTime][0]
    memory = memory_for(reader, page)
    first = read(reader, memory, lambda: TSC_HZ)
    assert memory[readers.LAST] == first == ns_at(page, TSC_HZ)
    assert read(reader, memory, lambda: TSC_HZ - 500) == first
    assert read(reader, memory, lambda: TSC_HZ + 500) == memory[readers.LAST] == ns_at(page, TSC_HZ + 500)


@pytest.mark.parametrize("name", READERS)
def test_renamed_registers_change_nothing(name: str) -> None:
    reader = READERS[name]
    twin = replace(reader, program=renamed(reader.program, "_2"))
    page = pages()[reader.page][0]
    assert read(twin, memory_for(reader, page), lambda: 12345) == ns_at(page, 12345)
    assert not {str(step) for step in twin.program} & {
        str(step) for step in reader.program if getattr(step, "to", "")
    }
