"""Rows take turns; figures are medians of the rounds, ratios are taken round by round.  Runs are made up."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from guestclock.errors import BadInputError, UnavailableError
from guestclock.experiments.compare.document import as_json
from guestclock.experiments.compare.events import AT_NS, Event
from guestclock.experiments.compare.figures import moved
from guestclock.experiments.compare.measured import Measured
from guestclock.experiments.compare.rounds import Comparison, compare
from guestclock.experiments.compare.rows import Row, Wanted, name, rows
from guestclock.guests.orders import parse_phases
from guestclock.readings import EventKind, Tables, TablesBuilder
from guestclock.report.compare import show

PHASES = parse_phases("calls:1000", "clockprobe")
TICK_NS = 10_000_000


def tables(
    call_ns: int, *, backs: int = 0, lost: int = 0, ended: str = "done", user: int = 2, system: int = 6
) -> Tables:
    """Return 1,000 calls, 100 ticks and so many faults."""
    builder = TablesBuilder()
    mono, calls = builder.source("mono"), builder.phase("calls")
    for host_ns, ticks, number in ((0, 0, 0), (1000 * call_ns, 1000 * call_ns // TICK_NS - lost, 1000)):
        builder.add_reading(
            source=mono, phase=calls, host_ns=host_ns, said_ns=host_ns, calls=number, ticks=ticks
        )
    for _ in range(backs):
        builder.add_event(EventKind.BACKWARD, source=mono, phase=calls, value=-9_000_000)
    return builder.freeze(
        {
            "cost_time": "host",
            "ended": ended,
            "tick_period_ns": TICK_NS,
            "cpu_ticks": {"calls": {"user": user, "system": system}},
        }
    )


def measured(made: Tables, boot_s: float | None = 0.25) -> Measured:
    return Measured(made, b"console\n", boot_s, 0.5, 3.0)


def two_rows() -> list[Row]:
    return rows(Wanted(PHASES, pacings=("paced", "host")))


class Script:
    """Plays runs in turn and notes who asked."""

    def __init__(self, *runs: Measured) -> None:
        self._runs = iter(runs)
        self.asked: list[str] = []

    def __call__(self, row: Row) -> Measured:
        self.asked.append(name(row))
        return next(self._runs)


def played(*runs: Measured, rounds: int = 3) -> tuple[Comparison, list[str]]:
    script = Script(*runs)
    return compare(two_rows(), rounds, measure=script), script.asked


SIX = [measured(tables(ns)) for ns in (100_000, 300_000, 200_000, 400_000, 120_000, 120_000)]


def test_rows_take_turns() -> None:
    _, asked = played(*SIX)
    assert asked == ["chip, paced", "chip, host"] * 3


def test_medians_spreads_and_ratios() -> None:
    found, _ = played(*SIX)
    first, second = as_json(found)["rows"]
    assert first["figures"]["call_ns"] == {
        "median": 120_000.0,
        "min": 100_000.0,
        "max": 200_000.0,
        "values": [100_000.0, 200_000.0, 120_000.0],
    }
    # Round by round: 3, 2 and 1; the ratio of the medians would be 2.5.
    assert second["figures"]["call_ratio"]["values"] == [3.0, 2.0, 1.0]
    assert second["figures"]["call_ratio"]["median"] == 2.0
    assert first["figures"]["call_ratio"]["values"] == [1.0] * 3
    assert second["figures"]["real_s"]["values"] == [0.3, 0.4, 0.12]


def test_the_guests_own_accounting_and_what_surrounds_it() -> None:
    found, _ = played(*[measured(tables(100_000), boot_s=None if n else 0.25) for n in range(6)])
    figures = as_json(found)["rows"][0]["figures"]
    assert figures["user_s"]["median"] == 0.02
    assert figures["system_s"]["median"] == 0.06
    assert figures["system_per_user"]["median"] == 3.0
    assert figures["boot_shutdown_s"]["values"] == [0.75, None, None]
    found, _ = played(*[measured(tables(100_000, user=0)) for n in range(6)])
    assert as_json(found)["rows"][0]["figures"]["system_per_user"] is None


def test_faults_of_the_first_row_are_a_bad_end_and_of_another_are_told() -> None:
    good, bad = measured(tables(100_000)), measured(tables(100_000, backs=2))
    document = as_json(played(good, bad, rounds=1)[0])
    assert document["good"]
    assert document["exit_status"] == 0
    assert document["sentence"] == "At fault: chip, host. Sound: chip, paced."
    assert document["rows"][1]["figures"]["backward_steps"]["median"] == 2
    document = as_json(played(bad, good, rounds=1)[0])
    assert (document["good"], document["exit_status"]) == (False, 1)
    assert (
        as_json(played(good, good, rounds=1)[0])["sentence"]
        == "No clock went back, jumped, lost a tick or drifted."
    )
    lost = as_json(played(good, measured(tables(1_000_000, lost=7)), rounds=1)[0])
    assert lost["rows"][1]["figures"]["lost_ticks"]["median"] == 7
    assert not lost["rows"][1]["sound"]


def test_a_guest_that_does_not_come_to_its_end_is_a_bad_end() -> None:
    document = as_json(played(SIX[0], measured(tables(100_000, ended="watchdog")), rounds=1)[0])
    assert document["exit_status"] == 1
    assert document["rows"][1]["ended"] == ["watchdog"]
    assert "chip, host: the guest did not come to its end (watchdog)." in printed(document)


def printed(document: dict[str, object]) -> str:
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        show(console, document)
    return capture.get()


def test_the_table_is_whole_however_wide() -> None:
    text = printed(as_json(played(*SIX)[0]))
    assert "…" not in text
    assert "120 µs ±42%" in text
    assert text.count("3.00 s ±0%") == 2
    assert text.splitlines()[0].startswith("clockprobe, 3 rounds, median ± half the range")


def test_counts_show_from_least_to_most_and_the_worst_is_of_all_rounds() -> None:
    runs = [measured(tables(100_000, backs=backs)) for backs in (0, 0, 0, 5)]
    text = printed(as_json(played(*runs, rounds=2)[0]))
    row = next(line for line in text.splitlines() if line.startswith("chip, host"))
    assert row.split()[2:5] == ["0–5", "−9.00", "ms"]


def test_progress_tells_the_time_that_is_left() -> None:
    told: list[tuple[str, float]] = []
    clock = itertools.count(0, 5_000_000_000)
    compare(
        two_rows(),
        2,
        measure=Script(*SIX),
        clock=lambda: next(clock),
        progress=lambda what, share: told.append((what, share)),
    )
    assert told == [
        ("round 1 of 2: chip, paced", 0.0),
        ("round 1 of 2: chip, host, about 15 s left", 0.25),
        ("round 2 of 2: chip, paced, about 10 s left", 0.5),
        ("round 2 of 2: chip, host, about 5 s left", 0.75),
    ]


def test_what_is_kept_has_a_folder_a_run(tmp_path: Path) -> None:
    compare(two_rows(), 1, measure=Script(*SIX), save=tmp_path)
    kept = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert kept == [
        f"round-1/chip-{pacing}/{file}"
        for pacing in ("host", "paced")
        for file in ("console.log", "tables.npz")
    ]


def test_a_machine_that_cannot_run_ends_the_comparison() -> None:
    def dies(row: Row) -> Measured:
        raise UnavailableError("no")

    with pytest.raises(UnavailableError, match="no"):
        compare(two_rows(), 1, measure=dies)


def test_an_interrupt_ends_the_comparison() -> None:
    script = Script(measured(tables(100_000, ended="interrupted")))
    with pytest.raises(KeyboardInterrupt):
        compare(two_rows(), 1, measure=script)
    assert script.asked == ["chip, paced"]


@pytest.mark.parametrize("rounds", [0, 1001])
def test_rounds_have_bounds(rounds: int) -> None:
    with pytest.raises(BadInputError, match=f"--rounds {rounds}"):
        compare(two_rows(), rounds, measure=Script())


def test_rows_that_cannot_do_it_are_named_and_nothing_else_is_refused() -> None:
    event = Event("stop", 10)
    asked = rows(Wanted(PHASES, pacings=("paced", "virtual"), event=event))
    found = compare(asked, 1, measure=Script(measured(event_tables(0, 0))))
    assert "chip, virtual: left out, virtual time knows no host." in printed(as_json(found))
    with pytest.raises(BadInputError, match="no machine here can do this: chip, virtual: virtual time"):
        compare(asked[1:], 1, measure=Script())


def event_tables(before_ns: int, after_ns: int) -> Tables:
    builder = TablesBuilder()
    mono, hunt = builder.source("mono"), builder.phase("hunt")

    def looks() -> Iterator[tuple[int, int]]:
        yield AT_NS - 2_000_000_000, before_ns
        yield AT_NS - 1_000_000_000, before_ns
        yield AT_NS + 2_000_000_000, after_ns - 500_000  # this line arrived late
        yield AT_NS + 2_500_000_000, after_ns

    for host_ns, offset_ns in looks():
        builder.add_reading(source=mono, phase=hunt, host_ns=host_ns, said_ns=host_ns + offset_ns)
    return builder.freeze({"cost_time": "host", "ended": "done"})


def test_an_event_moves_the_clock_by_the_change_of_its_offset() -> None:
    event = Event("stop", 1_000_000_000)
    assert moved(event_tables(-70, -1_000_000_090), event) == {"event_moved_ns": -1_000_000_020}
    assert moved(event_tables(-70, -70), Event("stop", 9_000_000_000)) == {"event_moved_ns": None}


def test_the_document_is_json() -> None:
    document = as_json(played(*SIX)[0])
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["schema"] == "guestclock.compare"
    assert document["rows"][0]["settings"]["pacing"] == "paced"
