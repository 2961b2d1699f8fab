"""The bus: φ2 cycles of accesses, interrupt levels, what is logged, and the devices behind it.

A script runs on the real CPU against the real chips and pacers (``scripted_quadra``).
"""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_quadra import (
    IO,
    MARK,
    MASKED,
    OPEN,
    PROBE,
    RTC_SECONDS,
    SCC_CONTROL_A,
    SCC_DATA_A,
    VIA1,
    VIA2,
    WAIT,
    Step,
    play,
    read,
    read_long,
    rtc_byte,
    spin,
    start_t1,
    twice,
    via,
    write,
    write_long,
)

from guestclock.chips import registers as reg
from guestclock.quadra import board as board_module
from guestclock.quadra import bus as bus_module
from guestclock.quadra import memory_map
from guestclock.quadra import probe_port as probe_module
from guestclock.readings.schema import EventKind
from guestclock.timebase.host import SimulatedHost
from guestclock.timebase.pacing import HostPacer, PacedPacer, Pacer, VirtualPacer
from guestclock.timebase.rate import Rate
from guestclock.timebase.stalls import parse_stalls

T1L, T1H = via(VIA1, reg.T1CL), via(VIA1, reg.T1CH)
T2L = via(VIA1, reg.T2CL)
PHI2 = Rate(783_360)

PACINGS: dict[str, Callable[[], Pacer]] = {
    "virtual": VirtualPacer,
    "paced": lambda: PacedPacer(SimulatedHost()),
    "paced on a fast host": lambda: PacedPacer(SimulatedHost(ps_per_byte=50)),
    "paced on a stalling host": lambda: PacedPacer(SimulatedHost(parse_stalls("every=1ms,for=3ms"))),
    "host": lambda: HostPacer(SimulatedHost()),
}


# One access a cycle.


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(PACINGS)), st.lists(st.integers(0, 600), min_size=2, max_size=60))
def test_on_phi2_two_reads_of_a_counter_never_agree(pacing: str, gaps: list[int]) -> None:
    latch = 0xFFF0
    script = [write(T1L, latch & 0xFF), write(T1H, latch >> 8)]
    for gap in gaps:
        script += [spin(gap + 1), twice(T1L), read(T1L)]
    low = play(PACINGS[pacing](), "phi2", script).read
    assert all((before - after) % 256 >= 1 for before, after in zip(low[0::3], low[1::3], strict=True))
    assert all((before - after) % 256 >= 1 for before, after in zip(low[1::3], low[2::3], strict=True))


def test_on_phi2_reads_in_a_row_take_one_cycle_each() -> None:
    # Virtual code so fast that nothing but the bus takes time.
    low = play(VirtualPacer(1), "phi2", [write(T1L, 0xFF), write(T1H, 0xFF), *[twice(T1L)] * 100]).read
    passed = [(before - after) % 256 for before, after in pairwise(low)]
    assert passed[0::2] == [1] * 100
    assert set(passed[1::2]) == {1, 2}  # code that ends behind a boundary waits for the next


def test_on_fast_reads_share_a_cycle_only_while_guest_time_is_level_with_the_host() -> None:
    start = [write(T1L, 0xFF), write(T1H, 0xFF)]
    level = play(PacedPacer(SimulatedHost(ps_per_byte=100)), "fast", [*start, *[twice(T1L)] * 200])
    pairs = list(zip(level.read[0::2], level.read[1::2], strict=True))
    assert sum(before == after for before, after in pairs) > 150
    # While it catches up after a stall each read has a cycle of its own.
    stalled = PacedPacer(SimulatedHost(parse_stalls("at=1ns,for=1s"), ps_per_byte=100), ns_per_byte_max=1)
    behind = play(stalled, "fast", [*start, *[twice(T1L)] * 200]).read
    assert [(before - after) % 256 for before, after in zip(behind[0::2], behind[1::2], strict=True)] == [
        1
    ] * 200


