"""``guestclock run``: bad input gets one line that names it and the way out; output and exit status."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from guestclock.cli import main
from guestclock.quadra.elf import load_elf
from guestclock.readings import load
from guestclock.report.json import to_json
from guestclock.verdict import judge

# A short run that is good, and the same every time.
QUICK = ("--pacing", "virtual", "--phases", "calls:200,idle:1", "--ram", "4")
CLOCKPROBE = Path(sys.modules["guestclock"].__file__ or "").parent / "guests/clockprobe/clockprobe.elf"


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def guestclock(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run the command line in this process; an exception that is none of its ends fails the test."""

    def command(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["guestclock", *words])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capfd.readouterr()
        status = end.value.code
        assert isinstance(status, int | None)
        return Ended(status or 0, captured.out, captured.err)

    return command


def refused(ended: Ended, *named: str) -> None:
    """Check that a command ended as bad input must, in words that name all of ``named``."""
    assert ended.status == 2, ended
    assert ended.out == ""
    assert "Traceback" not in ended.err
    text = " ".join(ended.err.replace("│", " ").split())
    for word in named:
        assert word in text, ended.err
    if ended.err.startswith("guestclock: "):
        assert ended.err.count("\n") == 1, "one line"


# Kernels and memory.


def changed(path: Path, at: int, value: bytes) -> Path:
    """Write clockprobe's ELF, or what is there already, with some bytes changed."""
    content = bytearray((path if path.exists() else CLOCKPROBE).read_bytes())
    content[at : at + len(value)] = value
    path.write_bytes(content)
    return path


def test_an_elf_of_another_architecture(guestclock: Command, tmp_path: Path) -> None:
    kernel = changed(tmp_path / "arm", 18, (40).to_bytes(2, "big"))
    refused(guestclock("run", "--kernel", str(kernel)), str(kernel), "m68k", "ARM", "byte 18")


def test_an_elf_of_this_host(guestclock: Command) -> None:
    refused(guestclock("run", "--kernel", sys.executable), sys.executable)


def test_no_elf_at_all(guestclock: Command, tmp_path: Path) -> None:
    for name, content in {"text": b"hello", "empty": b"", "vmlinux.gz": b"\x1f\x8b\x08rest"}.items():
        (tmp_path / name).write_bytes(content)
        refused(guestclock("run", "--kernel", str(tmp_path / name)), str(tmp_path / name))


