"""The pacings' promises, whatever the guest does and the host suffers."""

import json

from hypothesis import given
from hypothesis import strategies as st

from guestclock.timebase.host import RealHost, SimulatedHost
from guestclock.timebase.pacing import HostPacer, PacedPacer, Pacer, VirtualPacer
from guestclock.timebase.stalls import parse_stalls

# What a guest does next: run code, pay for a bus access, or stop until an event.
MOVES = st.lists(
    st.tuples(st.sampled_from(["code", "bus", "stop"]), st.integers(0, 100_000)), min_size=1, max_size=60
)
HOSTS = st.builds(
    lambda every_ns, for_ns, ps: SimulatedHost(
        parse_stalls(f"every={every_ns}ns,for={for_ns}ns"), ps_per_byte=ps
    ),
    st.integers(10**6, 10**8),
    st.integers(1, 10**8),
    st.integers(100, 20_000),
)


def play(pacer: Pacer, moves: list[tuple[str, int]], code_bytes: int = 0) -> list[tuple[str, int, int, int]]:
    """Return what was done, its amount, and guest time before and after."""
    done = []
    for move, amount in moves:
        before_ns = pacer.guest_ns
        if move == "code":
            code_bytes += amount
            pacer.step(code_bytes)
        elif move == "bus":
            pacer.charge(code_bytes, pacer.guest_ns + amount % 2600)
        else:
            pacer.idle(code_bytes, pacer.guest_ns + amount)
        done.append((move, amount, before_ns, pacer.guest_ns))
    return done


@given(HOSTS, MOVES)
def test_paced_never_passes_the_host_and_never_steps_further_than_its_code_carries(
    host: SimulatedHost, moves: list[tuple[str, int]]
) -> None:
    pacer = PacedPacer(host, ns_per_byte_max=100)
    code_bytes = 0
    for move, amount, before_ns, after_ns in play(pacer, moves):
        assert before_ns <= after_ns
        if move == "code":
            code_bytes += amount
            assert after_ns - before_ns <= amount * 100
        elif move == "bus":
            assert after_ns == before_ns + amount % 2600
        else:
            assert after_ns <= before_ns + amount
    assert pacer.guest_ns <= host.read_ns(code_bytes)


@given(HOSTS, st.integers(1, 10**7))
def test_paced_catches_up_after_a_stall_in_the_code_that_carries_it(
    host: SimulatedHost, stall_ns: int
) -> None:
    pacer = PacedPacer(host, ns_per_byte_max=100)
    host.pass_until(0, stall_ns)
    code_bytes = 0
    while pacer.step(code_bytes) < host.read_ns(code_bytes) and code_bytes < 10**8:
        code_bytes += 4096
    # Each byte brings guest time 100 ns on and host time at most 20, stalls apart.
    assert pacer.guest_ns <= host.read_ns(code_bytes)
    assert pacer.guest_ns >= min(stall_ns, (code_bytes - 4096) * 100)


@given(MOVES)
def test_virtual_time_is_code_plus_what_was_skipped(moves: list[tuple[str, int]]) -> None:
    pacer = VirtualPacer(ps_per_byte=16_000)
    done = play(pacer, moves)
    code_ns = sum(amount for move, amount, _, _ in done if move == "code") * 16
    skipped_ns = sum(after - before for move, _, before, after in done if move != "code")
    assert pacer.guest_ns == code_ns + skipped_ns
    assert pacer.host_ns == pacer.guest_ns


@given(MOVES, st.integers(0, 10**8))
def test_a_virtual_budget_ends_at_its_deadline(moves: list[tuple[str, int]], ahead_ns: int) -> None:
    pacer = VirtualPacer(ps_per_byte=16_000)
    play(pacer, moves)
    code_bytes = sum(amount for move, amount in moves if move == "code")
    deadline_ns = pacer.guest_ns + ahead_ns
    budget = pacer.budget(deadline_ns)
    if budget > 0:
        assert pacer.step(code_bytes + budget - 1) < deadline_ns
    if budget < 1 << 22:
        assert pacer.step(code_bytes + budget) >= deadline_ns


@given(HOSTS, MOVES)
def test_host_pacing_is_the_host(host: SimulatedHost, moves: list[tuple[str, int]]) -> None:
    pacer = HostPacer(host)
    for _, _, before_ns, after_ns in play(pacer, moves):
        assert after_ns >= before_ns
    code_bytes = sum(amount for move, amount in moves if move == "code")
    assert pacer.step(code_bytes) == host.read_ns(code_bytes)


PACERS = {
    "virtual": lambda _host: VirtualPacer(),
    "paced": PacedPacer,
    "host": HostPacer,
}


@given(st.sampled_from(list(PACERS)), st.integers(10**6, 10**8), st.integers(1, 10**8), MOVES, MOVES)
def test_a_pacer_put_back_goes_on_as_the_one_that_was_taken(
    name: str, every_ns: int, for_ns: int, before: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    def pacer() -> Pacer:
        return PACERS[name](SimulatedHost(parse_stalls(f"every={every_ns}ns,for={for_ns}ns"), look_ns=50))

    whole, first, second = pacer(), pacer(), pacer()
    expected = play(whole, [*before, *after])
    played = play(first, before)
    code_bytes = sum(amount for move, amount in before if move == "code")
    second.restore(json.loads(json.dumps(first.snapshot())))
    assert [*played, *play(second, after, code_bytes)] == expected
    assert second.snapshot() == whole.snapshot()


def test_a_real_hosts_clock_goes_on_from_what_it_showed() -> None:
    host = RealHost()
    shown_ns = 10**15
    host.restore(host.snapshot() | {"shown_ns": shown_ns})
    assert shown_ns <= host.read_ns(0) < shown_ns + 60 * 10**9
    other = RealHost(parse_stalls("at=1ms,for=1ms"))
    other.restore({"suffered": [[2_000_000, 1_000_000]], "shown_ns": shown_ns})
    other.read_ns(0)
    assert other.suffered == [(2_000_000, 1_000_000)]
