"""The board with QEMU's VIAs: no time for accesses, alarms after them, and ticks judged by true periods."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_quadra import (
    MASKED,
    OPEN,
    RTC_SECONDS,
    VIA1,
    VIA2,
    WAIT,
    Played,
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
)

from guestclock.chips import registers as reg
from guestclock.chips.qemu_deviations import SETS
from guestclock.errors import BadInputError
from guestclock.readings.schema import EventKind
from guestclock.timebase.host import SimulatedHost
from guestclock.timebase.pacing import HostPacer, PacedPacer, Pacer, VirtualPacer
from guestclock.timebase.rate import Rate
from guestclock.timebase.stalls import parse_stalls

T1L, T1H = via(VIA1, reg.T1CL), via(VIA1, reg.T1CH)
INTERRUPT_FLAGS = via(VIA1, reg.IFR)
PHI2 = Rate(783_360)
QEMU_SETS = [name for name in SETS if name != "chip"]


def play_qemu(pacer: Pacer, script: list[Step], chip: str = "qemu-7.2", **more: bytes) -> Played:
    return play(pacer, "none", script, chip=chip, **more)


def pacers() -> list[Pacer]:
    return [VirtualPacer(), PacedPacer(SimulatedHost()), HostPacer(SimulatedHost())]


def of_kind(played: Played, kind: EventKind) -> list[dict[str, int]]:
    return [event for event in played.events if event["kind"] == kind]


def test_an_access_takes_no_time() -> None:
    low = play_qemu(VirtualPacer(1), [write(T1L, 0xFF), write(T1H, 0xFF), *[twice(T1L)] * 50]).read
    assert all(before == after for before, after in zip(low[0::2], low[1::2], strict=True))
    assert set(low) == {0xFF}


@pytest.mark.parametrize("chip", QEMU_SETS)
@pytest.mark.parametrize(("base", "level6", "level"), [(VIA1, True, 6), (VIA1, False, 1), (VIA2, True, 2)])
def test_levels_of_the_vias(chip: str, base: int, level6: bool, level: int) -> None:
    script = [*start_t1(300, base=base, level6=level6), OPEN, WAIT, WAIT, MASKED]
    for pacer in pacers():
        played = play_qemu(pacer, script, chip)
        assert played.levels[:2] == [level, level]
        assert set(played.levels) == {level}


@pytest.mark.parametrize(("chip", "first_cycle"), [("qemu-7.2", 0), ("series-2021", 2)])
def test_underflow_interrupt_and_acknowledge_are_logged(chip: str, first_cycle: int) -> None:
    """The flag belongs to count 0 in QEMU, to the reload after patch 8."""
    latch, periods = 1000, 20
    played = play_qemu(VirtualPacer(), [*start_t1(latch), OPEN, *[WAIT] * 2 * periods, MASKED], chip)
    events = [event for event in played.events if event["kind"] <= EventKind.ACKNOWLEDGE]
    kinds = [EventKind(event["kind"]).name for event in events[: 3 * periods]]
    assert kinds == ["UNDERFLOW", "IRQ", "ACKNOWLEDGE"] * periods
    underflows = of_kind(played, EventKind.UNDERFLOW)[:periods]
    gaps = [after["cycle"] - before["cycle"] for before, after in pairwise(underflows)]
    short = 1 if chip == "qemu-7.2" else 0  # B1: the first reload skips a count
    # A load is in mid-cycle: its periods straddle the cycles of guest time.
    assert sum(gaps) - (latch + 2) * (periods - 1) + short in (-1, 0, 1)
    assert {event["value"] for event in underflows} == {1}
    loaded_ns = underflows[0]["guest_ns"] - PHI2.start_ns(latch + first_cycle)
    assert 0 < loaded_ns < 1_000_000
    for underflow, irq in zip(events[0::3], events[1::3], strict=False):
        assert 0 <= irq["guest_ns"] - underflow["guest_ns"] <= 2 * 1277


@pytest.mark.parametrize("chip", ["qemu-7.2", "series-2021"])
def test_periods_that_end_while_nobody_looks_are_counted_in_one_event(chip: str) -> None:
    latch = 98  # periods of 100 cycles, 127.66 µs
    host = SimulatedHost(parse_stalls("at=1ms,for=10ms"))
    played = play_qemu(HostPacer(host), [*start_t1(latch), OPEN, spin(400_000), MASKED], chip)
    values = [event["value"] for event in of_kind(played, EventKind.UNDERFLOW)]
    assert sum(value > 1 for value in values) == 1
    assert max(values) in (78, 79)  # 10 ms of 783360 Hz are 7834 cycles
    assert sum(values) - len(of_kind(played, EventKind.ACKNOWLEDGE)) >= max(values) - 1


@settings(max_examples=25, deadline=None)
@given(
    st.integers(20, 400),
    st.lists(st.tuples(st.sampled_from([OPEN, MASKED, WAIT]), st.integers(1, 3000)), min_size=5, max_size=25),
    st.sampled_from(["qemu-7.2", "patch-6", "series-2021"]),
)
def test_every_underflow_is_logged_whatever_becomes_of_it(
    latch: int, waits: list[tuple[Step, int]], chip: str
) -> None:
    steps = [step for wait, gap in waits for step in (wait, read(INTERRUPT_FLAGS), spin(gap), read(T1H))]
    host = SimulatedHost(parse_stalls("every=300us,for=200us"), look_ns=50)
    played = play_qemu(HostPacer(host), [*start_t1(latch), *steps, MASKED, read(INTERRUPT_FLAGS)], chip)
    underflows = of_kind(played, EventKind.UNDERFLOW)
    counted = sum(event["value"] for event in underflows)
    if underflows:
        passed = underflows[-1]["cycle"] - underflows[0]["cycle"]
        before_last = counted - underflows[0]["value"]
        assert abs(passed - before_last * (latch + 2)) <= 2
    times = [event["guest_ns"] for event in played.events]
    assert times[-1:] <= [played.guest_ns]


def test_an_alarm_that_falls_due_in_an_access_comes_after_it() -> None:
    """B6: the read sets the flag, moves the alarm on a period and leaves the line; patch 6 raises it."""
    latch = 0x2000
    script = [*start_t1(latch), twice(INTERRUPT_FLAGS), OPEN, spin(100), MASKED]

    def played(chip: str, stall_at_ns: int) -> Played:
        host = SimulatedHost(iter([(stall_at_ns, PHI2.start_ns(latch + 2))]), look_ns=3000)
        return play_qemu(HostPacer(host), script, chip)

    # A stall that falls between the two reads of one block of code.
    between_ns = next(
        at_ns for at_ns in range(0, 100_000, 1000) if played("qemu-7.2", at_ns).read[:2] == [0x00, 0xC0]
    )
    assert played("qemu-7.2", between_ns).levels == []
    assert played("patch-6", between_ns).levels == [6]


def test_via1_has_its_60_hz_and_its_second() -> None:
    script = [spin(500_000), read(INTERRUPT_FLAGS), spin(32_000_000), read(INTERRUPT_FLAGS)]
    early, late = play_qemu(VirtualPacer(), script).read
    assert early & (reg.IFR_CA1 | reg.IFR_CA2) == 0  # 32 ms: the first pulse has no falling edge
    assert late & (reg.IFR_CA1 | reg.IFR_CA2) == reg.IFR_CA1 | reg.IFR_CA2


def inputs_logged(played: Played, source: int) -> list[tuple[str, int]]:
    """Return what was logged of a source, with the values."""
    return [
        (EventKind(event["kind"]).name, event["value"])
        for event in played.events
        if event["source"] == source
    ]


@pytest.mark.parametrize(("pcr", "ca1_ns"), [(0x00, [2 * 16_625_800]), (0x05, [16_625_800, 2 * 16_625_800])])
def test_inputs_that_interrupt_are_logged_with_their_acknowledges(pcr: int, ca1_ns: list[int]) -> None:
    """Pulses at 16.6 and 33.3 ms, the first with a rising edge only, the ADB at 20 ms; 64 ns a round."""
    flags = via(VIA1, reg.IFR)
    script = [
        write(via(VIA1, reg.PCR), pcr),
        write(via(VIA1, reg.IER), 0x80 | reg.IFR_CA1 | reg.IFR_SR),
        *[spin(280_000), write(flags, reg.IFR_CA1), spin(250_000), write(flags, reg.IFR_CA1 | reg.IFR_SR)],
        write(via(VIA1, reg.IER), 0x7F),
    ]
    played = play_qemu(VirtualPacer(), script)
    once = [("UNDERFLOW", 1), ("ACKNOWLEDGE", 0)]
    assert inputs_logged(played, 1) == once * len(ca1_ns)
    assert inputs_logged(played, 3) == once
    set_ns = [event["guest_ns"] for event in of_kind(played, EventKind.UNDERFLOW)]
    assert set_ns == sorted([*ca1_ns, 20_000_000])
    assert all(event["cycle"] == PHI2.cycle_at(event["guest_ns"]) for event in played.events)


def test_pulses_nobody_looked_at_are_counted_in_one_event() -> None:
    host = SimulatedHost(parse_stalls("at=1ms,for=100ms"))
    script = [write(via(VIA1, reg.IER), 0x80 | reg.IFR_CA1), spin(400_000), write(via(VIA1, reg.IFR), 0x02)]
    played = play_qemu(HostPacer(host), script)
    assert inputs_logged(played, 1)[0] == ("UNDERFLOW", 5)  # 6 periods, the first without a falling edge
    assert inputs_logged(played, 1)[-1] == ("ACKNOWLEDGE", 0)
    assert played.events[0]["guest_ns"] == 6 * 16_625_800


def test_inputs_that_do_not_interrupt_are_not_logged() -> None:
    assert play_qemu(VirtualPacer(), [spin(600_000), write(via(VIA1, reg.IFR), 0x7F)]).events == []


def test_the_clock_chip_is_read_through_port_b() -> None:
    seconds = 0
    for byte in range(4):
        script, value = rtc_byte(0x81 | byte << 2)
        seconds |= value(play_qemu(VirtualPacer(), script).read) << 8 * byte
    assert seconds == RTC_SECONDS


def test_power_off_ends_the_run_and_a_write_of_another_bit_does_not() -> None:
    orb, ddrb = via(VIA2, reg.ORB), via(VIA2, reg.DDRB)
    played = play_qemu(VirtualPacer(), [write(orb, 0), write(ddrb, 2), read(orb)])
    assert not played.powered_off
    assert play_qemu(VirtualPacer(), [write(ddrb, 4), write(orb, 0)]).powered_off


@pytest.mark.parametrize("chip", QEMU_SETS)
def test_a_storm_of_alarms_ends(chip: str) -> None:
    """T2 with latch 0 and its interrupt on, and T1 at its shortest: alarms each cycle, guest code between."""
    script = [
        *start_t1(0),
        write(via(VIA1, reg.IER), 0xA0),
        write(via(VIA1, reg.T2CL), 0),
        write(via(VIA1, reg.T2CH), 0),
        OPEN,
        spin(2),
        MASKED,
        spin(1000),
        read(T1L),
    ]
    for pacer in pacers():
        assert play_qemu(pacer, script, chip).guest_ns > 0


def calibrate() -> list[Step]:
    """The writes by which 8.2 knows MacOS's calibration, and what is in memory before and after."""
    writes = ((reg.PCR, 0x22), (reg.T2CL, 0x0C), (reg.T2CH, 0x03), (reg.IER, 0x20))
    return [
        write(0xCFF, 0x5A),
        write(0xD04, 0xA5),
        *[write(via(VIA1, register), value) for register, value in writes[:-1]],
        read_long(0xD00),
        *[write(via(VIA1, register), value) for register, value in writes[-1:]],
        *[read(0xCFF), read_long(0xD00), read(0xD04)],
    ]