def test_truncated_elfs(guestclock: Command, tmp_path: Path) -> None:
    content = CLOCKPROBE.read_bytes()
    ends = max(
        offset + len(segment.data) for offset, segment in _segments_in_file(content)
    )  # what lies behind is sections, which nobody needs
    kernel = tmp_path / "cut"
    for length in (4, 20, 51, 60, 84, 200, ends // 2, ends - 1):
        kernel.write_bytes(content[:length])
        refused(guestclock("run", "--kernel", str(kernel)), str(kernel))


def _segments_in_file(content: bytes) -> list[tuple[int, object]]:
    found = []
    for segment in load_elf(content, "clockprobe").segments:
        if segment.data:
            found.append((content.index(segment.data), segment))
    return found


def test_a_kernel_that_is_not_there_or_cannot_be_read(guestclock: Command, tmp_path: Path) -> None:
    refused(guestclock("run", "--kernel", str(tmp_path / "none")), str(tmp_path / "none"), "No such file")
    refused(guestclock("run", "--kernel", str(tmp_path)), str(tmp_path), "directory")


def test_an_initrd_larger_than_memory(guestclock: Command, tmp_path: Path) -> None:
    initrd = tmp_path / "big.initrd"
    initrd.write_bytes(b"")
    os.truncate(initrd, 5 << 20)
    ended = guestclock("run", "--kernel", str(CLOCKPROBE), "--initrd", str(initrd), "--ram", "4")
    refused(ended, str(initrd), "4 MiB", "at least 6 MiB")
    initrd.write_bytes(b"")
    refused(guestclock("run", "--kernel", str(CLOCKPROBE), "--initrd", str(initrd)), str(initrd), "empty")


def test_an_initrd_without_a_kernel(guestclock: Command, tmp_path: Path) -> None:
    refused(guestclock("run", "--initrd", str(tmp_path / "x")), "--initrd", "--kernel")


@pytest.mark.parametrize("mib", ["0", "-1", "1", "2000", "4096", "99999999999999999999"])
def test_memory_that_no_quadra_has(guestclock: Command, mib: str) -> None:
    refused(guestclock("run", *QUICK[:4], "--ram", mib), mib)


def test_memory_too_small_for_the_kernel(guestclock: Command, tmp_path: Path) -> None:
    # The program header's addresses, at 52 + 8, and the entry, at 24, moved up to 15 MiB.
    high = (15 << 20).to_bytes(4, "big")
    kernel = changed(changed(tmp_path / "high", 52 + 8, high + high), 24, high)
    refused(guestclock("run", "--kernel", str(kernel), "--ram", "4"), str(kernel), "MiB")


def test_a_command_line_too_long_for_the_boot_records(guestclock: Command) -> None:
    refused(guestclock("run", "--append", "x" * 70_000), "70")


# Words and numbers.

WORDS = {
    ("--stall", "sometimes"): ("sometimes", "every=50ms,for=35ms"),
    ("--stall", "every=50,for=35ms"): ("'50'", "35ms"),
    ("--stall", "every=50ms"): ("every=50ms",),
    ("--stall", "every=0ms,for=1ms"): ("every=0ms",),
    ("--stall", "file=/nowhere"): ("/nowhere", "No such file"),
    ("--stall", "random=x,every=1ms,for=1ms"): ("random=x",),
    ("--pacing", "virtual", "--stall", "every=50ms,for=35ms"): ("virtual", "--pacing"),
    ("--seconds", "-1"): ("-1", "negative"),
    ("--calls", "-5"): ("-5", "negative"),
    ("--seconds", "ten"): ("--seconds", "integer"),
    ("--calls", "99999999999"): ("99999999999",),
    ("--watchdog", "-1"): ("-1", "watchdog"),
    ("--guest", "windows"): ("windows", "clockprobe", "linux"),
    ("--pacing", "warp"): ("warp", "paced", "virtual", "host"),
    ("--host", "cloud"): ("cloud", "real", "simulated"),
    ("--bus", "nubus"): ("nubus", "phi2", "fast"),
    ("--phases", "dance:3"): ("dance", "hunt"),
    ("--phases", "hunt:x"): ("hunt:x",),
    ("--phases", "user:0"): ("user:0", "clockprobe"),
    ("--frobnicate",): ("--frobnicate",),
}


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_a_word_or_number_that_makes_no_sense(guestclock: Command, words: tuple[str, ...]) -> None:
    refused(guestclock("run", *words), *WORDS[words])


def test_no_time_and_no_calls_is_nothing_to_do(guestclock: Command) -> None:
    refused(guestclock("run", "--seconds", "0", "--calls", "0"), "--seconds", "--calls")


def test_a_linux_guest_that_was_not_built(
    guestclock: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    refused(guestclock("run", "--guest", "linux"), str(tmp_path), "guestclock build-guest")
    ended = guestclock("run", "--guest", "linux", "--debug-timekeeping")
    refused(ended, "guestclock build-guest --debug-timekeeping")


def test_a_folder_that_cannot_be_written_is_told_before_the_run(guestclock: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/none")):
        refused(guestclock("run", *QUICK, "--save", str(place)), str(place))


# What good and bad runs print.


@pytest.mark.compiled_only
def test_json_is_the_verdict_of_the_saved_tables(guestclock: Command, tmp_path: Path) -> None:
    ended = guestclock("run", *QUICK, "--json", "--save", str(tmp_path))
    assert ended.status == 0
    assert ended.err == ""
    tables = load(tmp_path / "tables.npz")
    assert json.loads(ended.out) == json.loads(to_json(tables, judge(tables)))
    assert json.loads(ended.out)["exit_status"] == 0
    assert b"@gc bye" in (tmp_path / "console.log").read_bytes()
    again = guestclock("run", *QUICK, "--json")
    assert again.out == ended.out


@pytest.mark.compiled_only
def test_a_good_run_prints_a_table_and_a_sentence(guestclock: Command) -> None:
    ended = guestclock("run", *QUICK)
    assert ended.status == 0
    assert ended.err == ""
    assert "The clock never went back and lost nothing" in " ".join(ended.out.split())


@pytest.mark.compiled_only
def test_the_negative_control_finds_steps_and_lost_ticks_each_time(guestclock: Command) -> None:
    control = ("run", "--pacing", "host", "--host", "simulated", "--stall", "every=50ms,for=35ms", "--json")
    first, second = guestclock(*control), guestclock(*control)
    assert (first.status, first.out) == (1, second.out)
    verdict = json.loads(first.out)
    assert verdict["monotonicity"]["backward"]["count"] > 0
    assert verdict["ticks"]["lost"] > 0


@pytest.mark.compiled_only
def test_a_bad_end_shows_the_last_lines(guestclock: Command) -> None:
    ended = guestclock("run", *QUICK[:2], "--phases", "hunt:1,masked:60000", "--watchdog", "1")
    assert ended.status == 1
    assert ended.err.startswith("The guest's last lines")
    assert "no sign of life" in " ".join(ended.out.split())
    assert "Traceback" not in ended.err


# A second look.

STEPS = ("run", "--chip", "qemu-7.2", "--pacing", "virtual", "--phases", "hunt:1", "--ram", "4")


@pytest.mark.compiled_only
def test_a_saved_run_is_shown_before_a_step(guestclock: Command, tmp_path: Path) -> None:
    guestclock(*STEPS, "--save", str(tmp_path))
    shown = guestclock("run", "--replay", str(tmp_path), "--to-step", "2")
    assert shown.status == 0
    text = " ".join(shown.out.split())
    assert text.startswith("Step 2 of ")
    assert "stopped here; next: " in text
    found = json.loads(guestclock("run", "--replay", str(tmp_path), "--json").out)
    assert (found["schema"], found["step"]["number"]) == ("guestclock.replay", 1)
    assert found["past"][-1]["access"] == found["stopped"]["before_access"] - 1
    refused(guestclock("run", "--replay", str(tmp_path), "--to-step", "100000"), "step 100000", "went back")
    refused(guestclock("run", "--replay", str(tmp_path), "--shrink"), "suffered no stall")
    refused(guestclock("run", "--replay", str(tmp_path), "--seed", "3"), "--seed", "--replay")


@pytest.mark.compiled_only
def test_stalls_are_shrunk_and_the_command_is_told(guestclock: Command, tmp_path: Path) -> None:
    stalled = ("--pacing", "host", "--host", "simulated", "--stall", "at=100ms,for=80ms+at=300ms,for=35ms")
    guestclock("run", *stalled, "--phases", "busy:1", "--ram", "4", "--save", str(tmp_path))
    ended = guestclock("run", "--replay", str(tmp_path), "--shrink")
    assert ended.status == 0
    assert "ticks are lost with --stall at=" in ended.out
    command = ended.out.splitlines()[-1]
    assert command.startswith("guestclock run --pacing host --host simulated")
    assert guestclock(*command.split()[1:]).status == 1
    assert json.loads(guestclock("run", "--replay", str(tmp_path), "--shrink", "--json").out)["stalls"]


def test_a_second_look_needs_a_run(guestclock: Command, tmp_path: Path) -> None:
    refused(guestclock("run", "--replay", str(tmp_path)), str(tmp_path / "tables.npz"))
    refused(guestclock("run", "--to-step", "1"), "--to-step", "needs --replay DIR")
    refused(guestclock("run", "--shrink"), "--shrink", "needs --replay DIR")


# QEMU's VIAs.


def test_a_chip_that_is_not_there(guestclock: Command) -> None:
    refused(guestclock("run", "--chip", "6526"), "chip '6526'", "chip", "qemu-7.2", "patch-9", "series-2021")


def test_a_chip_that_has_no_bus_to_choose(guestclock: Command) -> None:
    refused(guestclock("run", "--chip", "qemu-7.2", "--bus", "phi2"), "bus 'phi2'", "leave --bus out")


@pytest.mark.compiled_only
def test_qemu_s_via_is_at_fault_in_virtual_time_too_and_says_whose_it_is(guestclock: Command) -> None:
    command = ("run", "--chip", "qemu-7.2", "--pacing", "virtual", "--phases", "hunt:1", "--ram", "4")
    first, second = guestclock(*command), guestclock(*command)
    assert first.status == 1
    assert first.out == second.out
    text = " ".join(first.out.split())
    assert "VIA of qemu-7.2" in text
    assert "The clock went back" in text


# Help.


def python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | environment,
        check=False,
    )


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    program = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('\\nLOADED', *sorted(sys.modules)))\n"
        f"sys.argv = ['guestclock', *{words!r}]\n"
        "from guestclock.cli import main; main()"
    )
    done = python(program)
    assert done.returncode == 0
    loaded = done.stdout.splitlines()[-1].split()
    assert loaded[0] == "LOADED"
    heavy = {"numpy", "unicorn", "polars", "hypothesis", "rich.progress", "rich.live", "guestclock.quadra"}
    assert not heavy & set(loaded)


