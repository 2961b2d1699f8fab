"""Machines that go on from a file: their future is that of the machine that was not stopped, to the byte."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from guestclock.chips.z8530 import CHANNEL_A
from guestclock.errors import BadInputError
from guestclock.experiments.boot import Boot, bundled, own
from guestclock.experiments.run import Overseer, Run, RunPlan, SnapshotOrder, resume, run
from guestclock.experiments.session import set_up
from guestclock.experiments.snapshot import Snapshot, resumed, take
from guestclock.experiments.snapshot_file import load, save
from guestclock.guests.orders import CLOCKPROBE, parse_phases
from guestclock.verdict import judge

from . import guests

# Uncompiled, a second of guest time takes minutes; the parts have tests of their own on both builds.
pytestmark = pytest.mark.compiled_only

NS_PER_MS = 1_000_000
STALLED = "every=50ms,for=35ms"
PLANS = {
    "phi2": RunPlan(pacing="virtual", ram_mib=4, bus="phi2"),
    "fast": RunPlan(pacing="virtual", ram_mib=4, bus="fast"),
    "qemu-7.2": RunPlan(chip="qemu-7.2", pacing="virtual", ram_mib=4),
    "series-2021": RunPlan(chip="series-2021", pacing="virtual", ram_mib=4),
    "host": RunPlan(pacing="host", host="simulated", stall=STALLED, ram_mib=4),
    "paced": RunPlan(pacing="paced", host="simulated", stall=STALLED, ram_mib=4),
    "random": RunPlan(pacing="paced", host="simulated", stall="random,every=50ms,for=5ms", seed=3, ram_mib=4),
}
PHASES = "calls:300,lines:1,hunt:1,idle:1"
AT_MS = (1, 350, 1500, 2400)


def clockprobe(phases: str = PHASES) -> Boot:
    return bundled(CLOCKPROBE, parse_phases(phases, CLOCKPROBE))


@cache
def whole(name: str) -> Run:
    return run(PLANS[name], clockprobe())


def written(ran: Run, folder: Path) -> dict[str, bytes]:
    ran.save(folder)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def ordered(path: Path, at_ms: int) -> SnapshotOrder:
    return SnapshotOrder(at_ms * NS_PER_MS, path)


@pytest.mark.parametrize("at_ms", AT_MS)
@pytest.mark.parametrize("name", ["phi2", "fast", "qemu-7.2", "host", "paced"])
def test_the_future_is_the_same(name: str, at_ms: int, tmp_path: Path) -> None:
    expected = written(whole(name), tmp_path / "whole")
    file = tmp_path / "machine"
    kept = run(PLANS[name], clockprobe(), order=ordered(file, at_ms))
    assert kept.kept
    assert written(kept, tmp_path / "kept") == expected
    assert written(resume(load(file)), tmp_path / "resumed") == expected


def test_a_machine_may_be_kept_again_and_again(tmp_path: Path) -> None:
    file = tmp_path / "machine"
    run(PLANS["phi2"], clockprobe(), order=ordered(file, AT_MS[0]))
    for at_ms in AT_MS[1:]:
        resume(load(file), order=ordered(file, at_ms))
    assert written(resume(load(file)), tmp_path / "a") == written(whole("phi2"), tmp_path / "b")


def paused(plan: RunPlan, at_ms: int, *, typed: bytes = b"", phases: str = PHASES) -> Snapshot:
    with set_up(plan, clockprobe(phases)) as session:
        assert Overseer(session).go(lambda pacer: pacer.guest_ns >= at_ms * NS_PER_MS)
        session.machine.bus.receive(CHANNEL_A, typed)
        return take(session)


@pytest.mark.parametrize("name", PLANS)
def test_what_was_put_back_is_what_was_taken(name: str, tmp_path: Path) -> None:
    taken = paused(PLANS[name], 700, typed=b"waits on the line")
    save(taken, tmp_path / "one")
    with resumed(load(tmp_path / "one")) as session:
        again = take(session)
    assert again.stood_still_ns == (taken.guest_ns,)
    save(replace(again, stood_still_ns=()), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert again.machine["board"]["scc"].a.fifo + again.machine["board"]["scc"].a.line == b"waits on the line"


def test_another_process_goes_on(tmp_path: Path) -> None:
    expected = written(whole("qemu-7.2"), tmp_path / "whole")
    file, kept = tmp_path / "machine", tmp_path / "kept"
    save(paused(PLANS["qemu-7.2"], 500), file)
    program = "from guestclock.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", program, "run", "--restore", file, "--save", kept, "--json"],
        check=False,
        capture_output=True,
        timeout=60,
    )
    document = json.loads(ended.stdout)
    assert ended.returncode == document["exit_status"] == judge(whole("qemu-7.2").tables).exit_status
    assert {path.name: path.read_bytes() for path in sorted(kept.iterdir())} == expected


def test_a_guest_that_says_nothing_is_given_up_when_it_would_have_been(tmp_path: Path) -> None:
    kernel = guests.kernel(tmp_path / "kernel", guests.say("here\nand then") + guests.SPIN)
    plan = RunPlan(pacing="virtual", ram_mib=4, silence_s=2)
    file = tmp_path / "machine"
    expected = run(plan, own(kernel, None, ""), order=ordered(file, 1000))
    assert expected.tables.meta["ended"] == "watchdog"
    assert expected.console == b"here\nand then"
    assert written(resume(load(file)), tmp_path / "a") == written(expected, tmp_path / "b")


@pytest.mark.parametrize("pacing", ["paced", "host"])
def test_a_real_hosts_time_stands_still(pacing: str, tmp_path: Path) -> None:
    """The clock goes on from what it showed, however long the file lay there."""
    plan = RunPlan(pacing=pacing, ram_mib=4)
    taken = paused(plan, 200, phases="hunt:1")
    save(taken, tmp_path / "machine")
    shown_ns = taken.machine["board"]["pacer"]["host"]["shown_ns"]
    with resumed(load(tmp_path / "machine")) as session:
        assert session.host is not None
        assert shown_ns <= session.host.read_ns(0) < shown_ns + 60_000 * NS_PER_MS
        assert session.start_s == taken.start_s
    ran = resume(load(tmp_path / "machine"))
    verdict = judge(ran.tables)
    assert ran.tables.meta["ended"] == "done"
    assert ran.tables.meta["stood_still_ns"] == [taken.guest_ns]
    if pacing == "paced":
        assert verdict.monotonicity.backward.count == verdict.ticks.lost == 0


# Files.


def test_the_file_is_the_same_for_the_same_state_and_leaves_zeros_out(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(paused(PLANS["phi2"], 300), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").stat().st_size < 100_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_guest_that_ends_before_leaves_no_file(tmp_path: Path) -> None:
    ran = run(PLANS["phi2"], clockprobe("idle:1"), order=ordered(tmp_path / "machine", 60_000))
    assert not ran.kept
    assert not (tmp_path / "machine").exists()


def test_no_snapshot_of_the_past(tmp_path: Path) -> None:
    taken = paused(PLANS["phi2"], 500)
    with pytest.raises(BadInputError, match=r"a snapshot at 0.1 s: this machine stands at 0\.5\d\d s"):
        resume(taken, order=ordered(tmp_path / "machine", 100))


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """Change an archive's members, with checksums that are right."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def header(**changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        members["guestclock.json"] = json.dumps(json.loads(members["guestclock.json"]) | changes).encode()

    return change


