# ruff: noqa: E501, PLR0917 (kernel messages are as long as they are, and have as many parts)
"""What kernel messages about clocks are made into: figures computed here by other means."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.linux.clock_facts import Known, registered_hz, signed
from guestclock.linux.explain import as_json, explain, suspects
from guestclock.linux.explanation import Explanation, Level

VIA_HZ = 783_360
OFFSET = (
    "INFO: timekeeping: Cycle offset ({}) is larger than the 'via1' clock's 50% safety margin (2147483647)"
)
LOCKUP = "watchdog: BUG: soft lockup - CPU#0 stuck for {}s! [swapper:0]"
MARKED = "clocksource: timekeeping watchdog on CPU1: Marking clocksource '{}' as unstable because the skew is too large:"


def one(*lines: str) -> Explanation:
    (found,) = explain(lines)
    return found


def test_a_small_step_back_modulo_2_32() -> None:
    found = one(OFFSET.format(4_294_966_426))
    assert (found.kind, found.level, found.suspect) == ("went back", Level.FAULT, "via1")
    assert found.cycles == 4_294_966_426 - 2**32 == -870
    assert found.time_ns == round(-870e9 / VIA_HZ)
    assert "870 cycles (1.11 ms)" in found.what


@given(st.integers(-(2**31) + 1, -1))
def test_every_step_back(cycles: int) -> None:
    found = one(OFFSET.format(cycles % 2**32))
    assert found.cycles == cycles
    assert found.time_ns == round(Fraction(cycles * 10**9, VIA_HZ))


def test_an_update_that_came_late() -> None:
    found = one(OFFSET.format(2_147_483_647))
    assert (found.kind, found.cycles) == ("late update", 2_147_483_647)


def test_a_64_bit_clock_past_its_limit() -> None:
    line = (
        "WARNING: timekeeping: Cycle offset ({}) is larger than allowed by the 'tsc' clock's max_cycles value"
        " (2971826175820): time overflow danger"
    )
    assert one(line.format(-870)).cycles == -870
    found = one(line.format(3_000_000_000_000))
    assert (found.kind, found.cycles, found.time_ns) == ("late update", 3_000_000_000_000, None)


@pytest.mark.parametrize("stuck", [5106, 5107, 5108])
@pytest.mark.parametrize("before", [[], ["clocksource: Switched to clocksource via1"]])
def test_a_soft_lockup_that_is_a_wrap(stuck: int, before: list[str]) -> None:
    found = explain([*before, LOCKUP.format(stuck)])[-1]
    assert (found.kind, found.level, found.suspect) == ("wrap", Level.FAULT, "via1")
    assert found.cycles == 2**32
    assert found.time_ns == 2**32 * 10**9 // VIA_HZ
    assert "5106.2" in found.what


@pytest.mark.parametrize("stuck", [22, 5000, 5105, 5140])
def test_a_soft_lockup_that_is_none(stuck: int) -> None:
    found = one(LOCKUP.format(stuck))
    assert (found.kind, found.level, found.time_ns) == ("soft lockup", Level.RISK, stuck * 2**30)


def test_a_wrap_is_of_the_clock_in_use() -> None:
    hpet = (
        "clocksource: hpet: mask: 0xffffffff max_cycles: 0xffffffff, max_idle_ns: 133484882848 ns"  # 14.3 MHz
    )
    seconds = 2**32 * 10**9 // 14_318_180 // 2**30
    found = explain([hpet, "clocksource: Switched to clocksource hpet", LOCKUP.format(seconds + 1)])
    assert [each.kind for each in found] == ["switch", "wrap"]
    assert found[-1].suspect == "hpet"
    found = explain([hpet, "clocksource: Switched to clocksource hpet", LOCKUP.format(5107)])
    assert found[-1].kind == "soft lockup"


def side(clock: str, name: str, ns: int | None, now: int, last: int, mask: int) -> str:
    told = "" if ns is None else f"{name}_nsec: {ns} "
    return f"clocksource:     '{clock}' {told}{name}_now: {now:x} {name}_last: {last:x} mask: {mask:x}"


def verdict(
    watchdog: tuple[str, int, int, int], checked: tuple[str, int, int, int], *after: str
) -> Explanation:
    """The watchdog's block; each clock is (name, ns, cycles, bits)."""
    start = 0x123456
    lines = [
        side(clock, name, ns, (start + cycles) % 2**bits, start, 2**bits - 1)
        for name, (clock, ns, cycles, bits) in (("wd", watchdog), ("cs", checked))
    ]
    found = explain([MARKED.format(checked[0]), *lines, *after])
    return found[0]


