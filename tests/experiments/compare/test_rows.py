"""Which rows options make, what they are called, and what does not go together."""

from typing import Any

import pytest

from guestclock.errors import BadInputError, UnavailableError
from guestclock.experiments.compare import wanted
from guestclock.experiments.compare.emulator import Emulator
from guestclock.experiments.compare.events import Event, parse_event
from guestclock.experiments.compare.rows import STORY, Wanted, name, rows
from guestclock.experiments.run import RunPlan
from guestclock.guests.orders import Phase, parse_phases
from guestclock.qemu.binary import Binary

PHASES = parse_phases("calls:1,hunt:1", "clockprobe")
OLD, NEW = Binary("/old/qemu", "7.2.22 (Debian)"), Binary("/new/qemu", "7.2.22 (mine)")
OTHER = Binary("/other/qemu", "8.2.0")


def names(**asked: Any) -> list[str]:
    return [name(row) for row in rows(Wanted(PHASES, **asked))]


def parsed(plan: RunPlan | None = None, **asked: Any) -> Wanted:
    unasked = dict.fromkeys(
        ("variants", "chips", "pacings", "qemus", "icounts", "levels", "loads", "stalls", "event")
    )
    words = {**unasked, "guest": "clockprobe", "userland": False, "calls": 10, "seconds": None}
    return wanted.parse(plan or RunPlan(), **{**words, **asked})  # type: ignore[arg-type]


def test_with_nothing_asked_the_story_is_told() -> None:
    assert len(names()) == len(STORY)
    assert names()[:2] == ["chip, paced", "chip, virtual"]
    assert names()[-1] == "chip, host, stalls every=50ms,for=35ms"
    assert names(loads=(0, 3))[len(STORY)] == "chip, paced, load 3"


def test_each_option_is_a_dimension_and_only_what_differs_is_named() -> None:
    assert names(pacings=("paced", "host")) == ["chip, paced", "chip, host"]
    assert names(binaries=(OLD,)) == ["chip, paced", "QEMU 7.2.22"]
    assert names(binaries=(OLD, NEW, OTHER))[1:] == [
        "QEMU 7.2.22 (/old/qemu)",
        "QEMU 7.2.22 (/new/qemu)",
        "QEMU 8.2.0",
    ]
    assert names(levels=(6, 1), stalls=(None, "every=5ms,for=1ms")) == [
        "chip, level 6",
        "chip, level 1",
        "chip, stalls every=5ms,for=1ms, level 6",
        "chip, stalls every=5ms,for=1ms, level 1",
    ]
    assert names(binaries=(OTHER,), icounts=(3,)) == ["chip, paced", "QEMU 8.2.0", "QEMU 8.2.0, icount 3"]


def test_what_all_rows_share_is_said_once() -> None:
    first, second = rows(Wanted(PHASES, chips=("qemu-6.1", "chip"), pacings=("host",)))
    assert (name(first), name(second)) == ("qemu-6.1", "chip")
    assert first.common == second.common == {"guest": "clockprobe", "pacing": "host"}
    (alone,) = rows(Wanted(PHASES, event=Event("stop", 1)))
    assert name(alone) == "chip"


def test_rows_carry_what_they_are_called() -> None:
    found = rows(
        Wanted(PHASES, binaries=(OTHER,), loads=(2,), levels=(1,), icounts=(3,), plan=RunPlan(seed=9))
    )
    assert {row.load for row in found} == {2}
    assert all("level=1" in row.boot.command_line for row in found)
    ours, theirs, counted = (row.machine for row in found)
    assert isinstance(ours, RunPlan)
    assert isinstance(theirs, Emulator)
    assert isinstance(counted, Emulator)
    assert (ours.seed, theirs.seed) == (9, 9)
    assert (theirs.icount_shift, counted.icount_shift) == (None, 3)


def test_what_no_machine_of_ours_can_do_is_left_out() -> None:
    plan = RunPlan(host="simulated")
    for event, pacing, given, why in (
        ("savevm=1s", "paced", plan, "goes back with its machine"),
        ("savevm=1s", "paced", RunPlan(), None),
        ("stop=1s", "virtual", RunPlan(), "knows no host"),
        ("sigstop=1s", "paced", plan, "no signals"),
        ("stop=1s", "paced", plan, None),
    ):
        (row,) = rows(Wanted(PHASES, pacings=(pacing,), event=parse_event(event), plan=given))
        assert (row.why_not or "") == "" if why is None else why in str(row.why_not)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"guest": "linux", "levels": (6,)}, "--level: linux chooses"),
        ({"levels": (3,)}, "--level 3: VIA1 interrupts at level 1 or 6"),
        ({"icounts": (3,)}, "--icount is for QEMU"),
        ({"event": Event("stop", 1), "stalls": ("every=5ms,for=1ms",)}, "one at a time"),
        ({"variants": ("debug-timekeeping",)}, "clockprobe has one kernel"),
        ({"userland": True, "levels": (6,)}, "--userland measures a boot"),
    ],
)
def test_what_does_not_go_together_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        Wanted(PHASES, **asked)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"variants": ["fast"]}, "--variant fast: there are plain, debug-timekeeping"),
        ({"icounts": [11], "qemus": ["qemu"]}, "--icount 11: QEMU takes shifts of 0 to 10"),
        ({"loads": [65]}, "--load 65: give 0 to 64"),
        ({"loads": [-1]}, "--load -1: give 0 to 64"),
        ({"event": "stop"}, "event 'stop': say stop=2s, sigstop=2s, savevm=2s"),
        ({"event": "melt=2s"}, "event 'melt=2s'"),
        ({"event": "stop=2"}, "'2' is not a duration"),
        ({"stalls": ["now"]}, "unknown word 'now'"),
        ({"chips": ["6526"]}, "6526"),
        ({"pacings": ["quick"]}, "pacing 'quick'"),
        ({"calls": -1}, "neither may be negative"),
        ({"guest": "minix"}, "guest 'minix': say clockprobe or linux"),
        ({"qemus": ["/no/such/qemu"]}, "/no/such/qemu does not exist"),
    ],
)
def test_words_that_cannot_be_used_are_named(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        rows(parsed(**asked))


def test_a_qemu_that_is_not_installed_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="qemu-system-m68k is missing: apt-get install"):
        parsed(qemus=["qemu-system-m68k"])


def test_the_patches_are_a_word_for_many_chips() -> None:
    assert len(parsed(chips=["patches"]).chips) == 12
    plan = RunPlan(bus="phi2")
    machines = [row.machine for row in rows(parsed(plan, chips=["chip", "qemu-7.2"]))]
    assert [machine.bus for machine in machines if isinstance(machine, RunPlan)] == ["phi2", None]


def test_an_event_takes_the_whole_run() -> None:
    assert parsed(event="stop=2s").phases == (Phase("hunt", 8),)
    assert parsed(event="stop=1500ms", seconds=20).phases == (Phase("hunt", 20),)
    with pytest.raises(BadInputError, match="--seconds 7: stop 2 s needs 8, to come and to settle"):
        parsed(event="stop=2s", seconds=7)
    assert parsed().phases == (Phase("calls", 10), Phase("hunt", 2))
    assert parsed(seconds=0).phases == (Phase("calls", 10),)
    assert parsed(stalls=["none", "every=5ms,for=1ms"]).stalls == (None, "every=5ms,for=1ms")
