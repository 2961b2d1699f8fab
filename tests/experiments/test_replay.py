"""Second looks at saved runs: stopping before a step, and the fewest and shortest stalls that make one."""

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.errors import BadInputError
from guestclock.experiments.boot import Boot, as_described, bundled, own
from guestclock.experiments.replay import replay
from guestclock.experiments.replay_document import as_json
from guestclock.experiments.run import Run, RunPlan, run
from guestclock.experiments.saved_run import SavedRun, command_of, load_saved
from guestclock.experiments.session import Session, set_up
from guestclock.experiments.shrink import LOST, minimised, shortened, shrink
from guestclock.guests.orders import CLOCKPROBE, parse_phases
from guestclock.quadra.traced import AccessTrace
from guestclock.readings import EventKind, Tables
from guestclock.timebase.stalls import Stall
from guestclock.verdict import judge

from . import guests

VIRTUAL = RunPlan(chip="qemu-7.2", pacing="virtual", ram_mib=4)
EVENLY = RunPlan(pacing="host", host="simulated", stall="every=50ms,for=35ms", ram_mib=4)


def clockprobe(phases: str) -> Boot:
    return bundled(CLOCKPROBE, parse_phases(phases, CLOCKPROBE))


@cache
def ran(plan: RunPlan, phases: str) -> Run:
    return run(plan, clockprobe(phases))


def saved(plan: RunPlan, phases: str) -> SavedRun:
    return SavedRun(plan, clockprobe(phases), ran(plan, phases).tables)


def stop_after(session: Session, host_ns: int) -> None:
    if session.pacer.host_ns > host_ns:
        session.machine.bus.stop_requested = True


@cache
def stalled() -> RunPlan:
    """Return a plan whose clock goes back at its third stall: it falls between two accesses of one read.

    It begins in the middle of a period of T1 and is a bit shorter: the counter shows more after than before.
    """
    for shift_ns in range(0, 3_000, 50):
        third = f"at={105_000_000 + shift_ns}ns,for=9500us"
        stall = f"at=50ms,for=12ms+at=75ms,for=13ms+{third}+at=200ms,for=35ms+at=300ms,for=15ms"
        plan = replace(EVENLY, stall=stall)
        with set_up(plan, clockprobe("hunt:1")) as session:
            session.run(lambda: stop_after(session, 150_000_000))
            if len(session.tables(None).events_of(EventKind.BACKWARD)):
                return plan
    raise AssertionError("no stall of so many makes a step: has the guest's way to read its clock changed?")


def changed(tables: Tables, **meta: object) -> Tables:
    return replace(tables, meta={**tables.meta, **meta})


# Stopping before a step.


@pytest.mark.compiled_only
@pytest.mark.parametrize(("chip", "number"), [("qemu-7.2", 1), ("qemu-7.2", 3), ("chip", 1)])
def test_the_machine_stands_one_access_before_the_step(chip: str, number: int) -> None:
    run_before = saved(VIRTUAL if chip == "qemu-7.2" else stalled(), "hunt:1")
    stopped = replay(run_before, number)
    events = run_before.tables.events_of(EventKind.BACKWARD)
    assert stopped.step.after_ns - stopped.step.before_ns == events["value"][number - 1]
    assert stopped.step.total == len(events)
    assert stopped.moment.past[-1].access == stopped.access - 1
    assert stopped.coming[0].access == stopped.access
    assert stopped.coming[0].what.startswith("read VIA1")
    assert stopped.coming[-1].note == f"{stopped.step.clock} after"
    told = [what for what in stopped.coming if what.note.endswith("before")]
    assert told[-1].value == f"{stopped.step.before_ns // 10**9:,}.{stopped.step.before_ns % 10**9:09d} s"
    times = [what.guest_ns for what in stopped.moment.past if what.guest_ns is not None]
    assert times == sorted(times)
    assert times[-1] == stopped.moment.guest_ns <= stopped.step.told_ns
    assert replay(run_before, number) == stopped
    json.dumps(as_json(stopped))