def test_the_checked_clock_runs_fast() -> None:
    found = verdict(
        ("hpet", 500_000_000, 7_159_090, 32),
        ("tsc", 600_000_000, 1_800_000_000, 64),
        "clocksource: 'tsc' is current clocksource.",
    )
    assert (found.suspect, found.time_ns, found.cycles) == ("tsc", 100_000_000, 300_000_000)
    assert "1,800,000,000 cycles = 600 ms while hpet advanced 7,159,090 = 500 ms" in found.what
    assert "+200,000 ppm" in found.what
    assert found.line == 1


def test_the_watchdog_stood_still() -> None:
    found = verdict(("hpet", 40_000_000, 572_727, 32), ("tsc", 510_000_000, 1_530_000_000, 64))
    assert (found.suspect, found.time_ns) == ("hpet", 470_000_000)


def test_the_watchdog_wrapped() -> None:
    """acpi_pm has 24 bits: 4.69 s.  The check came 5.19 s late, so it saw 0.5 s."""
    wrap_ns = 2**24 * 10**9 // 3_579_545
    found = verdict(
        ("acpi_pm", 500_000_000, 1_789_772, 24),
        ("tsc", 500_000_000 + wrap_ns, 3 * (500_000_000 + wrap_ns), 64),
    )
    assert found.suspect == "acpi_pm"
    assert "wraps every 4.69 s and did so once" in found.advice


def test_neither_saw_the_interval() -> None:
    found = verdict(("hpet", 900_000_000, 12_886_362, 32), ("tsc", 1_000_000_000, 3_000_000_000, 64))
    assert found.suspect == "tsc"
    assert "either" in found.advice


def test_the_checked_clock_went_back() -> None:
    found = verdict(("hpet", 500_000_000, 7_159_090, 32), ("tsc", 0, -3_000_000, 64))
    assert (found.kind, found.suspect, found.cycles) == ("went back", "tsc", -3_000_000)


def test_a_block_without_times_and_one_cut_short() -> None:
    old = [
        "clocksource: timekeeping watchdog: Marking clocksource 'tsc' as unstable because the skew is too large:",
        side("acpi_pm", "wd", None, 2_000_000, 210_228, 0xFFFFFF),
        side("tsc", "cs", None, 3_000_000_000, 0, 2**64 - 1),
    ]
    assert "does not tell how fast" in one(*old).what
    rated = explain(["tsc: Detected 3000.000 MHz processor", *old])[-1]
    assert rated.time_ns == 1_000_000_000 - round(Fraction(1_789_772 * 10**9, 3_579_545))
    assert "missing" in one(old[0]).what
    assert [
        each.kind for each in explain([old[0], "tsc: Marking TSC unstable due to clocksource watchdog"])
    ] == [
        "unstable",
        "unstable",
    ]


@pytest.mark.parametrize(
    ("line", "kind", "level", "suspect", "cycles", "time_ns"),
    [
        ("WARNING: Underflow in clocksource 'via1' observed, time update ignored.",
         "went back", "fault", "via1", None, None),
        ("WARNING: Overflow in clocksource 'hpet' observed, time update capped.",
         "late update", "fault", "hpet", None, None),
        ("Adjusting via1 more than 11% (9000 vs 8880)", "steered too far", "fault", "via1", None, None),
        ("clocksource: Switched to clocksource via1", "switch", "note", None, None, None),
        ("clocksource: timekeeping watchdog on CPU0: hpet retried 2 times before success",
         "slow read", "note", None, None, None),
        ("clocksource: timekeeping watchdog on CPU3: hpet read-back delay of 250000ns, attempt 4, marking unstable",
         "slow read", "risk", "hpet", None, 250_000),
        ("clocksource: timekeeping watchdog on CPU3: hpet wd-wd read-back delay of 300000ns",
         "slow read", "risk", "hpet", None, 300_000),
        ("clocksource: Long readout interval, skipping watchdog check: cs_nsec: 2100000000 wd_nsec: 2000000000",
         "late check", "risk", None, None, 100_000_000),
        ("Clocksource tsc unstable (delta = -17179869 ns)", "unstable", "fault", "tsc", None, -17_179_869),
        ("clocksource:         CPUs 0-2,5 behind CPU 3 for clocksource tsc.", "CPUs disagree", "fault", "tsc", None, None),
        ("tsc: Refined TSC clocksource calibration: 2999.998 MHz", "frequency", "note", None, None, None),
        ("tsc: Marking TSC unstable due to check_tsc_sync_source failed", "unstable", "fault", "tsc", None, None),
        ("tsc: Marking TSC unstable due to boot parameter", "unstable", "note", "tsc", None, None),
        ("Measured 1500 cycles TSC warp between CPUs, turning off TSC clock.",
         "CPUs disagree", "fault", "tsc", -1500, None),
        ("[Firmware Bug]: TSC ADJUST differs: CPU2 0 --> -4500. Restoring", "moved", "fault", "tsc", -4500, None),
        ("TSC ADJUST compensate: CPU1 observed 90 warp. Adjust: 90", "CPUs disagree", "risk", "tsc", 90, None),
        ("TSC found unstable after boot, most likely due to broken BIOS. Use 'tsc=unstable'.",
         "unstable", "fault", "tsc", None, None),
        ("tsc: PIT calibration deviates from HPET: 2990000 3000000", "calibration", "risk", "tsc", None, None),
        ("kvm-clock: using sched offset of 5000000000 cycles", "kvm-clock", "note", None, 5 * 10**9, 5 * 10**9),
        ("kvm-clock: Using msrs 4b564d01 and 4b564d00", "kvm-clock", "note", None, None, None),
        ("hrtimer: interrupt took 12345678 ns", "slow interrupt", "risk", None, None, 12_345_678),
        ("rcu: INFO: rcu_sched self-detected stall on CPU", "complaint", "risk", None, None, None),
    ],
)  # fmt: skip
def test_messages(
    line: str, kind: str, level: str, suspect: str | None, cycles: int | None, time_ns: int | None
) -> None:
    found = one(f"<4>[   12.345678] {line}\r\n")
    assert (found.kind, found.level, found.suspect) == (kind, level, suspect)
    assert (found.cycles, found.time_ns) == (cycles, time_ns)
    assert found.text.endswith(line)


