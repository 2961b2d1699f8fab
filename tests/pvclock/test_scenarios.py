"""Every known reader fault: what it says, what is right, each by an expression of its own."""

import pytest

from guestclock.pvclock.scenarios import Scenario, scenarios

U64 = 1 << 64
SECOND = 1_000_000_000
FOUND = {scenario.name: scenario for scenario in scenarios()}
WITHIN = 2  # ns: a page's own rounding over seconds

EXPECTED: dict[str, tuple[float | None, float | None]] = {
    "negative-delta": (U64 - 1, 0),
    "negative-system-time": (U64 - 70, 0),
    "odd-version": (0, SECOND),  # new base, old time: the second since the last update is lost
    "torn-read": (2 * SECOND, SECOND),  # old base, new time: it is counted twice
    "never-written": (0, None),
    "product-64-bits": (5 * SECOND - (1 << 32), 5 * SECOND),
    "left-shift-32-bits": (3 * SECOND - 10 * (1 << 28), 3 * SECOND),  # 2^28 ticks of 10 ns
    "set-clock-rewinds": (-25_000, 0),
    "pages-apart": (-130, 0),
    "cycles-times-1e9": (10 * SECOND - U64 / 2.3e9, 10 * SECOND),
    "masked-wrap": (32 / 3.579545e-3 - (1 << 24) / 3.579545e-3, 32 / 3.579545e-3),
    "watchdog-wrong": ((1 << 24) / 3.579545e-3, 0),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_read_and_what_is_right(name: str) -> None:
    for value, expected in zip((FOUND[name].wrong_ns, FOUND[name].right_ns), EXPECTED[name], strict=True):
        assert (value is None) == (expected is None)
        if value is not None and expected is not None:
            assert abs(value - expected) <= WITHIN


def test_a_frequency_in_khz_is_wrong_by_up_to_0_4_ppm() -> None:
    fault = FOUND["khz-not-hz"]
    assert fault.wrong_ns is not None
    assert fault.right_ns is not None
    day_ns = 86_400 * SECOND
    assert (fault.wrong_ns - fault.right_ns) / day_ns * 1e6 == pytest.approx(999 / 2300, rel=1e-2)
    assert abs(fault.right_ns) / day_ns < 1e-9


def test_every_fault_is_listed_once_and_shows() -> None:
    assert len(FOUND) == len(scenarios())
    assert set(FOUND) == set(EXPECTED) | {"khz-not-hz"}
    for fault in FOUND.values():
        assert isinstance(fault, Scenario)
        assert fault.wrong_ns != fault.right_ns
        assert fault.cause
        assert fault.case