OPTIONS = [
    *("--guest", "--kernel", "--initrd", "--append", "--chip", "--pacing", "--host", "--bus", "--seconds"),
    *("--calls", "--stall", "--ram", "--seed", "--json", "--save", "--console", "--watchdog"),
    *("--replay", "--to-step", "--shrink"),
]


def test_help_names_every_option_of_a_run(guestclock: Command) -> None:
    ended = guestclock("run", "--help")
    assert ended.status == 0
    for option in OPTIONS:
        assert option in ended.out
    assert "build-guest" in guestclock("--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands_and_options(shell: str) -> None:
    program = "import sys; sys.argv = ['guestclock']; from guestclock.cli import main; main()"
    script = python(program, _GUESTCLOCK_COMPLETE=f"source_{shell}")
    assert script.returncode == 0
    assert "guestclock" in script.stdout
    completions = {
        "guestclock ": "build-guest",
        "guestclock run --pac": "--pacing",
        "guestclock run --chip qemu": "qemu-7.2",
    }
    for line, offered in completions.items():
        done = python(
            program,
            _GUESTCLOCK_COMPLETE=f"complete_{shell}",
            _TYPER_COMPLETE_ARGS=line,
            COMP_WORDS=line,
            COMP_CWORD=str(len(line.split(" ")) - 1),
            _TYPER_COMPLETE_FISH_ACTION="get-args",
        )
        assert offered in done.stdout, (shell, line, done)


# Snapshots.


def test_a_machine_goes_on_from_a_file(guestclock: Command, tmp_path: Path) -> None:
    kept, resumed, file = tmp_path / "kept", tmp_path / "resumed", tmp_path / "machine"
    first = guestclock("run", *QUICK, "--snapshot", str(file), "--snapshot-at", "600ms", "--save", str(kept))
    second = guestclock("run", "--restore", str(file), "--save", str(resumed))
    assert (first.status, second.status) == (0, 0)
    assert first.out == second.out
    for name in ("tables.npz", "console.log"):
        assert (kept / name).read_bytes() == (resumed / name).read_bytes()


def test_snapshots_that_cannot_be(guestclock: Command, tmp_path: Path) -> None:
    file = str(tmp_path / "machine")
    refused(guestclock("run", "--snapshot", file), "--snapshot", "needs --snapshot-at")
    refused(guestclock("run", "--snapshot-at", "1s"), "--snapshot-at", "needs --snapshot FILE")
    refused(guestclock("run", "--snapshot", file, "--snapshot-at", "soon"), "'soon' is not a duration")
    refused(guestclock("run", "--restore", file), file, "No such file")
    refused(guestclock("run", "--restore", file, "--chip", "chip"), "--chip", "the file says how it is run")
    Path(file).write_text("no machine")
    refused(guestclock("run", "--restore", file), file, "not a snapshot")
    late = guestclock("run", *QUICK, "--snapshot", file, "--snapshot-at", "1h0s")
    refused(late, "not a duration")
    late = guestclock("run", *QUICK, "--snapshot", file, "--snapshot-at", "60s")
    assert late.status == 2
    assert "not written: the guest ended before --snapshot-at 60s" in late.err
