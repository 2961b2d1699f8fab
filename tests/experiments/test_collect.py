"""From a guest's lines, the probe port's log and the machine's events to the tables."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.experiments.collect import PROBE_COLUMNS, collect, named
from guestclock.experiments.transcript import Transcript
from guestclock.guests.lines import KINDS, Damaged
from guestclock.guests.stream import ConsoleStream, Heard, Text
from guestclock.readings import UNKNOWN, EventKind, Tables, load, save
from guestclock.report.json import to_json
from guestclock.verdict import judge

MS, S = 1_000_000, 1_000_000_000
EPOCH_NS = 1_577_836_800 * S
EVENT_COLUMNS = ("kind", "guest_ns", "host_ns", "cycle", "code_bytes", "value", "masked", "source")
HELLO = "hello version=1 guest=clockprobe clock=via1 clock_hz=783360 tick_hz=100 probe=1"


def told(*lines: tuple[int, str], behind_ns: int = 0) -> Transcript:
    """Return a transcript of lines with their arrival in guest time; the host is ``behind_ns`` further on."""
    stream, transcript = ConsoleStream(), Transcript()
    for guest_ns, text in lines:
        prefix = "" if text.startswith("!") else "@gc "
        for heard in stream.feed(f"{prefix}{text.removeprefix('!')}\n".encode()):
            transcript.take(heard, guest_ns=guest_ns, host_ns=guest_ns + behind_ns)
    return transcript


def stamp(phase: int, seq: int, mono_ns: int, calls: int = 0) -> str:
    times = f"mono_ns={mono_ns} real_ns={EPOCH_NS + mono_ns} ticks={mono_ns // (10 * MS)}"
    return f"stamp id={phase} seq={seq} {times} calls={calls}"


def probe_log(*looks: tuple[int, int, int, int, int]) -> Any:
    """Return a log of rows (guest ns, phase, clock tag, calls, value)."""
    rows = [
        (time_ns, time_ns + 7, value, phase << 16 | tag, calls, value // (10 * MS), time_ns // 10)
        for time_ns, phase, tag, calls, value in looks
    ]
    return named(np.array(rows, np.int64).reshape(len(rows), len(PROBE_COLUMNS)), PROBE_COLUMNS)


def event_log(*events: tuple[int, EventKind]) -> Any:
    rows = [(kind, time_ns, time_ns, time_ns // 1277, 50, 1, 0, 0) for time_ns, kind in events]
    return named(np.array(rows, np.int64).reshape(len(rows), len(EVENT_COLUMNS)), EVENT_COLUMNS)


def source(tables: Tables, name: str) -> Any:
    return tables.readings_of(tables.sources.index(name))


def phase_of(tables: Tables, rows: Any) -> list[str]:
    return [tables.phases[place] for place in rows["phase"]]


CALLS = (
    (1 * S, HELLO),
    (1 * S, "phase id=1 name=calls amount=3000"),
    (1 * S, stamp(1, 0, 500)),
    (2 * S, stamp(1, 1, S + 500, calls=1000)),
    (3 * S, stamp(1, 2, 2 * S + 500, calls=2000)),
)


def test_nothing_said_gives_empty_tables_and_a_silent_end() -> None:
    tables = collect(Transcript(), meta={})
    assert len(tables.readings) == len(tables.events) == len(tables.histograms) == 0
    assert tables.phases == ("boot",)
    assert tables.meta["ended"] == "silent"
    assert judge(tables).exit_status == 1


class TestByConsoleAlone:
    @pytest.fixture
    def tables(self) -> Tables:
        return collect(told(*CALLS), meta={"pacing": "host"})

    def test_each_stamp_is_a_reading_of_each_clock(self, tables: Tables) -> None:
        assert list(source(tables, "mono")["said_ns"]) == [500, S + 500, 2 * S + 500]
        assert list(source(tables, "real")["said_ns"] - EPOCH_NS) == [500, S + 500, 2 * S + 500]
        assert list(source(tables, "real")["host_ns"]) == [S, 2 * S, 3 * S]
        assert set(phase_of(tables, tables.readings)) == {"calls"}
        assert list(source(tables, "mono")["ticks"]) == [0, 100, 200]

    def test_the_calls_are_calls_of_the_time_of_day(self, tables: Tables) -> None:
        assert list(source(tables, "mono")["calls"]) == [0, 0, 0]
        assert list(source(tables, "real")["calls"]) == [0, 1000, 2000]

    def test_a_call_costs_what_passed_since_the_stamp_before(self, tables: Tables) -> None:
        assert list(source(tables, "real")["cost_ns"]) == [UNKNOWN, S / 1000, S / 2000]
        assert set(source(tables, "mono")["cost_ns"]) == {UNKNOWN}

    def test_hello_tells_the_tick(self, tables: Tables) -> None:
        assert tables.meta["tick_period_cycles"] == 7833
        assert tables.meta["tick_period_ns"] == 7833 / 783360 * 1e9
        assert (tables.meta["guest"], tables.meta["clock"]) == ("clockprobe", "via1")
        assert tables.meta["truth"] == tables.meta["cost_time"] == "host"


class TestWithTheProbe:
    LOOKS = (
        (1 * S, 1, 1, 0, 500),
        (1 * S + 1, 1, 2, 0, EPOCH_NS + 500),
        (1 * S + 10 * MS, 1, 1, 1000, 10 * MS + 500),
        (1 * S + 10 * MS + 1, 1, 2, 0, EPOCH_NS + 10 * MS + 500),
        (3 * S, 1, 1, 2000, 2 * S + 500),
        (3 * S + 1, 1, 2, 0, EPOCH_NS + 2 * S + 500),
    )

    def test_a_look_that_came_both_ways_is_one_reading(self) -> None:
        tables = collect(told(*CALLS), probes=probe_log(*self.LOOKS), meta={})
        assert list(source(tables, "mono")["guest_ns"]) == [S, S + 10 * MS, 3 * S]
        assert list(source(tables, "real")["calls"]) == [0, 1000, 2000]
        assert list(source(tables, "real")["cost_ns"]) == [UNKNOWN, 10 * MS / 1000, (2 * S - 10 * MS) / 2000]
        assert list(source(tables, "mono")["code_bytes"]) == [S // 10, (S + 10 * MS) // 10, 3 * S // 10]

    def test_a_phase_without_probe_readings_has_those_of_the_console(self) -> None:
        more = ((4 * S, "phase id=2 name=idle amount=2"), (4 * S, stamp(2, 0, 3 * S)))
        tables = collect(told(*CALLS, *more), probes=probe_log(*self.LOOKS), meta={})
        assert phase_of(tables, source(tables, "mono")) == ["calls"] * 3 + ["idle"]

    def test_a_clock_without_probe_readings_has_those_of_the_console(self) -> None:
        mono_only = [look for look in self.LOOKS if look[2] == 1]
        tables = collect(told(*CALLS), probes=probe_log(*mono_only), meta={})
        assert len(source(tables, "mono")) == 3
        assert list(source(tables, "real")["calls"]) == [0, 1000, 2000]

    def test_hunting_reads_both_clocks_in_turn(self) -> None:
        transcript = told((S, "phase id=1 name=hunt amount=2"))
        tables = collect(transcript, probes=probe_log(*self.LOOKS), meta={})
        assert list(source(tables, "mono")["calls"]) == [0, 500, 1000]
        assert list(source(tables, "real")["calls"]) == [0, 500, 1000]
        assert set(tables.readings["cost_ns"]) == {UNKNOWN}

    def test_under_virtual_pacing_a_call_costs_guest_time(self) -> None:
        tables = collect(told(*CALLS), probes=probe_log(*self.LOOKS), meta={"pacing": "virtual"})
        assert tables.meta["truth"] == tables.meta["cost_time"] == "guest"
        assert source(tables, "real")["cost_ns"][1] == 10 * MS / 1000

    def test_a_phase_of_which_no_line_arrived_has_its_number(self) -> None:
        tables = collect(Transcript(), probes=probe_log(*self.LOOKS), meta={})
        assert tables.phases == ("boot", "phase 1")


class TestBackwardSteps:
    LINES = (
        *CALLS[:2],
        (2 * S, "back id=1 clock=mono before_ns=900 after_ns=800"),
        (2 * S, f"back id=1 clock=real before_ns={EPOCH_NS + 90} after_ns={EPOCH_NS + 80}"),
    )
    PROBES = ((S + 5, 1, 3, 0, 900), (S + 9, 1, 4, 0, 800), (S + 12, 1, 3, 0, 700), (S + 13, 1, 4, 0, 699))

    def backward(self, tables: Tables, name: str) -> list[tuple[int, int]]:
        rows = tables.events_of(EventKind.BACKWARD)
        rows = rows[rows["source"] == tables.sources.index(name)]
        return list(zip(rows["guest_ns"].tolist(), rows["value"].tolist(), strict=True))

    def test_by_console(self) -> None:
        tables = collect(told(*self.LINES), meta={})
        assert self.backward(tables, "mono") == [(2 * S, -100)]
        assert self.backward(tables, "real") == [(2 * S, -10)]

    def test_the_probes_where_there_are_any(self) -> None:
        tables = collect(told(*self.LINES), probes=probe_log(*self.PROBES), meta={})
        assert self.backward(tables, "mono") == [(S + 9, -100), (S + 13, -1)]
        assert self.backward(tables, "real") == [(2 * S, -10)]

    def test_a_before_without_its_after_is_none(self) -> None:
        tables = collect(told(*self.LINES[:2]), probes=probe_log(*self.PROBES[:3]), meta={})
        assert self.backward(tables, "mono") == [(S + 9, -100)]

    def test_the_histogram_the_events_and_the_readings_of_one_step_count_once(self) -> None:
        lines = (
            *self.LINES[:3],
            (
                2 * S,
                "hist id=1 clock=mono low_ns=-900 high_ns=0 count=1 sum_ns=-100 min_ns=-100 max_ns=-100",
            ),
            (2 * S, "done id=1 name=calls calls=3 mono_ns=5 ticks=1 backs=1"),
        )
        looks = ((S, 1, 1, 0, 900), *self.PROBES[:2], (S + 20, 1, 1, 0, 810))
        verdict = judge(collect(told(*lines), probes=probe_log(*looks), meta={}))
        assert verdict.monotonicity.backward.count == 1
        assert verdict.monotonicity.backward.sum_ns == -100

    def test_the_transcript_counts_them_as_they_come(self) -> None:
        transcript = told(*self.LINES)
        assert transcript.backward_steps == 2
        more = told(*self.LINES, (2 * S, "done id=1 name=calls calls=3 mono_ns=5 ticks=1 backs=40"))
        assert more.backward_steps == 40


class TestEvents:
    def test_they_fall_into_the_phase_of_their_time(self) -> None:
        transcript = told((S, "phase id=1 name=calls amount=1"), (2 * S, "phase id=2 name=calls amount=1"))
        log = event_log(*((time, EventKind.UNDERFLOW) for time in (5, S - 1, S, 2 * S - 1, 2 * S, 9 * S)))
        tables = collect(transcript, events=log, meta={})
        assert phase_of(tables, tables.events) == ["boot", "boot", "calls", "calls", "calls 2", "calls 2"]
        assert {tables.sources[index] for index in tables.events["source"]} == {"via1.t1"}
        assert tables.events["code_bytes"].tolist() == [50] * 6

    def test_what_the_machine_does_after_the_goodbye_does_not_count(self) -> None:
        log = event_log(*((time, EventKind.UNDERFLOW) for time in (1, 2, 3, 4)))
        tables = collect(told((2, "bye")), events=log, meta={"ended": "watchdog"})
        assert len(tables.events) == 2
        assert tables.meta["ended"] == "done"

    def test_stalls_fall_into_the_phase_of_their_host_time(self) -> None:
        transcript = told((S, "phase id=1 name=calls amount=1"), behind_ns=500)
        tables = collect(transcript, stalls=[(S + 499, 35), (S + 500, 70)], meta={})
        assert tables.events["value"].tolist() == [35, 70]
        assert phase_of(tables, tables.events) == ["boot", "calls"]
        assert judge(tables).health.stalled_ns == 105

    def test_events_of_all_streams_are_in_order_and_the_machines_stay_in_theirs(self) -> None:
        """A flag's time may be earlier than what was logged before it: the log has the order of causes."""
        machine = ((10, EventKind.ACKNOWLEDGE), (8, EventKind.UNDERFLOW), (30, EventKind.ACKNOWLEDGE))
        transcript = told((20, "!WARNING: Underflow in clocksource 'via1' observed, time update ignored."))
        tables = collect(transcript, events=event_log(*machine), meta={})
        assert tables.events["kind"].tolist() == [
            EventKind.ACKNOWLEDGE,
            EventKind.UNDERFLOW,
            EventKind.KERNEL_MESSAGE,
            EventKind.ACKNOWLEDGE,
        ]


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        ("!Kernel panic - not syncing: no init", EventKind.PANIC, "Kernel panic - not syncing: no init"),
        ("fault vector=2 pc=0x1234", EventKind.PANIC, "exception vector 2 at 0x1234"),
        ("check name=fork ok=0 value=7", EventKind.CHECK_FAILED, "check fork gave 7"),
        ("refused name=dance", EventKind.CHECK_FAILED, "'dance' is unknown here"),
        ("stamp id=1", EventKind.GARBLED, "@gc stamp id=1"),
    ],
)
def test_lines_that_become_events(line: str, kind: EventKind, text: str) -> None:
    tables = collect(told((5, "phase id=1 name=user amount=0"), (6, line)), meta={})
    (event,) = tables.events
    assert (event["kind"], tables.message(event["value"])) == (kind, text)
    assert tables.phases[event["phase"]] == "user"
    assert tables.meta["ended"] == ("panic" if kind is EventKind.PANIC else "silent")


