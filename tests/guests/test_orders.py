"""The ``phases=`` word."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from guestclock.errors import BadInputError
from guestclock.guests.orders import (
    BOTH,
    CLOCKPROBE,
    LARGEST_AMOUNT,
    LINUX,
    LONGEST_WORD,
    PHASES,
    Phase,
    default_phases,
    parse_phases,
    phases_word,
)

PHASE_LISTS = st.lists(
    st.builds(Phase, st.sampled_from(sorted(PHASES)), st.integers(0, LARGEST_AMOUNT)), min_size=1, max_size=6
)


@given(PHASE_LISTS)
def test_what_is_written_is_read(phases: list[Phase]) -> None:
    guest = next((g for g in sorted(BOTH) if all(g in PHASES[phase.name] for phase in phases)), None)
    text = phases_word(phases).removeprefix("phases=")
    if guest is None:
        with pytest.raises(BadInputError, match="does not know it"):
            parse_phases(text, LINUX)
    else:
        assert parse_phases(text, guest) == tuple(phases)


@pytest.mark.parametrize(
    ("text", "guest", "message"),
    [
        ("", LINUX, "there is no phase ''"),
        ("calls:10,", LINUX, "there is no phase ''"),
        ("hunt:2,sleep:3", LINUX, "phase 'sleep:3': there is no phase 'sleep'"),
        ("hunt", LINUX, "phase 'hunt': needs a whole number after the colon, like hunt:2"),
        ("hunt:-2", LINUX, "phase 'hunt:-2': needs a whole number"),
        ("hunt:1.5", LINUX, "phase 'hunt:1.5': needs a whole number"),
        ("hunt:\u0662", LINUX, "needs a whole number"),
        ("calls:4294967296", CLOCKPROBE, "at most 4294967295"),
        ("calls:" + "9" * 170, CLOCKPROBE, "at most 4294967295"),
        ("masked:20", LINUX, "the guest linux does not know it"),
        ("user:0", CLOCKPROBE, "the guest clockprobe does not know it"),
        ("hunt:1," * 100, LINUX, f"a guest takes at most {LONGEST_WORD}"),
    ],
)
def test_bad_orders(text: str, guest: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message) as raised:
        parse_phases(text, guest)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 250


@given(st.integers(0, 10**6), st.integers(0, LARGEST_AMOUNT))
def test_a_plan_spends_what_it_is_given(seconds: int, calls: int) -> None:
    assume(seconds or calls)
    plan = default_phases(seconds, calls)
    assert sum(phase.amount for phase in plan if phase.name != "calls") == seconds
    assert sum(phase.amount for phase in plan if phase.name == "calls") == calls
    assert all(phase.amount for phase in plan)


@pytest.mark.parametrize(("seconds", "calls"), [(-1, 5), (5, -1)])
def test_negative_plans(seconds: int, calls: int) -> None:
    with pytest.raises(BadInputError, match="neither may be negative"):
        default_phases(seconds, calls)


def test_a_plan_with_nothing_to_do_or_more_than_a_guest_can_count_is_refused() -> None:
    with pytest.raises(BadInputError, match="nothing to do"):
        default_phases(0, 0)
    with pytest.raises(BadInputError, match="at most 4294967295"):
        default_phases(0, 2**32)