@pytest.mark.parametrize("pacing", PACINGS)
def test_on_fast_a_write_has_a_cycle_of_its_own(pacing: str) -> None:
    # Without time for code: T2 counts cycles from its start; what lies between is cycles of the bus.
    script = [write(T2L, 0xFF), write(via(VIA1, reg.T2CH), 0xFF)]
    scratch = via(VIA1, reg.DDRA)
    script += [read(T2L), write(scratch, 1), write(scratch, 2), write(scratch, 3), read(T2L)]
    pacer = {"virtual": VirtualPacer(1)}.get(pacing, PACINGS[pacing]())
    before, after = play(pacer, "fast", script).read
    assert (before - after) % 256 >= 3


# Interrupts.


@settings(max_examples=60, deadline=None)
@given(
    st.integers(40, 1500),
    st.integers(1, 2000),
    st.integers(200, 4000),
    st.sampled_from(["paced", "host"]),
    st.booleans(),
)
def test_on_fast_the_cpu_sees_the_tick_only_after_the_counter_has_reloaded(
    latch: int, gap: int, ps_per_byte: int, pacing: str, asleep: bool
) -> None:
    host = SimulatedHost(ps_per_byte=ps_per_byte)
    pacer = PacedPacer(host) if pacing == "paced" else HostPacer(host)
    wait = [WAIT] if asleep else [spin(1 + 2 * latch * 1277 * 1000 // (ps_per_byte * 4))]
    script = [*start_t1(latch), spin(gap), OPEN, *wait, MASKED]
    found = play(pacer, "fast", script).read
    ticks = [index for index, value in enumerate(found) if value == MARK + 6]
    assert ticks
    for index in ticks:
        high = found[index + 1]
        assert high <= latch >> 8, f"the handler read {high:#x}: the counter had not reloaded"


@pytest.mark.parametrize("bus", ["phi2", "fast"])
@pytest.mark.parametrize("pacing", PACINGS)
@pytest.mark.parametrize(("base", "level6", "level"), [(VIA1, True, 6), (VIA1, False, 1), (VIA2, True, 2)])
def test_levels_of_the_vias(bus: str, pacing: str, base: int, level6: bool, level: int) -> None:
    script = [*start_t1(300, base=base, level6=level6), OPEN, WAIT, WAIT, MASKED]
    played = play(PACINGS[pacing](), bus, script)
    assert played.levels[:2] == [level, level]
    assert set(played.levels) == {level}


@pytest.mark.parametrize("bus", ["phi2", "fast"])
def test_the_scc_interrupts_at_level_4_and_its_channel_is_read_and_written(bus: str) -> None:
    def command(register: int, value: int) -> list[Step]:
        return [write(SCC_CONTROL_A, register), write(SCC_CONTROL_A, value)]

    script = [
        *command(3, 0xC1),  # receive, 8 bits
        *command(5, 0x68),  # transmit, 8 bits
        *command(1, 0x10),  # interrupt on all received characters
        *command(9, 0x08),  # master interrupt enable
        write(SCC_DATA_A, ord("h")),
        write(SCC_DATA_A, ord("i")),
        OPEN,
        spin(10),
        MASKED,
    ]
    played = play(VirtualPacer(), bus, script, typed=b"ab")
    assert played.sent == b"hi"
    assert played.read == [MARK + 4, ord("a"), MARK + 4, ord("b")]


def test_the_higher_of_two_levels_goes_first() -> None:
    script = [*start_t1(50, base=VIA2), *start_t1(50), spin(2000), OPEN, spin(1), MASKED]
    assert play(VirtualPacer(), "fast", script).levels[:2] == [6, 2]


# What is logged.


def kinds(events: list[dict[str, int]]) -> list[str]:
    return [EventKind(event["kind"]).name for event in events]


@pytest.mark.parametrize("bus", ["phi2", "fast"])
def test_underflow_interrupt_and_acknowledge_are_logged_to_the_cycle(bus: str) -> None:
    latch, periods = 1000, 20
    played = play(VirtualPacer(), bus, [*start_t1(latch), OPEN, *[WAIT] * periods, MASKED])
    events = played.events[: 3 * periods]
    assert kinds(events) == ["UNDERFLOW", "IRQ", "ACKNOWLEDGE"] * periods
    underflows = [event for event in events if event["kind"] == EventKind.UNDERFLOW]
    cycles = [event["cycle"] for event in underflows]
    assert [after - before for before, after in pairwise(cycles)] == [latch + 2] * (periods - 1)
    assert [event["guest_ns"] for event in underflows] == [PHI2.start_ns(cycle) for cycle in cycles]
    assert {event["value"] for event in underflows} == {1}
    for underflow, irq, acknowledge in zip(events[0::3], events[1::3], events[2::3], strict=True):
        # The flag is set in the middle of a cycle; the machine sees it at the start of the next.
        assert irq["cycle"] == underflow["cycle"] + (2 if bus == "fast" else 1)
        assert irq["cycle"] <= acknowledge["cycle"] < underflow["cycle"] + 200
        assert underflow["masked"] == 0


def test_periods_that_end_while_nobody_looks_are_counted_in_one_event() -> None:
    latch = 98  # periods of 100 cycles, 127.66 µs
    host = SimulatedHost(parse_stalls("at=1ms,for=10ms"))
    played = play(HostPacer(host), "fast", [*start_t1(latch), OPEN, spin(400_000), MASKED])
    underflows = [event["value"] for event in played.events if event["kind"] == EventKind.UNDERFLOW]
    assert sum(value > 1 for value in underflows) == 1
    assert max(underflows) in (78, 79)  # 10 ms of 783360 Hz are 7834 cycles
    assert kinds(played.events).count("ACKNOWLEDGE") in (len(underflows), len(underflows) - 1)


def test_masked_is_said_of_an_underflow_that_the_cpu_masked() -> None:
    script = [*start_t1(1000), spin(100_000), OPEN, WAIT, WAIT, WAIT, MASKED]
    events = play(VirtualPacer(), "fast", script).events
    underflows = [event for event in events if event["kind"] == EventKind.UNDERFLOW]
    assert underflows[0]["masked"] == 1
    assert 0 in [event["masked"] for event in underflows]


def test_a_timer_whose_interrupt_is_disabled_logs_nothing() -> None:
    script = [write(via(VIA1, reg.ACR), 0x40), write(T1L, 100), write(T1H, 0), spin(10_000)]
    assert play(VirtualPacer(), "fast", script).events == []


def test_a_one_shot_that_was_not_acknowledged_underflows_once() -> None:
    events = play(VirtualPacer(), "fast", [*start_t1(100, free_run=False), spin(20_000)]).events
    assert kinds(events)[:2] == ["UNDERFLOW", "IRQ"]
    assert kinds(events).count("UNDERFLOW") == 1


@pytest.mark.parametrize("pacing", PACINGS)
def test_events_are_in_order_and_never_of_the_future(pacing: str) -> None:
    played = play(PACINGS[pacing](), "fast", [*start_t1(500), OPEN, *[WAIT, spin(3000)] * 20, MASKED])
    times = [event["guest_ns"] for event in played.events]
    assert times == sorted(times)
    assert times[-1] <= played.guest_ns


# The probe port.


def test_the_probe_port_says_who_it_is_and_logs_what_is_committed() -> None:
    script = [
        read_long(PROBE),
        read_long(PROBE + 4),
        write_long(PROBE + 0x10, 0x00070001),
        write_long(PROBE + 0x14, 12345),
        write_long(PROBE + 0x18, 678),
        write_long(PROBE + 0x20, 0xFFFFFFFF),
        write_long(PROBE + 0x24, 0xFFFFFFFE),
        spin(1000),
        write_long(PROBE + 0x24, 5),
    ]
    pacer = VirtualPacer()
    played = play(pacer, "fast", script)
    assert played.read == [0x47434C4B, 1]
    first, second = played.probes
    assert (first["value"], first["tag"], first["calls"], first["ticks"]) == (-2, 0x70001, 12345, 678)
    assert second["value"] == (-1 << 32) + 5
    # Time of the code up to the end of the block of the access, as executed bytes have it.
    assert second["guest_ns"] - first["guest_ns"] == (second["code_bytes"] - first["code_bytes"]) * 16
    assert 4000 <= second["code_bytes"] - first["code_bytes"] <= 4050
    assert played.unmapped == {}


def test_the_probe_log_grows_without_losing_rows() -> None:
    rows = 10_000
    script = [write_long(PROBE + 0x24, number) for number in range(rows)]
    probes = play(VirtualPacer(), "fast", script).probes
    assert [row["value"] for row in probes] == list(range(rows))


# Other devices.


def test_accesses_to_nothing_read_zero_and_are_counted_by_page() -> None:
    nothing = [0xF900_0000, 0x4080_0000, IO + 0x8000, IO + 0x1234_0, 0x6000_0010]
    script = [step for address in nothing for step in (read_long(address), write_long(address, 7))]
    played = play(VirtualPacer(), "fast", [*script, read_long(nothing[0] + 8)])
    assert played.read == [0] * 6
    expected = {(access, address & ~0xFFF): 1 for address in nothing for access in ("read", "write")}
    assert played.unmapped == expected | {("read", 0xF900_0000): 2}


def test_the_window_repeats() -> None:
    for mirror in (0, 0x40000, 0xFC0000):
        played = play(
            VirtualPacer(), "fast", [write(via(VIA1, reg.DDRA), 0xA5), read(mirror + via(VIA1, reg.DDRA))]
        )
        assert played.read == [0xA5], f"{mirror:#x}"


def test_power_off_ends_the_run() -> None:
    # VIA2 port B bit 2 driven low; what follows runs at most to the next look.
    script = [write(via(VIA2, reg.ORB), 0), write(via(VIA2, reg.DDRB), 4), spin(2_000_000_000)]
    played = play(VirtualPacer(), "fast", script)
    assert played.powered_off
    assert played.executed_bytes < 1 << 23


@pytest.mark.parametrize("bus", ["phi2", "fast"])
def test_the_clock_chip_is_read_through_port_b(bus: str) -> None:
    seconds = 0
    for byte in range(4):
        script, value = rtc_byte(0x81 | byte << 2)
        seconds |= value(play(VirtualPacer(), bus, script).read) << 8 * byte
    assert seconds == RTC_SECONDS


# Names.


def test_the_memory_map_is_the_compiled_board_s() -> None:
    compiled = compiled_constants()
    for name, value in vars(memory_map).items():
        if name.isupper():
            assert compiled[name] == value, name
    for name in ("PENDING_QUANTUM_BYTES", "HOUSEKEEPING_BYTES", "PORT_B_WRITES", "CYCLE_BYTES"):
        assert name in compiled
    assert [compiled[kind.name] for kind in (EventKind.UNDERFLOW, EventKind.IRQ, EventKind.ACKNOWLEDGE)] == [
        EventKind.UNDERFLOW,
        EventKind.IRQ,
        EventKind.ACKNOWLEDGE,
    ]
    for module in (board_module, bus_module, probe_module):
        for name in vars(module):  # the plain build has them by name
            if name in compiled:
                assert getattr(module, name) == compiled[name], name


def compiled_constants() -> dict[str, int]:
    """Return the constants of the bus's and the board's .pxd by name."""
    names: dict[str, int] = {name: getattr(reg, name) for name in dir(reg) if name.isupper()}
    found: dict[str, int] = {}
    for file in ("board.pxd", "bus.pxd", "probe_port.pxd"):
        text = (Path(memory_map.__file__).parent / file).read_text()
        for line in text.split("cdef enum:")[1].split("cdef class")[0].splitlines():
            if "=" in line:
                name, expression = (part.strip() for part in line.split("=", 1))
                found[name] = eval(expression, {}, names | found)
    return found
