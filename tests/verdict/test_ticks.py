"""Lost ticks, whose fault, and late acknowledges.  The stories are read by ``build.timer``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.readings import EventKind, Tables, TablesBuilder
from guestclock.verdict.ticks import Ticks, TimerTicks, judge

from .build import MS, S, timer


def losses(verdict: Ticks) -> tuple[int, int, int]:
    """By the guest, by the host, unexplained."""
    (found,) = verdict.timers
    return found.lost_by_guest, found.lost_by_host, found.lost_unexplained


@pytest.mark.parametrize(
    ("story", "by_guest", "by_host"),
    [
        ("", 0, 0),
        ("u", 0, 0),
        ("ua", 0, 0),
        ("ui..a.....ui..a", 0, 0),
        ("u.....u", 0, 1),  # not masked: the machine did not deliver it
        ("UU", 0, 1),  # masked, but the guest ran no code: the host stalled
        ("U...U", 0, 1),  # 3000 bytes: less than K, no chance
        ("U....U", 1, 0),  # 4000 bytes with the interrupt masked: the guest would not
        ("u....U", 1, 0),  # a handler that runs on without acknowledging
        ("U....u", 0, 1),  # unmasked by then, and still not delivered
        ("U..i..U", 0, 1),  # visible only for the last 2000 bytes
        ("U.i....U", 1, 0),
        ("U....U....U", 2, 0),
        ("U....UU", 1, 1),  # the third underflow follows the second at once: the host's
        ("u3", 0, 2),  # three periods at once: the first is pending, two are gone
        ("u3a", 0, 2),
        ("U....U3a", 1, 2),
        ("a", 0, 0),
        ("U....Ua....ua", 1, 0),
    ],
)
def test_whose_loss_it_is(story: str, by_guest: int, by_host: int) -> None:
    verdict = judge(timer(story))
    if not story:
        assert verdict.timers == ()
        return
    assert losses(verdict) == (by_guest, by_host, 0)
    assert verdict.lost == by_guest + by_host


def test_without_a_quantum_a_masked_loss_is_unexplained_and_an_unmasked_one_the_hosts() -> None:
    tables = timer("U....U....u", quantum_bytes=None)
    assert losses(judge(tables)) == (0, 1, 1)


def test_without_mask_or_code_a_loss_is_unexplained() -> None:
    builder = TablesBuilder()
    source, phase = builder.source("timer"), builder.phase("calls")
    for time_ns in (1, 2):
        builder.add_event(EventKind.UNDERFLOW, source=source, phase=phase, guest_ns=time_ns, value=1)
    assert losses(judge(builder.freeze({"quantum_bytes": 10}))) == (0, 0, 1)


def test_a_source_that_sees_no_underflows_may_state_its_losses() -> None:
    builder = TablesBuilder()
    source, phase = builder.source("timer"), builder.phase("calls")
    builder.add_event(EventKind.TICK_LOST, source=source, phase=phase, value=3)
    verdict = judge(builder.freeze({}))
    assert losses(verdict) == (0, 0, 3)
    assert verdict.sentence == "3 ticks were lost for a reason that the tables do not show."


def test_stated_losses_do_not_count_on_top_of_seen_ones() -> None:
    builder = TablesBuilder()
    source, phase = builder.source("timer"), builder.phase("calls")
    for kind in (EventKind.UNDERFLOW, EventKind.UNDERFLOW, EventKind.TICK_LOST):
        builder.add_event(kind, source=source, phase=phase, value=1, masked=0)
    assert judge(builder.freeze({})).lost == 1


def slow_timer(story: list[tuple[str, int, bool, int]], quantum: int) -> tuple[int, int, int]:
    """The oracle: follow one event after the other, holding the flag in hand."""
    flag = False
    visible_at = 0
    by_guest = by_host = acknowledges = 0
    code = 0
    for kind, more_code, masked, periods in story:
        code += more_code
        if kind == "acknowledge":
            flag = False
            acknowledges += 1
        elif kind == "irq":
            visible_at = code
        else:
            if flag and masked and code - visible_at >= quantum:
                by_guest += 1
            elif flag:
                by_host += 1
            by_host += periods - 1
            flag = True
            visible_at = code
    return by_guest, by_host, acknowledges


@given(
    story=st.lists(
        st.tuples(
            st.sampled_from(["underflow", "underflow", "irq", "acknowledge"]),
            st.integers(0, 3000),
            st.booleans(),
            st.integers(1, 3),
        ),
        max_size=40,
    ),
    quantum=st.integers(0, 5000),
)
def test_it_agrees_with_holding_the_flag_in_hand(
    story: list[tuple[str, int, bool, int]], quantum: int
) -> None:
    builder = TablesBuilder()
    source, phase = builder.source("timer"), builder.phase("calls")
    code = underflows = 0
    for number, (kind, more_code, masked, periods) in enumerate(story):
        code += more_code
        is_underflow = kind == "underflow"
        underflows += periods * is_underflow
        builder.add_event(
            EventKind[kind.upper()],
            source=source,
            phase=phase,
            guest_ns=number,
            code_bytes=code,
            masked=int(masked),
            value=periods * is_underflow,
        )
    verdict = judge(builder.freeze({"quantum_bytes": quantum}))
    expected = slow_timer(story, quantum)
    if not story:
        assert verdict.timers == ()
        return
    (found,) = verdict.timers
    assert (found.lost_by_guest, found.lost_by_host, found.acknowledges) == expected
    assert found.underflows == underflows
    assert found.lost_unexplained == 0


class TestLateAcknowledges:
    def acknowledged(self, *times_ns: int, column: str = "guest_ns", **meta: float) -> TimerTicks:
        builder = TablesBuilder()
        source, phase = builder.source("timer"), builder.phase("calls")
        for time_ns in times_ns:
            builder.add_event(EventKind.ACKNOWLEDGE, source=source, phase=phase, **{column: time_ns})
        (found,) = judge(builder.freeze(meta)).timers
        return found

    @pytest.mark.parametrize("column", ["guest_ns", "host_ns"])
    def test_over_two_ticks_is_late_and_two_are_not(self, column: str) -> None:
        found = self.acknowledged(0, 20 * MS, 40 * MS + 1, 50 * MS, 85 * MS, column=column)
        assert (found.late_acknowledges, found.late_worst_ns) == (2, 35 * MS)

    def test_cycles_are_exact(self) -> None:
        """Two ticks of 7833 cycles are not late, though they take longer than a rounded period says."""
        period_ns = 7833 / 783360 * 1e9
        found = self.acknowledged(
            0, 15666, 31333, column="cycle", tick_period_cycles=7833, tick_period_ns=period_ns
        )
        assert found.late_acknowledges == 1
        assert found.late_worst_ns == round(15667 / 783360 * 1e9)

    def test_a_timer_that_stood_still_makes_nothing_late(self) -> None:
        builder = TablesBuilder()
        source, phase = builder.source("timer"), builder.phase("calls")
        for kind, time_ns in (
            (EventKind.UNDERFLOW, 0),
            (EventKind.ACKNOWLEDGE, 1),
            (EventKind.UNDERFLOW, S),
            (EventKind.ACKNOWLEDGE, S + 1),
        ):
            builder.add_event(
                kind,
                source=source,
                phase=phase,
                guest_ns=time_ns,
                value=int(kind == EventKind.UNDERFLOW),
                masked=0,
            )
        verdict = judge(builder.freeze({}))
        assert verdict.good

    def test_a_late_one_is_a_fault_and_said(self) -> None:
        builder = TablesBuilder()
        for time_ns in (0, 35 * MS):
            source, phase = builder.source("timer"), builder.phase("calls")
            builder.add_event(EventKind.ACKNOWLEDGE, source=source, phase=phase, host_ns=time_ns)
        verdict = judge(builder.freeze({}))
        assert not verdict.good
        assert verdict.sentence == ("1 acknowledge came over two ticks after the one before, worst 35.0 ms.")


class TestTheGuestsOwnCount:
    def counting(self, *looks: tuple[int, int], column: str = "guest_ns") -> TablesBuilder:
        builder = TablesBuilder()
        for time_ns, ticks in looks:
            columns = {column: time_ns}
            builder.add_reading(
                source=builder.source("mono"), phase=builder.phase("idle"), ticks=ticks, **columns
            )
        return builder

    def test_nothing_known(self) -> None:
        assert judge(Tables()).counter is None
        assert judge(Tables()).sentence == "Nothing is known about timer interrupts."
        assert judge(self.counting((0, 5)).freeze({})).counter is None

    @pytest.mark.parametrize("column", ["guest_ns", "host_ns"])
    def test_against_the_time(self, column: str) -> None:
        tables = self.counting((0, 7), (S, 100), column=column).freeze({"tick_period_ns": 10 * MS})
        verdict = judge(tables)
        assert verdict.counter is not None
        assert (verdict.counter.counted, verdict.counter.due, verdict.counter.missing) == (93, 100, 7)
        assert verdict.lost == 7
        assert not verdict.good

    def test_one_tick_may_be_on_its_way(self) -> None:
        assert judge(self.counting((0, 0), (S, 99)).freeze({})).good

    def test_against_the_underflows_where_the_machine_logs_them(self) -> None:
        """The timer stood still for half of the time; the ticks that it made were all counted."""
        builder = self.counting((0, 0), (S, 50))
        source, phase = builder.source("via1.t1"), builder.phase("idle")
        for number in range(50):
            time_ns = 10 * MS * (number + 1)
            for kind, value in ((EventKind.UNDERFLOW, 1), (EventKind.ACKNOWLEDGE, 0)):
                builder.add_event(kind, source=source, phase=phase, guest_ns=time_ns, value=value, masked=0)
        verdict = judge(builder.freeze({}))
        assert verdict.counter is not None
        assert verdict.counter.due == 50
        assert verdict.good

    def test_losses_seen_and_missed_in_the_count_are_the_same_losses(self) -> None:
        builder = self.counting((0, 0), (S, 90))
        source, phase = builder.source("via1.t1"), builder.phase("idle")
        for number in range(1, 101):
            builder.add_event(
                EventKind.UNDERFLOW, source=source, phase=phase, guest_ns=10 * MS * number, value=1, masked=0
            )
            if number > 10:
                builder.add_event(
                    EventKind.ACKNOWLEDGE, source=source, phase=phase, guest_ns=10 * MS * number + 5, masked=0
                )
        verdict = judge(builder.freeze({}))
        assert verdict.counter is not None
        assert verdict.counter.missing == 10
        assert verdict.lost == 10


@pytest.mark.parametrize(
    ("story", "sentence"),
    [
        ("uaua", "No tick was lost: 2 of them reached the guest in time."),
        ("uu", "1 tick was lost by the host, which kept the guest from running."),
        ("U....U....U", "2 ticks were lost by the guest, which kept its interrupt masked."),
        (
            "U....UU",
            "2 ticks were lost, 1 by the guest, which kept its interrupt masked,"
            " 1 by the host, which kept the guest from running.",
        ),
    ],
)
def test_sentences(story: str, sentence: str) -> None:
    assert judge(timer(story)).sentence == sentence
