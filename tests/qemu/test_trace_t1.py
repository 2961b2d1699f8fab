"""T1's acknowledges and Linux's clock in a trace, against a second implementation and by hand."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_text import IER, IFR, T1CH, T1CL, T1LH, access, text

from guestclock.qemu.trace import TraceAnalysis
from guestclock.qemu.trace_figures import TraceFigures

Access = tuple[str, int, int, int | None]
TICK = [("write", IFR, 0x40, None)]
PERIOD = 7833


def figures(accesses: list[Access]) -> TraceFigures:
    analysis = TraceAnalysis()
    analysis.feed(text([access(*each) for each in accesses]))
    analysis.end()
    return analysis.figures()


def reads(*values: int) -> list[Access]:
    """Clock reads: T1CH and, as flags, IFR; a negative value is T1CH alone."""
    out: list[Access] = []
    for high in values:
        out += [("read", T1CH, abs(high), None)] + ([("read", IFR, 0x26, None)] if high > 0 else [])
    return out


def test_a_clock_that_goes_on() -> None:
    clock = figures([*reads(0x1E, 0x10, 0x01), *TICK, *reads(0x1E, 0x1D)]).clock
    assert (clock.reads, clock.backward_steps, clock.worst_line) == (5, 0, None)


def test_tick_counted_before_the_counter_reloads() -> None:
    """Mechanism 1: the handler ran while T1CH still showed FF, so the next read is 30 × 256 cycles lower."""
    clock = figures([*reads(0x01), *TICK, *reads(-0xFF, 0x1E)]).clock
    assert (clock.backward_steps, clock.worst_cycles, clock.worst_line) == (1, -0x1E00, 5)
    assert (clock.at_reload, clock.after_flag) == (1, 0)
    assert clock.worst_us == pytest.approx(-0x1E00 / 0.78336, abs=1e-3)


def test_flag_set_between_the_two_reads() -> None:
    """Mechanism 2: a stall after T1CH = 5, the flag then counts a whole period that had not ended."""
    stalled = [("read", T1CH, 5, None), ("read", IFR, 0xE6, None)]
    handler = [("read", IFR, 0xE6, None), ("read", IER, 0xC0, None)]
    clock = figures([*stalled, *handler, *TICK, *reads(0x1E)]).clock
    assert (clock.backward_steps, clock.worst_cycles) == (1, (5 - 0x1E) * 256)
    assert (clock.at_reload, clock.after_flag) == (0, 1)


def test_the_handlers_reads_are_not_the_clocks() -> None:
    """Here the clock's own IFR read saw 0, which QEMU does not trace; the flag is the handler's."""
    handler = [("read", IFR, 0xC0, None), ("read", IER, 0xC0, None)]
    assert figures([*reads(-5), *handler, *TICK, *reads(0x1E)]).clock.backward_steps == 0


def test_period_is_what_the_guest_loads() -> None:
    load = [("write", T1CL, 0xFE, None), ("write", T1CH, 0x0F, None)]
    clock = figures([*load, *reads(0x0F)]).clock
    assert (clock.period_cycles, clock.period_seen) == (0x1000, True)
    clock = figures(reads(0x0F)).clock
    assert (clock.period_cycles, clock.period_seen) == (PERIOD, False)


def ack(stamp_us: int, value: int = 0x40) -> Access:
    return "write", IFR, value, stamp_us


def test_intervals() -> None:
    ms = 1000
    load = [("write", IER, 0xC0, 0), ("write", T1CL, 0x97, 1), ("write", T1CH, 0x1E, 0)]
    times = [10 * ms, 20 * ms, 40 * ms, 60 * ms + 1, 90 * ms + 2, 2_000 * ms]
    found = figures([*load, *(ack(at) for at in times)]).acknowledges
    assert (found.count, found.intervals) == (6, 6)
    assert (found.p50_us, found.p99_us, found.max_us) == (20_000, 1_909_998, 1_909_998)
    assert (found.over_20_ms, found.over_30_ms) == (3, 2)
    assert (found.ticks_due, found.ticks_lost) == (200, 194)


def test_what_is_no_acknowledge() -> None:
    off = [("write", IER, 0x7F, 0), ack(10, 0x7F), ack(20)]
    other = [("write", IER, 0xC0, 30), ack(40, 0x20), ack(50)]
    found = figures([*off, *other]).acknowledges
    assert (found.count, found.intervals, found.p50_us) == (1, 0, None)


@dataclass
class Slow:
    """Linux's algorithm over a list of accesses, with lookahead instead of state."""

    accesses: list[Access]
    clocks: list[int | None] = field(default_factory=list)
    acknowledged: int = 0

    def run(self) -> "Slow":
        latch, total, offset, enabled = PERIOD - 2, 0, 0, True
        period = PERIOD
        for index, (name, reg, value, _) in enumerate(self.accesses):
            if name == "read" and reg == T1CH:
                high = 0 if value == 255 else value
                if high and self._flag(index + 1):
                    offset = period
                self.clocks.append(period - high * 256 + offset + total)
            elif name == "write" and reg in {T1CH, T1LH}:
                latch = latch % 256 + value * 256
                if reg == T1CH:
                    period = latch + 2
                    self.clocks.append(None)
            elif name == "write" and reg in {T1CL, 6}:
                latch = latch // 256 * 256 + value
            elif name == "write" and reg == IER and value & 0x40:
                enabled = value >= 0x80
            elif name == "write" and reg == IFR and value & 0x40 and enabled:
                total, offset = total + period, 0
                self.acknowledged += 1
        return self

    def _flag(self, at: int) -> bool:
        following = [(name, reg) for name, reg, _, _ in self.accesses[at : at + 2]]
        if not following or following[0] != ("read", IFR) or following[1:] == [("read", IER)]:
            return False
        return self.accesses[at][2] & 0x40 != 0

    def backward(self) -> list[int]:
        pairs = zip(self.clocks, self.clocks[1:], strict=False)
        return [b - a for a, b in pairs if a is not None and b is not None and b < a]


accesses = st.tuples(
    st.sampled_from(["read", "read", "read", "write"]),
    st.sampled_from([T1CH, T1CH, IFR, IFR, IER, T1CL, 6, T1LH, 0]),
    st.sampled_from([0, 1, 5, 0x1E, 0x40, 0x7F, 0x97, 0xC0, 0xE6, 0xFF]),
    st.none(),
)


@given(st.lists(accesses, max_size=60))
def test_equals_the_slow_one(accesses: list[Access]) -> None:
    slow = Slow(accesses).run()
    found = figures(accesses)
    assert found.clock.reads == sum(clock is not None for clock in slow.clocks)
    assert found.acknowledges.count == slow.acknowledged
    assert found.clock.backward_steps == len(slow.backward())
    assert found.clock.backward_cycles == sum(slow.backward())
    assert found.clock.worst_cycles == min(slow.backward(), default=0)
