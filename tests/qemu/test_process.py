"""A QEMU process is heard, told apart by how it ends, and never left running.  The QEMU here is a script."""

import itertools
import os
import sys
from pathlib import Path

import pytest

from guestclock.errors import UnavailableError
from guestclock.qemu import process, x86_linux
from guestclock.qemu.process import Qemu

INTERNAL_ERROR = "KVM internal error. Suberror: 1"


def script(program: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", program]


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_the_console_is_stamped_and_whole() -> None:
    stamps = itertools.count(100)
    with Qemu(script("print('one'); print('two')"), 10.0, clock=lambda: next(stamps)) as qemu:
        pieces = list(qemu.pieces())
    assert b"".join(piece.data for piece in pieces) == b"one\ntwo\n"
    assert [piece.host_ns for piece in pieces] == list(range(100, 100 + len(pieces)))


def test_an_internal_error_of_kvm_is_named_and_nothing_left_running() -> None:
    """QEMU stays after it, as it does in life."""
    program = f"import sys, time; print('{INTERNAL_ERROR}', file=sys.stderr, flush=True); time.sleep(60)"
    with Qemu(script(program), 10.0) as qemu:
        pid = qemu._process.pid
        with pytest.raises(UnavailableError, match=r"internal error \(KVM internal error. Suberror: 1\)"):
            list(qemu.pieces())
    assert not is_running(pid)


def test_a_silent_guest_is_told_and_ended() -> None:
    with Qemu(script("import time; print('hello', flush=True); time.sleep(60)"), 0.3) as qemu:
        pid = qemu._process.pid
        with pytest.raises(TimeoutError, match=r"no sign of life for 0\.3 s"):
            list(qemu.pieces())
    assert not is_running(pid)


def test_leaving_early_ends_the_process() -> None:
    program = "import itertools\nfor n in itertools.count(): print(n, flush=True)"
    with Qemu(script(program), 10.0) as qemu:
        pid = qemu._process.pid
        next(qemu.pieces())
    assert not is_running(pid)


def test_a_qemu_that_cannot_start_says_why() -> None:
    program = "import sys; print('could not open kernel file', file=sys.stderr); sys.exit(1)"
    with (
        Qemu(script(program), 10.0) as qemu,
        pytest.raises(UnavailableError, match="status 1: could not open kernel file"),
    ):
        list(qemu.pieces())


def test_a_flood_of_errors_does_not_fill_the_memory() -> None:
    program = "import sys\nfor _ in range(3000): print('x' * 100, file=sys.stderr)"
    with Qemu(script(program), 10.0) as qemu:
        list(qemu.pieces())
    assert len(qemu.errors) == process.ERRORS_KEPT


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        UnavailableError, match=r"qemu-system-x86_64 is missing: apt-get install .* qemu-system-x86"
    ):
        process.find(x86_linux.PROGRAM, x86_linux.PACKAGE)


def test_the_version_is_its_first_line(tmp_path: Path) -> None:
    program = tmp_path / "qemu"
    program.write_text("#!/bin/sh\necho QEMU emulator version 7.2\necho Copyright\n")
    os.chmod(program, 0o755)
    assert process.version(str(program)) == "QEMU emulator version 7.2"


@pytest.mark.parametrize(("accelerator", "word"), [("kvm", "host"), ("tcg", "max")])
def test_the_command_boots_the_guest(accelerator: str, word: str) -> None:
    command = x86_linux.command(
        "qemu", Path("K"), Path("I"), accelerator=accelerator, cpus=2, orders=["warp_ms=5"]
    )
    assert command[command.index("-cpu") + 1] == word
    assert command[command.index("-accel") + 1].startswith(accelerator)
    assert command[-1].endswith(" warp_ms=5")
    assert ("tsc=reliable" in command[-1]) == (accelerator == "tcg")