@pytest.mark.compiled_only
def test_what_the_chip_shows_is_what_the_guest_reads_next() -> None:
    stopped = replay(saved(VIRTUAL, "hunt:1"), 2)
    read = stopped.coming[0]
    name = read.what.removeprefix("read VIA1 ")
    assert read.value == f"{stopped.moment.via1.registers[name]:02X}"
    chip = as_json(stopped)["chips"]["via1"]
    assert chip["t1_latch"] == 0x1E97  # Linux's tick
    assert chip["t1_counter"] <= 0x1E97
    assert chip["enabled"] == "T1"


@pytest.mark.compiled_only
def test_the_stall_that_came_between_two_reads_is_in_the_timeline() -> None:
    """Mechanism: T1CH before the stall, IFR after it; the period is added too early."""
    past = replay(saved(stalled(), "hunt:1")).moment.past
    place = next(i for i, what in enumerate(past) if what.what == "the host stalls")
    assert [what.what for what in past[place - 1 : place + 3]] == [
        "read VIA1 T1CH",
        "the host stalls",
        "T1 falls due",
        "read VIA1 IFR",
    ]


@pytest.mark.compiled_only
@pytest.mark.parametrize("plan", [VIRTUAL, EVENLY, replace(VIRTUAL, chip="chip")])
def test_a_traced_machine_does_what_the_others_do(plan: RunPlan) -> None:
    before = ran(plan, "calls:100,hunt:1").tables
    with set_up(plan, clockprobe("calls:100,hunt:1"), trace=AccessTrace()) as session:
        session.run(lambda: None)
        assert session.tables(None) == before


@pytest.mark.compiled_only
def test_a_folder_holds_all_that_a_second_run_needs(tmp_path: Path) -> None:
    recorded = tmp_path / "stalls"
    recorded.write_text("".join(f"{at * 10**6} 35000000\n" for at in range(100, 3000, 100)))
    plan = replace(EVENLY, stall=f"file={recorded}")
    ran(plan, "calls:100,hunt:1").save(tmp_path / "kept")
    recorded.unlink()
    loaded = load_saved(tmp_path / "kept")
    assert loaded.stalls[0] == (10**8, 35_000_000)
    again = run(loaded.plan, loaded.boot).tables
    for table in ("readings", "events", "histograms"):
        assert np.array_equal(getattr(again, table), getattr(loaded.tables, table))


# What cannot be looked at again.


@pytest.mark.compiled_only
@pytest.mark.parametrize(
    ("meta", "named"),
    [
        ({"host": "real", "pacing": "paced"}, "was run on the real host"),
        ({"typed_into": True}, "somebody typed into it"),
        ({"boot": {"guest": "clockprobe", "variant": "plain", "kernel_sha256": "0"}}, "changed since"),
    ],
)
def test_a_run_that_would_not_be_the_same_again_is_refused(
    meta: dict[str, object], named: str, tmp_path: Path
) -> None:
    found = ran(VIRTUAL, "calls:100,hunt:1")
    replace(found, tables=changed(found.tables, **meta)).save(tmp_path)
    with pytest.raises(BadInputError, match=named):
        load_saved(tmp_path)


@pytest.mark.compiled_only
def test_a_folder_without_a_run_and_a_run_without_a_step_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"tables\.npz"):
        load_saved(tmp_path / "none")
    tables = ran(VIRTUAL, "calls:100,hunt:1").tables
    old = replace(tables, meta={name: value for name, value in tables.meta.items() if name != "boot"})
    replace(ran(VIRTUAL, "calls:100,hunt:1"), tables=old).save(tmp_path)
    with pytest.raises(BadInputError, match="does not say how it was run"):
        load_saved(tmp_path)
    with pytest.raises(BadInputError, match="never went back"):
        replay(saved(replace(VIRTUAL, chip="chip"), "calls:100,hunt:1"))
    with pytest.raises(BadInputError, match=r"step 9999: the clock went back \d+ times"):
        replay(saved(VIRTUAL, "calls:100,hunt:1"), 9999)