def test_times_of_the_tsc_need_its_frequency() -> None:
    found = explain(
        [
            "tsc: Detected 2000.000 MHz TSC",
            "Measured 1500 cycles TSC warp between CPUs, turning off TSC clock.",
        ]
    )
    assert found[-1].time_ns == -750


def test_a_fall_back_from_the_tsc() -> None:
    found = explain([f"clocksource: Switched to clocksource {name}" for name in ("tsc-early", "tsc", "hpet")])
    assert [each.level for each in found] == [Level.NOTE, Level.NOTE, Level.RISK]
    assert found[-1].suspect == "tsc"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "      timekeeping: Your kernel is still fine, but is feeling a bit nervous",
        "clocksource: via1: mask: 0xffffffff max_cycles: 0xffffffff, max_idle_ns: 2439823343689 ns",
        "sched_clock: Marking stable (123, 45)->(6, 7)",
        "Kernel panic - not syncing: Attempted to kill init!",
    ],
)
def test_anything_else_is_passed_over(line: str) -> None:
    assert explain([line]) == []


@given(st.lists(st.text("01 '()-:.,acdeknopsrtuw#%CFOTM", max_size=60), max_size=5))
def test_survives_any_text(lines: list[str]) -> None:
    explain(lines)


@given(st.integers(1_000, 10**10), st.sampled_from([24, 32, 64]))
def test_frequency_from_the_registration_message(hz: int, bits: int) -> None:
    """max_cycles and max_idle_ns as the kernel computes them, for a multiplier of 30 bits."""
    shift = (10**9 << 62) // hz
    scale = max(0, shift.bit_length() - 30)
    mult = shift >> scale
    adjust = mult * 11 // 100
    max_cycles = min((2**64 - 1) // (mult + adjust), 2**bits - 1)
    idle_ns = (max_cycles * (mult - adjust) >> (62 - scale)) // 2
    if idle_ns > 10**7:
        found = registered_hz(max_cycles, idle_ns)
        assert found is not None
        assert abs(found / hz - 1) < Fraction(1, 10**6)


def test_signed_is_the_nearest() -> None:
    assert [signed(value, 0xFF) for value in (0, 1, 127, 128, 255, 256)] == [0, 1, 127, -128, -1, 0]


def test_what_is_not_known() -> None:
    known = Known()
    assert known.of("nothing").wrap_ns() is None
    assert known.time_ns("nothing", 5) is None
    assert registered_hz(5, 0) is None


def test_json_and_suspects() -> None:
    found = explain([OFFSET.format(4_294_966_426), LOCKUP.format(5107), "hrtimer: interrupt took 5 ns"])
    assert suspects(found) == {"via1": 2}
    document = as_json(found)
    assert json.loads(json.dumps(document)) == document
    assert (document["good"], document["exit_status"]) == (False, 1)
    assert as_json(explain(["hrtimer: interrupt took 5 ns"]))["good"]
