"""The notation of stall schedules, and what the host clocks make of them."""

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestclock.errors import BadInputError
from guestclock.timebase.host import RealHost, SimulatedHost
from guestclock.timebase.stalls import parse_duration_ns, parse_stalls, periodic, stalls_text

MS = 1_000_000


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("35ms", 35 * MS),
        ("1.5s", 1_500 * MS),
        ("200us", 200_000),
        ("200µs", 200_000),
        ("7ns", 7),
        ("0.25ms", 250_000),
    ],
)
def test_durations(text: str, ns: int) -> None:
    assert parse_duration_ns(text) == ns


@pytest.mark.parametrize("text", ["", "35", "-1s", "1e3s", "1.s", "5 minutes"])
def test_what_is_not_a_duration_says_what_is(text: str) -> None:
    with pytest.raises(BadInputError, match=r"give a number and a unit"):
        parse_duration_ns(text)


def first(text: str, n: int = 4) -> list[tuple[int, int]]:
    return list(islice(parse_stalls(text), n))


def test_schedules() -> None:
    assert list(islice(periodic(7, 50, 35), 4)) == [(at, 35) for at in (7, 57, 107, 157)]
    assert list(islice(periodic(7, 50, 50), 4)) == [(at, 50) for at in (7, 107, 207, 307)]
    assert list(islice(periodic(7, 50, 120), 4)) == [(at, 120) for at in (7, 157, 307, 457)]
    assert first("at=5s,for=10s") == [(5_000 * MS, 10_000 * MS)]


@given(st.integers(0, 2**32))
def test_an_even_schedule_begins_where_the_seed_says(seed: int) -> None:
    stalls = list(islice(parse_stalls("every=50ms,for=35ms", seed), 50))
    assert stalls == list(islice(parse_stalls("every=50ms,for=35ms", seed), 50))
    (begin_ns, _), *_ = stalls
    assert 0 < begin_ns <= 50 * MS
    assert stalls == [(begin_ns + 50 * MS * number, 35 * MS) for number in range(50)]


def test_even_schedules_of_different_seeds_begin_at_different_times() -> None:
    assert len({next(parse_stalls("every=50ms,for=35ms", seed)) for seed in range(100)}) > 90


@given(st.integers(0, 2**32), st.integers(1, 10**9), st.integers(1, 10**9))
def test_random_schedules_repeat_and_never_overlap(seed: int, every_ns: int, for_ns: int) -> None:
    text = f"random={seed},every={every_ns}ns,for={for_ns}ns"
    stalls = first(text, 50)
    assert stalls == first(text, 50)
    ends = [at_ns + length_ns for at_ns, length_ns in stalls]
    assert all(end_ns < at_ns for end_ns, (at_ns, _) in zip(ends, stalls[1:], strict=False))


@pytest.mark.parametrize(
    "text",
    ["bogus", "every=50ms", "for=1s", "evry=50ms,for=1ms", "every=0ms,for=1ms", "random=x,every=1s,for=1s"],
)
def test_an_unknown_schedule_says_what_to_write(text: str) -> None:
    with pytest.raises(BadInputError, match="stall"):
        parse_stalls(text)


def test_a_list_of_stalls_in_one_word() -> None:
    assert first("at=1s,for=20ms+at=5s,for=10s") == [(10**9, 2 * 10**7), (5 * 10**9, 10**10)]
    with pytest.raises(BadInputError, match=r"'at=1500us,for=1ms' begins in the one before"):
        parse_stalls("at=1ms,for=1ms+at=1500us,for=1ms")
    with pytest.raises(BadInputError, match=r"only stalls such as at=5s,for=10s are joined by \+"):
        parse_stalls("at=1ms,for=1ms+every=5ms,for=1ms")


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(1, 2**40)), min_size=1, max_size=10))
def test_a_list_is_read_as_it_was_written(gaps: list[tuple[int, int]]) -> None:
    stalls = []
    end_ns = 0
    for gap_ns, for_ns in gaps:
        stalls.append((end_ns + gap_ns, for_ns))
        end_ns += gap_ns + for_ns
    assert list(parse_stalls(stalls_text(stalls))) == stalls


def test_recorded_list(tmp_path: Path) -> None:
    path = tmp_path / "stalls"
    path.write_text("# at for\n5 10\n20 1 # last\n")
    assert first(f"file={path}") == [(5, 10), (20, 1)]
    path.write_text("5 10\n12 1\n")
    with pytest.raises(BadInputError, match=r"stalls:2: .* begins in the last one"):
        parse_stalls(f"file={path}")
    with pytest.raises(BadInputError, match="No such file"):
        parse_stalls(f"file={tmp_path / 'none'}")


def test_a_stall_delays_running_code_by_its_length_and_a_waiting_guest_only_as_far_as_it_lasts() -> None:
    running = SimulatedHost(parse_stalls("at=1us,for=5us"), ps_per_byte=1000)
    assert [running.read_ns(n) for n in (999, 1000, 2000)] == [999, 6000, 7000]
    waiting = SimulatedHost(parse_stalls("at=1us,for=5us"), ps_per_byte=1000)
    assert waiting.pass_until(500, 800) == 800
    assert waiting.pass_until(500, 2000) == 6000
    assert waiting.pass_until(500, 9000) == 9000
    assert waiting.suffered == [(1000, 5000)]


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 5000)), max_size=40),
    st.integers(1, 3000),
    st.integers(1, 3000),
)
def test_a_simulated_host_never_goes_back(moves: list[tuple[bool, int]], every_ns: int, for_ns: int) -> None:
    host = SimulatedHost(parse_stalls(f"every={every_ns}ns,for={for_ns}ns"), ps_per_byte=1500)
    code_bytes = last_ns = 0
    for waits, amount in moves:
        if waits:
            now_ns = host.pass_until(code_bytes, last_ns + amount)
            assert now_ns >= last_ns + amount
        else:
            code_bytes += amount
            now_ns = host.read_ns(code_bytes)
            assert now_ns >= last_ns + amount * 1500 // 1000 - 1
        assert now_ns >= last_ns
        last_ns = now_ns


def test_the_real_host_waits_and_stalls() -> None:
    host = RealHost(parse_stalls("at=1ms,for=3ms"))
    assert host.pass_until(0, 500_000) >= 500_000
    assert host.pass_until(0, 1_200_000) >= 4_000_000
    assert len(host.suffered) == 1
