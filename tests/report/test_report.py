"""The terminal's table and the JSON of a good run and a bad one."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from guestclock.readings import EVENTS, HISTOGRAMS, READINGS, EventKind, Tables, TablesBuilder
from guestclock.report import terminal
from guestclock.report.json import to_json
from guestclock.verdict import judge

MS, S = 1_000_000, 1_000_000_000
DOCS = Path(__file__).parents[2] / "docs"


def run(step_ns: int = 0, seconds: int = 5) -> Tables:
    """Seconds of two clocks and a timer; with ``step_ns`` the clocks step at 3 s and a tick is lost."""
    builder = TablesBuilder()
    timer, phase = builder.source("via1.t1"), builder.phase("calls")
    for number in range(seconds + 1):
        for name, calls in (("mono", 0), ("real", 2000)):
            builder.add_reading(
                source=builder.source(name),
                phase=phase,
                guest_ns=number * S,
                host_ns=number * S + 300,
                said_ns=number * S + (step_ns if number >= 3 else 0),
                calls=calls,
                cost_ns=63.4 if calls else -1,
            )
        for kind in (EventKind.UNDERFLOW, EventKind.IRQ, EventKind.ACKNOWLEDGE):
            lost = step_ns != 0 and number == 3 and kind is EventKind.ACKNOWLEDGE
            columns = {"guest_ns": number * S, "code_bytes": 0, "masked": 0}
            if not lost:
                builder.add_event(
                    kind, source=timer, phase=phase, value=int(kind is EventKind.UNDERFLOW), **columns
                )
    if step_ns:
        host, text = builder.source("host"), builder.message("Underflow in clocksource")
        builder.add_event(EventKind.STALL, source=host, phase=phase, host_ns=3 * S, value=35 * MS)
        builder.add_event(EventKind.KERNEL_MESSAGE, source=timer, phase=phase, value=text)
    meta = {"guest": "clockprobe", "clock": "via1", "pacing": "paced", "bus": "fast", "seed": 0}
    return builder.freeze({"tick_period_ns": S, "quantum_bytes": 4096, **meta})


def printed(tables: Tables, width: int = 80, **console: Any) -> str:
    out = io.StringIO()
    terminal.show(Console(file=out, width=width, **console), tables, judge(tables))
    return out.getvalue()


GOOD = """\
clockprobe, via1, paced pacing, fast bus, seed 0
                          mono        real  via1.t1
comparisons                  5      12,000
backward steps               0           0
jumps ahead                  0           0
gaps over a tick             0           0
offset to the host     −300 ns     −300 ns
  largest               300 ns      300 ns
  rate              +0.000 ppm  +0.000 ppm
a call, host time                  63.4 ns
  fastest                          63.4 ns
  99 of 100 within                 63.4 ns
