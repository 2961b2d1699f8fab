"""A QEMU process is heard, told apart by how it ends, and never left running.  The QEMU here is a script."""

import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from guestclock.errors import UnavailableError
from guestclock.qemu import process, x86_linux
from guestclock.qemu.binary import open_binary
from guestclock.qemu.process import Appointment, Qemu

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
    stamped = [piece.host_ns for piece in pieces]
    assert min(stamped) >= 100
    assert stamped == sorted(set(stamped))


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


def test_appointments_are_kept_in_order_and_stop_the_process() -> None:
    program = "import time\nfor n in range(40): print(n, flush=True); time.sleep(0.02)"
    kept = []
    with Qemu(script(program), 10.0) as qemu:
        begin_ns = time.monotonic_ns()

        def appointments() -> Iterator[Appointment]:
            yield begin_ns + 100_000_000, qemu.stop
            yield begin_ns + 500_000_000, qemu.go_on
            yield begin_ns + 500_000_001, lambda: kept.append("last")

        pieces = list(qemu.pieces(appointments()))
    assert b"".join(piece.data for piece in pieces).split() == [b"%d" % n for n in range(40)]
    assert kept == ["last"]
    gaps = [after.host_ns - before.host_ns for before, after in itertools.pairwise(pieces)]
    assert max(gaps) >= 350_000_000


def test_what_is_typed_reaches_the_console() -> None:
    with Qemu(script("print(input().upper(), flush=True)"), 10.0) as qemu:
        qemu.say(b"hello\n")
        assert b"".join(piece.data for piece in qemu.pieces()) == b"HELLO\n"


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        UnavailableError, match=r"qemu-system-x86_64 is missing: apt-get install .* qemu-system-x86"
    ):
        open_binary(x86_linux.PROGRAM, package=x86_linux.PACKAGE)


@pytest.mark.parametrize(("accelerator", "word"), [("kvm", "host"), ("tcg", "max")])
def test_the_command_boots_the_guest(accelerator: str, word: str) -> None:
    command = x86_linux.command(
        "qemu", Path("K"), Path("I"), accelerator=accelerator, cpus=2, orders=["warp_ms=5"]
    )
    assert command[command.index("-cpu") + 1] == word
    assert command[command.index("-accel") + 1].startswith(accelerator)
    assert command[-1].endswith(" warp_ms=5")
    assert ("tsc=reliable" in command[-1]) == (accelerator == "tcg")
