"""A QEMU binary is asked what it is; what is not one is named.  The QEMUs here are scripts."""

import os
import time
from pathlib import Path

import pytest

from guestclock.errors import BadInputError, UnavailableError
from guestclock.qemu.binary import Binary, ask, open_binary
from guestclock.qemu.qtest import Qtest

FAKE = """#!/bin/sh
case "$1 $2" in
"--version ") echo 'QEMU emulator version 7.2.22 (Debian 1:7.2)'; echo Copyright;;
"-machine help") printf 'Supported machines are:\\nq800   Macintosh Quadra 800\\nnone    empty machine\\n';;
"-accel help") printf 'Accelerators supported in QEMU binary:\\ntcg\\nqtest\\n';;
"-trace help") printf 'mos6522_read\\nvia1_adb_poll\\n';;
esac
"""


def script(folder: Path, text: str) -> str:
    path = folder / "qemu"
    path.write_text(text)
    os.chmod(path, 0o755)
    return str(path)


def running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_what_a_binary_tells_of_itself(tmp_path: Path) -> None:
    binary = open_binary(script(tmp_path, FAKE))
    assert binary.version == "7.2.22 (Debian 1:7.2)"
    assert binary.machines == ("q800", "none")
    assert binary.accelerators == ("tcg", "qtest")
    assert binary.trace_events == ("mos6522_read", "via1_adb_poll")
    binary.require_machine("q800")
    with pytest.raises(BadInputError, match=r"qemu \(7\.2\.22 .* has no machine mac99: give a QEMU that"):
        binary.require_machine("mac99")


def test_what_is_not_qemu_is_told_what_it_says(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"is not QEMU: asked for its version it says 'cat 9.1'"):
        open_binary(script(tmp_path, "#!/bin/sh\necho cat 9.1\n"))
    with pytest.raises(BadInputError, match="is not QEMU: asked for its version it says ''"):
        open_binary(script(tmp_path, "#!/bin/sh\nexit 3\n"))


def test_files_that_cannot_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInputError, match="nothing-here does not exist"):
        open_binary(str(tmp_path / "nothing-here"))
    plain = tmp_path / "plain"
    plain.write_text("")
    with pytest.raises(BadInputError, match="plain cannot be executed"):
        open_binary(str(plain))
    with pytest.raises(BadInputError, match="cannot be started: Exec format error"):
        open_binary(script(tmp_path, "\x7fELF"))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(UnavailableError, match=r"is missing: apt-get install .* qemu-system-misc"):
        open_binary()


def test_a_program_that_never_answers_is_ended_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    path = script(tmp_path, f"#!/bin/sh\nsleep 60 &\necho $$ $! > {pids}\nwait\n")
    with pytest.raises(UnavailableError, match=r"does not answer: --version has taken more than 0\.5 s"):
        open_binary(path, answer_s=0.5)
    # Killed is not yet gone: a child that lost its parent is collected by init, when that comes to it.
    deadline = time.monotonic() + 10
    while any(running(int(pid)) for pid in pids.read_text().split()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(running(int(pid)) for pid in pids.read_text().split())


def test_a_flood_of_words_is_cut(tmp_path: Path) -> None:
    path = script(tmp_path, "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' x\n")
    assert len(ask(path, [])) == 1 << 20


MACHINE = """#!/bin/sh
echo 'no such kernel' >&2
while read -r command address size; do
    case "$command" in
    read) echo "OK 0x0102";;
    readb) echo "IRQ raise 0"; echo "OK 0x0c";;
    silent) :;;
    die) exit 3;;
    *) echo "ERR unknown command";;
    esac
done
"""


def machine(folder: Path) -> Qtest:
    return Qtest(Binary(script(folder, MACHINE), "7.2"), [], answer_s=0.5)


def test_commands_answers_and_interrupts(tmp_path: Path) -> None:
    with machine(tmp_path) as qtest:
        assert qtest.read_memory(0x1000, 2) == b"\x01\x02"
        assert qtest.read_memory(0x1000, 0) == b""
        assert qtest.command("readb 0x50000000") == "0x0c"
        assert qtest.interrupts == ["raise 0"]
        with pytest.raises(UnavailableError, match="refuses 'dance': 'ERR unknown command'"):
            qtest.command("dance")


def test_a_machine_that_does_not_answer_or_dies(tmp_path: Path) -> None:
    with machine(tmp_path) as qtest:
        pid = qtest._process.pid
        with pytest.raises(UnavailableError, match=r"does not answer: 'silent' has taken more than 0\.5 s"):
            qtest.command("silent")
    assert not running(pid)
    with (
        machine(tmp_path) as qtest,
        pytest.raises(UnavailableError, match="ended with status 3: no such kernel"),
    ):
        qtest.command("die")


def test_an_exception_in_the_block_ends_the_machine(tmp_path: Path) -> None:
    pids = []

    def work() -> None:
        with machine(tmp_path) as qtest:
            pids.append(qtest._process.pid)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not running(pids[0])