ticks                                             6
lost                                              0
acknowledged late                                 0
The clock never went back and lost nothing: 12,000 reads, 6 ticks, 300 ns behind the host at the end.
"""


def without_trailing_blanks(text: str) -> str:
    return re.sub(" +\n", "\n", text)


def test_a_good_run_piped() -> None:
    assert without_trailing_blanks(printed(run())) == GOOD


def test_a_bad_run_says_what_why_and_the_guests_words() -> None:
    text = printed(run(-1500 * MS))
    for expected in (
        r"^backward steps +1 +1 *$",
        r"^  worst +−500 ms +−500 ms *$",
        r"^lost +1 *$",
        r"^  by the host +1 *$",
        r"^The host stalled once, 35\.0 ms in all\.$",
        r"^The guest said: Underflow in clocksource$",
    ):
        assert re.search(expected, text, re.MULTILINE), expected
    assert text.splitlines()[-1] == (
        "The clock went back 2 times, worst −500 ms, lost 1 tick, and ended 1.50 s behind the host, because"
        " the host kept the guest from running (1 stall, 35.0 ms in all);"
        " something went wrong: the guest's kernel complained once about its clock."
    )


def test_a_long_run_says_how_much_its_clocks_moved_in_a_second() -> None:
    assert "in any second" not in printed(run(-1500 * MS, seconds=9))
    text = printed(run(-1500 * MS, seconds=10))
    assert re.search(r"^  moved in any second +1\.50 s +1\.50 s *$", text, re.MULTILINE)


def test_a_pipe_gets_no_colour_and_a_terminal_marks_faults_alone() -> None:
    assert "\x1b" not in printed(run(-1500 * MS))
    red = "\x1b[1;31m"
    assert red not in printed(run(), force_terminal=True, color_system="standard")
    text = printed(run(-1500 * MS), force_terminal=True, color_system="standard")
    coloured = [line for line in text.splitlines() if red in line]
    assert any(line.startswith("backward steps") for line in coloured)
    assert not any(line.startswith("  largest") for line in coloured)


@pytest.mark.parametrize("width", [34, 40, 60, 80, 200])
@pytest.mark.parametrize("tables", [run(), run(-1500 * MS), Tables()], ids=["good", "bad", "empty"])
def test_a_terminal_of_any_width_shows_every_figure(width: int, tables: Tables) -> None:
    text = printed(tables, width, force_terminal=True, color_system=None)
    assert all(len(line) <= width for line in text.splitlines())
    figures = set(re.findall(r"[−+]?[\d.,]+ (?:ns|ms|s|ppm)", printed(tables, 500)))
    flat = " ".join(text.split())
    assert {figure for figure in figures if figure not in flat} == set()


def speaking(*texts: str) -> Tables:
    builder = TablesBuilder()
    source, phase = builder.source("console"), builder.phase("boot")
    for text in texts:
        builder.add_event(EventKind.GARBLED, source=source, phase=phase, value=builder.message(text))
    return builder.freeze({})


def test_only_so_many_of_the_guests_words_are_shown() -> None:
    text = printed(speaking(*(f"line {number}" for number in range(8))))
    assert "The guest said: line 4\n… and 3 more lines.\n" in text


def test_what_the_guest_says_is_not_taken_for_markup() -> None:
    text = "[bold]sick[/bold] [/nonsense]"
    assert f"The guest said: {text}\n" in printed(speaking(text))


def test_a_count_that_is_short_and_an_interruption_are_told() -> None:
    builder = TablesBuilder()
    mono, idle = builder.source("mono"), builder.phase("idle")
    for time_ns, ticks in ((0, 0), (S, 90)):
        builder.add_reading(source=mono, phase=idle, host_ns=time_ns, said_ns=time_ns, ticks=ticks)
    text = printed(builder.freeze({"ended": "interrupted", "unmapped_accesses": {"read 0x0": 1}}))
    assert "100 ticks were due, the guest counted 90.\n" in text
    assert "1 access went to addresses where nothing is.\n" in text
    assert "Interrupted: this is what was measured so far.\n" in text


class TestJson:
    def test_it_says_the_verdict_and_the_run(self) -> None:
        tables = run(-1500 * MS)
        document = json.loads(to_json(tables, judge(tables)))
        assert (document["schema"], document["schema_version"]) == ("guestclock.verdict", 1)
        assert (document["good"], document["exit_status"]) == (False, 1)
        assert document["meta"] == tables.meta
        assert document["monotonicity"]["sources"][0]["backward"] == {
            "count": 1,
            "worst_ns": -500 * MS,
            "sum_ns": -500 * MS,
        }
        assert document["ticks"]["timers"][0]["lost_by_host"] == 1
        assert document["drift"]["clocks"][0]["phases"]["calls"]["final_offset_ns"] == -1500 * MS - 300

    @pytest.mark.parametrize("tables", [run(), Tables()], ids=["good", "empty"])
    def test_the_same_tables_give_the_same_text(self, tables: Tables) -> None:
        assert to_json(tables, judge(tables)) == to_json(tables, judge(tables))

    def test_every_field_is_documented(self) -> None:
        tables = run(-1500 * MS, seconds=12)
        document = json.loads(to_json(tables, judge(tables)))
        del document["meta"]
        described = set(re.findall(r"`(\w+)`", (DOCS / "json.md").read_text()))
        assert fields_of(document) - {"calls"} <= described
        assert "adev_ppm" in fields_of(document)


def fields_of(value: Any) -> set[str]:
    """Return all field names within a JSON value; the keys under ``phases`` are names of phases."""
    if isinstance(value, list):
        return set().union(*map(fields_of, value))
    if not isinstance(value, dict):
        return set()
    return set(value) | set().union(*map(fields_of, value.values()))


def test_every_column_and_kind_is_documented() -> None:
    described = set(re.findall(r"`(\w+)`", (DOCS / "tables.md").read_text()))
    for dtype in (READINGS, EVENTS, HISTOGRAMS):
        assert set(dtype.names or ()) <= described
    assert {kind.name.lower() for kind in EventKind} <= described