@pytest.mark.parametrize("chip", QEMU_SETS)
def test_a_calibration_is_answered_in_memory_by_8_2_alone(chip: str) -> None:
    results = 0x7E00_16D7 if chip == "qemu-8.2" else 0
    assert play_qemu(VirtualPacer(), calibrate(), chip).read == [0, 0x5A, results, 0xA5]


def test_counts_are_wrong_by_the_guests_own_time_while_aux_measures() -> None:
    """Reads of T2CH fall at even and odd ns of guest time, and nothing else decides."""
    script = [*calibrate(), write(via(VIA1, reg.T2CL), 0xF0), write(via(VIA1, reg.T2CH), 0x3C)]
    reads = [step for gap in range(1, 40) for step in (spin(gap), read(via(VIA1, reg.T2CH)))]
    wrong = play_qemu(VirtualPacer(1), [*script, *reads], "qemu-8.2").read[4:]
    right = play_qemu(VirtualPacer(1), [*script, *reads], "qemu-7.2").read[4:]
    assert {after - before for after, before in zip(wrong, right, strict=True)} == {0, 5}


def test_words_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(BadInputError, match=r"chip 'qemu-5': say one of chip, qemu-6\.1"):
        play(VirtualPacer(), "fast", [], chip="qemu-5")
    with pytest.raises(BadInputError, match="bus 'phi2': only the 6522 has a bus to choose"):
        play(VirtualPacer(), "phi2", [], chip="qemu-7.2")