def test_a_kernel_of_one_s_own_is_found_again_unless_it_changed(tmp_path: Path) -> None:
    kernel = guests.kernel(tmp_path / "kernel", guests.SPIN)
    boot = own(kernel, None, "console=ttyS0")
    description = boot.described()
    assert as_described(description, boot.command_line) == boot
    kernel.write_bytes(kernel.read_bytes() + b"\0")
    with pytest.raises(BadInputError, match="changed since"):
        as_described(description, boot.command_line)


# Shrinking.

Fails = Callable[[tuple[Stall, ...]], bool]


@given(
    st.integers(1, 40), st.lists(st.sets(st.integers(0, 39), min_size=1, max_size=4), min_size=1, max_size=3)
)
def test_of_minimised_stalls_none_can_be_left_out(total: int, causes: Sequence[set[int]]) -> None:
    stalls = tuple((number, 1) for number in range(total))
    sets = [{(number, 1) for number in cause} for cause in causes]
    asked: list[tuple[Stall, ...]] = []

    def fails(some: tuple[Stall, ...]) -> bool:
        asked.append(some)
        return any(cause <= set(some) for cause in sets)

    if not fails(stalls):
        return
    fewest = minimised(stalls, fails)
    assert fails(fewest)
    assert len(fewest) == 1 or not any(fails(fewest[:n] + fewest[n + 1 :]) for n in range(len(fewest)))
    assert fewest in asked or fewest == stalls
    assert list(fewest) == sorted(fewest)


@given(st.integers(1, 10**8), st.integers(0, 10**8))
def test_a_shortened_stall_fails_and_is_close_to_the_shortest(length_ns: int, limit_ns: int) -> None:
    limit_ns %= length_ns
    (found,) = shortened(((7, length_ns),), 0, lambda some: some[0][1] > limit_ns)
    assert found[0] == 7
    assert limit_ns < found[1] <= length_ns
    assert found[1] <= (limit_ns + 2) * 7 // 6 + 1_000


@pytest.mark.compiled_only
def test_a_shrunk_run_still_fails_and_its_command_makes_it() -> None:
    run_before = saved(stalled(), "hunt:1")
    lines: list[str] = []
    found = shrink(run_before, lines.append)
    ((at_ns, for_ns),) = found.stalls
    assert 105_000_000 <= at_ns < 105_010_000
    assert for_ns <= 9_500_000
    assert found.stalls_before == 5
    assert lines[-1].endswith("runs)")
    plan = replace(run_before.plan, stall=found.stall)
    assert judge(run(plan, run_before.boot).tables).monotonicity.backward.count > 0
    assert found.command == command_of(plan, run_before.boot)
    words = shlex.split(found.command)
    assert words[words.index("--stall") + 1] == found.stall
    assert words[words.index("--phases") + 1] == "hunt:1"


@pytest.mark.compiled_only
def test_lost_ticks_are_shrunk_where_there_is_no_step() -> None:
    run_before = saved(replace(EVENLY, chip="series-2021"), "busy:1")
    assert judge(run_before.tables).monotonicity.backward.count == 0
    found = shrink(run_before)
    assert found.fault == LOST
    assert len(found.stalls) == 1
    # Two periods of T1 must end in it.
    assert 10_000_000 < found.stalls[0][1] < 20_000_000


@pytest.mark.compiled_only
def test_qemu_s_via_needs_no_stall() -> None:
    found = shrink(saved(replace(EVENLY, chip="qemu-7.2"), "calls:100,hunt:1"))
    assert (found.stalls, found.stall) == ((), None)
    assert "--stall" not in found.command
    assert found.sentence.startswith("No stall is needed")


@pytest.mark.compiled_only
def test_there_may_be_nothing_to_shrink() -> None:
    with pytest.raises(BadInputError, match="this run was good"):
        shrink(saved(replace(EVENLY, pacing="paced"), "calls:100,hunt:1"))
    with pytest.raises(BadInputError, match="suffered no stall"):
        shrink(saved(VIRTUAL, "calls:100,hunt:1"))
