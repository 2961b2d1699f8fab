"""What the explorer settles about readers and hypervisors, and that its shortcuts change no answer."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from guestclock.errors import BadInputError
from guestclock.pvclock.interleave import HYPERVISORS, MODELS, interleave
from guestclock.pvclock.interleave import explorer as explorers
from guestclock.pvclock.interleave.machine import Machine, Move, State
from guestclock.pvclock.interleave.questions import ask, build_system
from guestclock.pvclock.readers import READERS, Reader
from guestclock.pvclock.steps import Branch, Compute, Fence, Finish, Load, Store, renamed

# Nothing here is compiled: the second build would show the same.
pytestmark = pytest.mark.compiled_only

X86, AS_LOAD, ARM64 = "x86-tso", "x86-as-load", "arm64"
BACK, NEGATIVE, TORN, WRONG_PAGE = "backward step", "negative delta", "torn read", "wrong page"
CONTINUOUS, FORWARD, PAUSED, STOPPED = "continuous", "forward", "paused", "stopped"


def kind(reader: str, model: str, hypervisor: str, vcpus: int = 2, updates: int = 1) -> str | None:
    result = interleave(reader, model, vcpus, updates, hypervisor)
    return result.fault.kind if result.fault else None


def test_the_one_barrier_reader_is_right_for_two_vcpus_and_two_updates() -> None:
    result = interleave("pvclock", X86, vcpus=2, updates=2)
    assert result.proved
    assert result.states > 1000
    assert not result.schedule


@pytest.mark.parametrize("family", ["pvclock", "hyperv", "vmclock"])
@pytest.mark.parametrize("hypervisor", [CONTINUOUS, FORWARD, PAUSED, STOPPED])
def test_the_barrier_before_rdtsc_is_needed_whatever_the_hypervisor_promises(
    family: str, hypervisor: str
) -> None:
    assert kind(f"{family}-no-barrier", X86, hypervisor) is not None
    assert kind(f"{family}-no-barrier", X86, hypervisor, updates=0) == BACK
    assert kind(f"{family}-two-barriers", X86, hypervisor) is None


@pytest.mark.parametrize("family", ["pvclock", "hyperv", "vmclock"])
@pytest.mark.parametrize(
    ("hypervisor", "needed"), [(CONTINUOUS, False), (FORWARD, False), (STOPPED, False), (PAUSED, True)]
)
def test_the_second_barrier_is_needed_only_if_a_clock_may_pause_under_running_vcpus(
    family: str, hypervisor: str, needed: bool
) -> None:
    assert (kind(family, X86, hypervisor) == BACK) == needed
    assert kind(family, AS_LOAD, hypervisor) is None


@pytest.mark.parametrize("family", ["pvclock", "hyperv", "vmclock"])
def test_arm64_needs_the_counter_ordered_on_both_sides(family: str) -> None:
    assert kind(family, ARM64, CONTINUOUS, updates=0) == BACK
    assert kind(f"{family}-two-barriers", ARM64, CONTINUOUS) is None


@pytest.mark.parametrize(
    ("reader", "model", "hypervisor", "size", "expected"),
    [
        # One vCPU: an early RDTSC meets a page that is newer.
        ("pvclock-no-barrier", X86, CONTINUOUS, (1, 1), NEGATIVE),
        ("vmclock-no-barrier", X86, CONTINUOUS, (1, 1), NEGATIVE),
        # The barrier belongs between version and RDTSC.
        ("pvclock-barrier-first", X86, CONTINUOUS, (1, 1), NEGATIVE),
        ("pvclock-barrier-first", X86, CONTINUOUS, (2, 0), None),
        ("pvclock-barrier-first", X86, STOPPED, (2, 1), None),
        # Without the version check, and on arm64 without read barriers, fields of two updates meet.
        ("pvclock-unchecked", X86, CONTINUOUS, (1, 1), TORN),
        ("pvclock-no-barrier", ARM64, CONTINUOUS, (1, 1), TORN),
        ("hyperv-no-barrier", ARM64, CONTINUOUS, (1, 1), TORN),
        # No barrier helps against a page that goes back; the clamp does.
        ("pvclock-two-barriers", X86, "backward", (2, 1), BACK),
        ("clamp", X86, "backward", (2, 1), None),
        # Pages apart: compare-and-swap helps, a plain store of the last value does not.
        ("own-page", X86, "apart", (2, 0), BACK),
        ("clamp", X86, "apart", (2, 1), None),
        ("clamp-race", X86, "apart", (2, 0), BACK),
        # One getcpu misses a move to another vCPU, two miss a move there and back.
        ("one-getcpu", X86, "moving", (1, 1), WRONG_PAGE),
        ("2014", X86, "moving", (1, 1), None),
        ("2014", X86, "moving", (1, 2), WRONG_PAGE),
        # With equal pages and counters nothing of 2014 but one barrier was needed.
        ("2014", X86, CONTINUOUS, (2, 1), None),
        ("one-getcpu", X86, CONTINUOUS, (2, 1), None),
        # More vCPUs and updates than asked for.
        ("pvclock", X86, CONTINUOUS, (3, 2), None),
        ("hyperv", X86, FORWARD, (3, 2), None),
    ],
)
def test_what_is_settled(
    reader: str, model: str, hypervisor: str, size: tuple[int, int], expected: str | None
) -> None:
    vcpus, updates = size
    assert kind(reader, model, hypervisor, vcpus, updates) == expected


def test_the_schedule_shows_the_early_counter() -> None:
    result = interleave("pvclock-no-barrier", X86, vcpus=1, updates=1)
    assert result.fault is not None
    early = [row for row in result.schedule if row.early]
    assert [(row.thread, row.step) for row in early] == [("vCPU 0", "read the counter")]
    assert early[0].early[0] == "load version"
    assert result.schedule.index(early[0]) == 0
    assert result.schedule[-1].result == NEGATIVE
    steps = [row.step for row in result.schedule]
    assert steps.index("store version") < steps.index("load version") < len(steps) - 1


def test_the_schedule_shows_the_late_counter() -> None:
    result = interleave("vmclock", X86, updates=1, hypervisor=PAUSED)
    late = [row for row in result.schedule if row.late]
    assert [row.step for row in late] == ["read the counter"]
    assert late[0].late[-1] == "load seq_count"
    assert int(late[0].result) > int(result.schedule[-1].result)


def test_the_schedule_shows_the_store_that_only_its_own_vcpu_sees() -> None:
    result = interleave("clamp-race", X86, updates=0, hypervisor="apart")
    assert [(row.thread, row.step) for row in result.schedule if not row.happened] == [
        ("vCPU 1", "store last")
    ]
    assert result.schedule[-1].late


class Exhaustive(Machine):
    """The machine without shortcuts: nothing happens by itself, no attempt is given up early."""

    def settle(self, state: State) -> tuple[tuple[Move, ...], State]:
        return (), state

    def _dooms(self, state: State) -> bool:
        return False


def _without_shortcuts(reader: str, model: str, hypervisor: str, updates: int) -> explorers.Exploration:
    system = build_system(READERS[reader], HYPERVISORS[hypervisor], 2, updates)

    def whole(version: int | None, again: int | None) -> bool:
        return None in (version, again) or (version == again and version % 2 == 0)  # type: ignore[operator]

    def same(one: int | None, two: int | None) -> bool:
        return None in (one, two) or one == two

    patient = replace(system, formulas={**system.formulas, "unchanged": whole, "same": same})
    return explorers.explore(Exhaustive(patient, MODELS[model]))


@pytest.mark.parametrize(
    ("reader", "model", "hypervisor", "updates"),
    [
        ("pvclock", X86, CONTINUOUS, 1),
        ("pvclock", X86, PAUSED, 1),
        ("pvclock", X86, STOPPED, 1),
        ("pvclock-no-barrier", X86, CONTINUOUS, 0),
        ("pvclock-no-barrier", X86, CONTINUOUS, 1),
        ("pvclock-unchecked", X86, CONTINUOUS, 1),
        ("pvclock-two-barriers", X86, "backward", 1),
        ("2014", X86, "moving", 2),
        ("clamp-race", X86, "apart", 0),
        ("hyperv", X86, FORWARD, 2),
        ("hyperv-two-barriers", ARM64, PAUSED, 1),
        ("hyperv-no-barrier", ARM64, CONTINUOUS, 1),
    ],
)
def test_shortcuts_change_neither_the_answer_nor_the_length_of_the_schedule(
    reader: str, model: str, hypervisor: str, updates: int
) -> None:
    quick = interleave(reader, model, 2, updates, hypervisor)
    slow = _without_shortcuts(reader, model, hypervisor, updates)
    assert (slow.fault and slow.fault.kind) == (quick.fault and quick.fault.kind)
    assert len(slow.moves) == sum(row.happened for row in quick.schedule)
    assert slow.states >= quick.states


def _changed(reader: Reader, drop: Sequence[object]) -> Reader:
    return replace(reader, program=tuple(step for step in reader.program if step not in drop))


def test_an_attempt_that_failed_before_makes_no_difference() -> None:
    """A program has no loop: that an attempt which came to nothing leaves nothing behind is shown here."""
    reader = READERS["hyperv"]
    failed = tuple(
        Branch("changed", step.of) if isinstance(step, Branch) and step.formula == "same" else step
        for step in renamed(reader.program, "_failed")
        if not isinstance(step, Compute | Finish)
    )
    system = build_system(
        replace(reader, program=failed + reader.program), HYPERVISORS[CONTINUOUS], 2, updates=2
    )

    def changed(one: int | None, two: int | None) -> bool:
        return one is None or two is None or one != two

    machine = Machine(replace(system, formulas={**system.formulas, "changed": changed}), MODELS[X86])
    found = explorers.explore(machine)
    assert found.fault is None
    assert found.complete > 0


def test_on_arm64_isb_needs_a_branch_to_wait_for() -> None:
    """The vmclock reader's look at clock_status is what its ISB waits for."""
    reader = READERS["vmclock-two-barriers"]
    status = [
        step
        for step in reader.program
        if (isinstance(step, Load) and step.to == "clock_status")
        or (isinstance(step, Branch) and step.formula == "reliable")
    ]
    bare = _changed(reader, status)
    assert len(bare.program) == len(reader.program) - 2
    result = ask(bare, MODELS[ARM64], 1, 1, HYPERVISORS[CONTINUOUS])
    assert result.fault is not None
    assert result.fault.kind == NEGATIVE


