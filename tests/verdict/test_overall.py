"""Health, the overall status, and the sentence for the terminal."""

from typing import Any

import pytest

from guestclock.readings import EventKind, Tables, TablesBuilder
from guestclock.verdict import health, judge
from guestclock.verdict.quantities import count, duration, rate

from .build import MS, S, said, timer


def run(
    behind_ns: int = 0, ticks: str = "", remarks: tuple[tuple[EventKind, str], ...] = (), **meta: Any
) -> Tables:
    """A run of two readings, the guest ``behind_ns`` behind the host at the end."""
    builder = TablesBuilder()
    mono, phase = builder.source("mono"), builder.phase("calls")
    builder.add_reading(source=mono, phase=phase, guest_ns=0, host_ns=0, said_ns=0)
    builder.add_reading(source=mono, phase=phase, guest_ns=S, host_ns=S + behind_ns, said_ns=S, calls=1000)
    if ticks:
        source = builder.source("via1.t1")
        events = timer(ticks).events
        builder.extend_events(events, source=source, phase=phase)
    for kind, text in remarks:
        builder.add_event(kind, source=mono, phase=phase, value=builder.message(text))
    return builder.freeze({"quantum_bytes": 4000, "ended": "done", **meta})


def test_a_good_run() -> None:
    verdict = judge(run(behind_ns=800_000, ticks="ua" * 100))
    assert verdict.good
    assert verdict.exit_status == 0
    assert verdict.sentence == (
        "The clock never went back and lost nothing:"
        " 1,000 reads, 100 ticks, 800 µs behind the host at the end."
    )


def test_nothing_measured_is_not_good() -> None:
    verdict = judge(Tables())
    assert verdict.exit_status == 1
    assert verdict.sentence == "Nothing was measured."
    verdict = judge(Tables(meta={"ended": "watchdog"}))
    assert verdict.sentence == "Nothing was measured; something went wrong: the guest gave no sign of life."


def test_a_bad_clock_says_what_and_why() -> None:
    builder = TablesBuilder()
    mono, phase, host = builder.source("mono"), builder.phase("calls"), builder.source("host")
    for host_ns, said_ns in ((0, 0), (S, S), (2 * S, S - 9_812_345), (3 * S, 2 * S)):
        builder.add_reading(source=mono, phase=phase, host_ns=host_ns, said_ns=said_ns)
    builder.extend_events(timer("ui...Uau3a").events, source=builder.source("via1.t1"), phase=phase)
    for at_ns in (1, 2):
        builder.add_event(EventKind.STALL, source=host, phase=phase, host_ns=at_ns, value=35 * MS)
    verdict = judge(builder.freeze({"quantum_bytes": 4000}))
    assert verdict.exit_status == 1
    assert verdict.sentence == (
        "The clock went back once, worst −9.81 ms, lost 3 ticks, and ended 1.00 s behind the host,"
        " because the host kept the guest from running (2 stalls, 70.0 ms in all)."
    )


def test_the_guests_own_losses_are_a_fault_and_named_as_its_own() -> None:
    verdict = judge(run(ticks="U....U....Ua"))
    assert verdict.exit_status == 1
    assert verdict.sentence == ("The clock lost 2 ticks, because the guest kept its timer interrupt masked.")


def test_shared_losses() -> None:
    assert judge(run(ticks="U....UUa")).sentence == (
        "The clock lost 2 ticks, because the host kept the guest from running (1 of the ticks)"
        " and the guest kept its timer interrupt masked (1)."
    )


def test_a_host_too_slow_is_reported() -> None:
    verdict = judge(run(behind_ns=1_200 * MS))
    assert verdict.health.behind_host_ns == 1_200 * MS
    assert verdict.sentence == (
        "The clock ended 1.20 s behind the host; something went wrong:"
        " the host was too slow: the guest's time ended 1.20 s behind."
    )
    assert judge(run(behind_ns=1_200 * MS, truth="guest")).good


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (EventKind.KERNEL_MESSAGE, "the guest's kernel complained 2 times about its clock"),
        (EventKind.PANIC, "the guest died"),
        (EventKind.GARBLED, "2 lines of the guest could not be read"),
        (EventKind.CHECK_FAILED, "2 checks of the guest failed"),
    ],
)
def test_what_the_guest_says_is_kept(kind: EventKind, fault: str) -> None:
    verdict = health.judge(run(remarks=((kind, "one"), (kind, "two"))))
    assert not verdict.good
    assert verdict.sentence == f"Something went wrong: {fault}."
    assert verdict.said == ("one", "two")


@pytest.mark.parametrize(
    ("ended", "good"),
    [("done", True), ("interrupted", True), ("watchdog", False), ("panic", False), ("silent", False)],
)
def test_how_a_run_may_end(ended: str, good: bool) -> None:
    assert judge(run(ended=ended)).good == good


def test_stray_accesses_are_told_and_not_judged() -> None:
    verdict = judge(run(unmapped_accesses={"read 0x50f00000": 2, "write 0x50f00004": 1}))
    assert verdict.good
    assert verdict.health.unmapped_accesses == 3


def test_a_message_that_is_missing_does_not_break_the_verdict() -> None:
    builder = TablesBuilder()
    builder.add_event(EventKind.PANIC, source=builder.source("console"), phase=builder.phase("boot"), value=7)
    assert health.judge(builder.freeze({})).said == ("(message 7 is missing)",)


def test_a_clock_alone_is_enough() -> None:
    assert judge(said((0, 0), (S, S))).sentence == (
        "The clock never went back and lost nothing: 2 reads, 0 ns ahead of true guest time at the end."
    )


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"), (999, "999 ns"), (1000, "1.00 µs"), (-1, "−1 ns"), (9_994, "9.99 µs"),
        (9_996, "10.0 µs"),
        (99_949, "99.9 µs"), (99_951, "100 µs"), (999_499, "999 µs"), (999_500, "1.00 ms"), (0.4, "0.40 ns"),
        (1_234_567_890, "1.23 s"), (10**16, "10,000,000 s"),
    ],
)  # fmt: skip
def test_durations(ns: float, text: str) -> None:
    assert duration(ns) == text


def test_counts_and_rates() -> None:
    assert count(-1234) == "−1,234"
    assert rate(0.0) == "+0.000 ppm"
