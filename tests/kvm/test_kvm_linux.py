"""`guestclock kvm --linux`: what the guest tells becomes tables; what goes wrong is named."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from guestclock.cli import kvm as command
from guestclock.errors import BadInputError, UnavailableError
from guestclock.experiments import kvm_linux, kvm_linux_document
from guestclock.experiments.kvm_linux import GuestFailedError, LinuxGuest, LinuxPlan
from guestclock.kvm import microvm
from guestclock.qemu.binary import Binary
from guestclock.qemu.process import Piece
from guestclock.report.clock_table import show_linux

HELLO = "@gc hello version=1 guest=linux-x86 kernel=6.1.0-57-cloud-amd64 clock=tsc cpus=2"


def cost(clocksource: str, clock: str, way: str, *batches_ns: int) -> str:
    listed = ",".join(map(str, batches_ns))
    return f"@gc cost clocksource={clocksource} clock={clock} way={way} reads=100 batches_ns={listed}"


def warp(clocksource: str, clock: str, cpu: int, steps: int = 0, worst_ns: int = 0) -> str:
    return (
        f"@gc warp clocksource={clocksource} clock={clock} cpu={cpu} reads=1000 steps={steps}"
        f" least_ns={worst_ns} worst_ns={worst_ns} sum_ns={steps * worst_ns}"
        " ahead_sum_ns=90000 ahead_least_ns=20 ahead_most_ns=900"
    )


def looks(clocksource: str) -> list[str]:
    return [f"@gc look clocksource={clocksource} mono_ns={mono}" for mono in (10**9, 2 * 10**9, 3 * 10**9)]


STORY = [
    "[    0.1] Linux version 6.1",
    HELLO,
    "@gc using clocksource=tsc ok=1",
    cost("tsc", "CLOCK_MONOTONIC", "library", 2_500, 2_600, 9_000),
    cost("tsc", "CLOCK_MONOTONIC", "syscall", 25_000, 25_500, 25_400),
    warp("tsc", "CLOCK_MONOTONIC", 0),
    warp("tsc", "CLOCK_MONOTONIC", 1),
    *looks("tsc"),
    "@gc using clocksource=hpet ok=1",
    cost("hpet", "CLOCK_MONOTONIC", "library", 101_000, 102_000, 103_000),
    cost("hpet", "CLOCK_MONOTONIC", "syscall", 100_000, 100_500, 100_400),
    "@gc using clocksource=acpi_pm ok=0",
    "@gc bye",
]


def pieces(lines: list[str], step_ns: int = 10**9) -> Iterator[Piece]:
    """Each line in two pieces: its stamp is that of the first."""
    for number, line in enumerate(lines):
        raw = line.encode() + b"\r\n"
        yield Piece(number * step_ns, raw[:7])
        yield Piece(number * step_ns + step_ns // 2, raw[7:])


def told(lines: list[str], accelerator: str = "tcg") -> LinuxGuest:
    found = LinuxGuest(accelerator, "asked for", "QEMU 7.2")
    shares: list[float] = []
    kvm_linux.listen(found, pieces(lines), lambda _what, share: shares.append(share))
    assert all(0 <= share <= 1 for share in shares)
    return found


def test_the_table_has_every_clock_under_every_clocksource() -> None:
    document = kvm_linux_document.as_json(told(STORY))
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    tsc, hpet, acpi_pm = document["clocksources"]
    assert (tsc["clocksource"], tsc["taken"], acpi_pm["taken"]) == ("tsc", True, False)
    (row,) = tsc["clocks"]
    assert (row["min_ns"], row["median_ns"], row["p99_ns"], row["system_call_ns"]) == (
        25.0,
        26.0,
        90.0,
        250.0,
    )
    assert (row["enters_kernel"], hpet["clocks"][0]["enters_kernel"]) == (False, True)
    assert (row["comparisons"], row["backward_steps"]) == (2000, 0)
    assert tsc["drift"]["rate_ppm"] == pytest.approx(0.0)
    assert (tsc["stability"]["points"], tsc["stability"]["mtie_1s_ns"]) == (3, 0)
    assert acpi_pm["stability"] is None
    assert (document["good"], document["exit_status"], document["damaged_lines"]) == (True, 0, 0)


def test_drift_is_against_the_stamps() -> None:
    found = LinuxGuest("tcg", "", "")
    kvm_linux.listen(found, pieces(STORY, step_ns=10**9 + 100_000), lambda _what, _share: None)
    drift = kvm_linux_document.as_json(found)["clocksources"][0]["drift"]
    assert drift["rate_ppm"] == pytest.approx(-100.0, rel=1e-3)


def test_a_step_is_a_fault() -> None:
    story = [*STORY[:5], warp("tsc", "CLOCK_MONOTONIC", 0, steps=3, worst_ns=40), *STORY[5:]]
    document = kvm_linux_document.as_json(told(story))
    assert document["faults"] == ["tsc CLOCK_MONOTONIC went back 3 times, worst −40 ns."]
    assert document["exit_status"] == 1


def test_damaged_lines_are_counted() -> None:
    assert told([HELLO, "@gc look clocksource=tsc mono_ns=1[ 3.0] noise", "@gc bye"]).damaged == 1


@pytest.mark.parametrize("width", [80, 160])
def test_a_person_can_read_it(width: int) -> None:
    console = Console(width=width, record=True)
    found = told(STORY)
    found.why = "no KVM here"
    show_linux(console, kvm_linux_document.as_json(found))
    text = console.export_text()
    assert "Linux 6.1.0-57-cloud-amd64 under emulation (TCG), without KVM" in text
    assert "No KVM: no KVM here." in text
    assert "clocksource acpi_pm: the kernel did not take it" in text
    assert "…" not in text


def test_a_guest_that_ends_early_shows_its_last_lines() -> None:
    with pytest.raises(GuestFailedError, match=r"(?s)ended before it was done.*Kernel panic - not syncing"):
        told([HELLO, "Kernel panic - not syncing: no init"])


def silent(lines: list[str]) -> Iterator[Piece]:
    yield from pieces(lines)
    raise TimeoutError("no sign of life for 60 s")


def test_a_guest_that_falls_silent_is_told() -> None:
    found = LinuxGuest("tcg", "", "")
    with pytest.raises(
        GuestFailedError, match=r"(?s)fell silent \(no sign of life for 60 s\).*hello"
    ) as error:
        kvm_linux.listen(found, silent([HELLO]), lambda _what, _share: None)
    assert error.value.exit_status == 1


def test_a_kvm_that_never_says_a_word_cannot_run_a_kernel() -> None:
    found = LinuxGuest("kvm", "", "")
    with pytest.raises(UnavailableError, match="this KVM brings no Linux kernel to its first line") as error:
        kvm_linux.listen(found, silent(["early"]), lambda _what, _share: None)
    assert error.value.exit_status == 4


# ---- which accelerator ----------------------------------------------------------------------------------


def interpreted(_device: Path) -> None:
    raise UnavailableError("this KVM interprets kernel code")


@pytest.mark.parametrize(("asked", "works", "chosen"), [
    ("auto", True, "kvm"), ("kvm", True, "kvm"), ("auto", False, "tcg"), ("tcg", True, "tcg"),
])  # fmt: skip
def test_kvm_is_taken_where_it_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: str, works: bool, chosen: str
) -> None:
    check = (lambda _device: None) if works else interpreted
    monkeypatch.setattr(microvm, "check_kernel_code", check)
    accelerator, why = kvm_linux.choose_accelerator(LinuxPlan(tmp_path, asked))
    assert accelerator == chosen
    assert ("interprets kernel code" in why) == (asked == "auto" and not works)


def test_a_kvm_that_was_asked_for_and_cannot_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(microvm, "check_kernel_code", interpreted)
    with pytest.raises(UnavailableError, match="interprets kernel code"):
        kvm_linux.choose_accelerator(LinuxPlan(tmp_path, "kvm"))


def test_kernel_code_that_is_interpreted_is_told(
    monkeypatch: pytest.MonkeyPatch, vm: microvm.MicroVm
) -> None:
    monkeypatch.setattr(microvm, "NATIVE_CYCLES_PER_TURN", 0)
    with pytest.raises(UnavailableError, match=r"interprets kernel code \([0-9,]+ cycles for an empty turn"):
        microvm.check_kernel_code(vm.device)
    monkeypatch.setattr(microvm, "NATIVE_CYCLES_PER_TURN", 10**9)
    microvm.check_kernel_code(vm.device)


@pytest.mark.parametrize("arguments", [{"accelerator": "hvf"}, {"cpus": 0}, {"cpus": 9}])
def test_what_no_guest_can_be_given_is_refused(tmp_path: Path, arguments: dict[str, str]) -> None:
    with pytest.raises(BadInputError, match=r"--accel hvf|--cpus"):
        LinuxPlan(tmp_path, **arguments)  # type: ignore[arg-type]


def test_the_command_says_how_to_build_the_guest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(command.kvm)
    monkeypatch.setattr(kvm_linux, "open_binary", lambda *_, **__: Binary("qemu", "7.2"))
    monkeypatch.setattr("guestclock.linux.x86.BOOT", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    result = CliRunner().invoke(app, ["--linux", "--accel", "tcg"])
    assert isinstance(result.exception, BadInputError)
    assert "guestclock build-guest linux-x86" in str(result.exception)