@pytest.mark.parametrize("model", [X86, ARM64])
def test_a_writer_that_does_not_announce_its_update_tears_every_reader(model: str) -> None:
    system = build_system(READERS["hyperv-two-barriers"], HYPERVISORS[CONTINUOUS], 1, 1)
    name, program = system.programs[0]
    silent = tuple(step for step in program if not (isinstance(step, Store) and step.at.field == "sequence"))
    machine = Machine(replace(system, programs=((name, silent), *system.programs[1:])), MODELS[model])
    fault = explorers.explore(machine).fault
    assert fault is not None
    assert fault.kind == TORN


def test_on_arm64_a_writer_needs_its_write_barriers() -> None:
    system = build_system(READERS["hyperv-two-barriers"], HYPERVISORS[CONTINUOUS], 1, 1)
    name, program = system.programs[0]
    bare = tuple(step for step in program if not isinstance(step, Fence))
    unordered = replace(system, programs=((name, bare), *system.programs[1:]))
    on_arm64 = explorers.explore(Machine(unordered, MODELS[ARM64])).fault
    assert on_arm64 is not None
    assert on_arm64.kind == TORN
    assert explorers.explore(Machine(unordered, MODELS[X86])).fault is None


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"reader": "pv"}, "reader 'pv': there are 2014, "),
        ({"model": "vax"}, "model 'vax': there are x86-tso, "),
        ({"hypervisor": "kvm"}, "hypervisor 'kvm': there are continuous, "),
        ({"vcpus": 0}, "0 vCPUs: 1 to 4"),
        ({"updates": 5}, "5 updates: 0 to 4"),
        ({"reader": "2014", "model": ARM64}, "only x86 has a page for each vCPU"),
        ({"hypervisor": "apart"}, "one page is read, and the vCPUs' differ"),
        ({"reader": "clamp", "hypervisor": "moving"}, "preemption off"),
    ],
)
def test_senseless_questions_are_refused(asked: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        interleave(**({"reader": "pvclock"} | asked))  # type: ignore[arg-type]


def test_too_many_states_are_refused() -> None:
    machine = Machine(build_system(READERS["pvclock"], HYPERVISORS[CONTINUOUS], 2, 2), MODELS[X86])
    with pytest.raises(BadInputError, match="more than 100 states"):
        explorers.explore(machine, states_max=100)