def test_what_the_tables_cannot_hold_is_a_garbled_line() -> None:
    lines = (
        f"back id=1 clock=mono before_ns=1 after_ns={2**63}",
        "back id=1 clock=sundial before_ns=1 after_ns=2",
        "hello version=1 guest=g clock=via1 clock_hz=783360 tick_hz=0 probe=0",
    )
    tables = collect(told(*((5, line) for line in lines)), meta={})
    assert tables.events["kind"].tolist() == [EventKind.GARBLED] * 3


def test_all_that_is_said_stays_where_the_runner_knows_better() -> None:
    tables = collect(told((1, HELLO)), meta={"guest": "linux", "ended": "watchdog"})
    assert (tables.meta["guest"], tables.meta["ended"]) == ("linux", "watchdog")


I8 = st.sampled_from((0, 1, -1, 1 << 16 | 1, 1 << 16 | 2, 5 << 16 | 3, 5 << 16 | 4, 2**63 - 1, -(2**63)))
# The guest says what it likes; when it said it is the machine's word.
WHEN_NS = st.integers(0, 10**12)
ANY = st.sampled_from((*range(-2, 3), 65536, 2**63 - 1, -(2**63), 2**63, 10**19))
VALUES = {int: ANY, bool: st.booleans(), str: st.sampled_from(("mono", "real", "calls", "sundial"))}
HEARD = st.one_of(
    st.text(max_size=9).map(Text),
    st.text(max_size=9).map(Damaged),
    *(st.builds(kind, **{each.name: VALUES[each.type] for each in fields(kind)}) for kind in KINDS.values()),
)


@given(
    said=st.lists(st.tuples(WHEN_NS, HEARD), max_size=12),
    probes=st.lists(st.tuples(WHEN_NS, WHEN_NS, *[I8] * (len(PROBE_COLUMNS) - 2)), max_size=6),
)
def test_whatever_a_guest_does_gives_tables_that_can_be_kept_and_judged(
    said: list[tuple[int, Heard]], probes: list[tuple[int, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    transcript = Transcript()
    for guest_ns, heard in said:
        transcript.take(heard, guest_ns=guest_ns)
    log = np.array(probes, np.int64).reshape(len(probes), len(PROBE_COLUMNS))
    log[:, PROBE_COLUMNS.index("tag")] &= 0xFFFFFFFF
    tables = collect(transcript, probes=named(log, PROBE_COLUMNS), meta={})
    path: Path = tmp_path_factory.getbasetemp() / "whatever.npz"
    save(tables, path)
    assert load(path) == tables
    assert to_json(tables, judge(tables)) == to_json(load(path), judge(load(path)))