def dropped(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.__delitem__(name)


def emptied(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.__setitem__(name, b"")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (header(format="guestclock tables"), "not a snapshot"),
        (header(version=2), "a snapshot of version 2, this guestclock reads 1"),
        (header(cpu="1.0"), "the CPU of unicorn 1.0, this is that of unicorn"),
        (header(plan={"pacing": "sideways"}), "pacing 'sideways'"),
        (header(plan={"colour": "red"}), "damaged"),
        (header(boot={"kernel": "/nowhere"}), "/nowhere: No such file"),
        (header(plan={"ram_mib": 0}), "0 MiB of memory"),
        (dropped("memory.bin"), "damaged"),
        (dropped("guestclock.json"), "damaged"),
        (emptied("guestclock.json"), "damaged"),
        (emptied("probes.npy"), "damaged"),
        (emptied("memory.bin"), "memory.bin is not the pages of pages.npy"),
    ],
)
def test_wrong_files_are_refused(
    change: Callable[[dict[str, bytes]], None], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "machine"
    save(paused(PLANS["phi2"], 20), file)
    rewritten(file, change)
    with pytest.raises(BadInputError, match=message) as refused:
        load(file)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(f"{file}: ")


def test_a_state_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    taken = paused(PLANS["phi2"], 20)
    other = replace(taken, plan=PLANS["qemu-7.2"])
    with pytest.raises(BadInputError, match="this state is of another machine"):
        resume(other)


def test_damage_is_found_wherever_it_is(tmp_path: Path) -> None:
    file = tmp_path / "machine"
    save(paused(PLANS["phi2"], 20), file)
    good = file.read_bytes()
    unharmed = []
    for place in range(0, len(good), 97):
        file.write_bytes(good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :])
        try:
            load(file)
        except BadInputError:
            continue
        unharmed.append(place)
    # Dates and attributes of members, which nobody reads, may change.
    assert len(unharmed) < len(good) / 97 / 10
    for length in range(0, len(good), 1009):
        file.write_bytes(good[:length])
        with pytest.raises(BadInputError):
            load(file)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    taken = paused(PLANS["phi2"], 20)
    (tmp_path / "file").touch()
    with pytest.raises(BadInputError, match="file/machine: cannot be written"):
        save(taken, tmp_path / "file" / "machine")
