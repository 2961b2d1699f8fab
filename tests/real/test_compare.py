"""Comparisons with a real QEMU."""

import os
from pathlib import Path

import pytest

from guestclock.experiments.compare.document import as_json
from guestclock.experiments.compare.events import parse_event
from guestclock.experiments.compare.rounds import compare
from guestclock.experiments.compare.rows import Wanted, rows
from guestclock.guests.orders import LINUX, parse_phases
from guestclock.linux.cache import GuestImage, default_cache_dir
from guestclock.linux.userland import build_userland
from guestclock.qemu.binary import Binary, open_binary

pytestmark = pytest.mark.real

WRAP_NS = round(2**32 / 783_360 * 1e9)


@pytest.fixture(scope="module")
def qemu() -> Binary:
    return open_binary()


def children() -> str:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()


def test_under_icount_the_fault_is_the_same_in_every_run(qemu: Binary) -> None:
    wanted = Wanted(parse_phases("hunt:1", "clockprobe"), binaries=(qemu,), icounts=(3,))
    document = as_json(compare(rows(wanted)[2:], 2))
    (row,) = document["rows"]
    backward = row["figures"]["backward_steps"]
    assert backward["min"] == backward["max"] > 50
    worst = row["figures"]["backward_worst_ns"]
    assert worst["min"] == worst["max"]
    # A step back by less than a tick is an advance by all but that of 2^32 cycles; then the clock returns.
    assert worst["min"] == pytest.approx(-WRAP_NS, abs=20_000_000)


def test_linux_on_a_loaded_host(qemu: Binary, linux_guest: GuestImage) -> None:
    wanted = Wanted(parse_phases("calls:500000,hunt:4", LINUX), guest=LINUX, binaries=(qemu,), loads=(3,))
    document = as_json(compare(rows(wanted), 1))
    ours, theirs = document["rows"]
    assert ours["sound"], ours
    assert theirs["ended"] == ["done"]
    figures = theirs["figures"]
    for figure in ("real_s", "system_s", "call_ns", "call_ratio", "boot_shutdown_s", "host_cpu_s"):
        assert figures[figure]["median"] > 0
    assert not children()


def test_linux_on_a_host_that_stops_it_for_many_ticks(qemu: Binary, linux_guest: GuestImage) -> None:
    """How a busy host disturbs QEMU is chance; a schedule of SIGSTOP is not."""
    stalls = ("every=200ms,for=150ms",)
    wanted = Wanted(parse_phases("hunt:3", LINUX), guest=LINUX, binaries=(qemu,), stalls=stalls)
    document = as_json(compare(rows(wanted), 1))
    ours, theirs = document["rows"]
    assert ours["sound"], ours
    assert theirs["ended"] == ["done"]
    figures = theirs["figures"]
    assert figures["late_acknowledges"]["median"] > 0
    assert figures["lost_ticks"]["median"] > 0
    assert figures["drift_ns"]["median"] < -10_000_000
    assert not children()


@pytest.mark.parametrize("event", ["stop=1s", "sigstop=1s", "savevm=1s"])
def test_events_put_qemus_clock_back(qemu: Binary, event: str) -> None:
    wanted = Wanted(parse_phases("idle:5", "clockprobe"), binaries=(qemu,), event=parse_event(event))
    document = as_json(compare(rows(wanted)[-1:], 1))
    (row,) = document["rows"]
    assert row["ended"] == ["done"]
    # Behind by the second; how much longer the host took to stop it and to let it go is chance.
    assert -4e9 < row["figures"]["event_moved_ns"]["median"] < -0.9e9
    assert not children()


@pytest.mark.parametrize("pacing", ["paced", "host"])
def test_our_machine_goes_back_into_its_snapshot(pacing: str) -> None:
    wanted = Wanted(parse_phases("idle:6", "clockprobe"), pacings=(pacing,), event=parse_event("savevm=1s"))
    (row,) = as_json(compare(rows(wanted), 1))["rows"]
    assert row["ended"] == ["done"]
    if pacing == "paced":
        assert row["sound"], row
    # Behind by the second, and by what keeping and taking out took, in which the guest did not run either.
    assert -3e9 < row["figures"]["event_moved_ns"]["median"] < -0.99e9
    assert not children()


def test_sigstop_stops_our_machine_and_its_clock_comes_back() -> None:
    wanted = Wanted(parse_phases("idle:6", "clockprobe"), event=parse_event("sigstop=1s"))
    document = as_json(compare(rows(wanted), 1))
    (row,) = document["rows"]
    assert row["sound"], row
    assert abs(row["figures"]["event_moved_ns"]["median"]) < 20_000_000
    assert not children()


def test_linux_boots_to_a_prompt_and_shuts_down(qemu: Binary, linux_guest: GuestImage) -> None:
    """Fetches Debian's source of BusyBox and builds it, in the user's cache, where the next run finds it."""
    build_userland(default_cache_dir())
    document = as_json(compare(rows(Wanted((), binaries=(qemu,), userland=True)), 1))
    for row in document["rows"]:
        assert row["ended"] == ["done"]
        # BusyBox's init gives processes a second to end, and another to be killed.
        assert 2 < row["figures"]["boot_shutdown_s"]["median"] < 30
