"""Runs a guest on QEMU's Quadra 800."""

import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

QEMU = "qemu-system-m68k"


def run_on_qemu(
    kernel: Path, append: str, *, more: Sequence[str] = (), say: bytes = b"", timeout_s: float = 120
) -> bytes:
    """Run a guest until it switches its machine off; return what its console said.

    ``say`` is typed when the guest's first phase has begun: what comes earlier a booting kernel may lose.
    """
    if shutil.which(QEMU) is None:
        pytest.fail(f"{QEMU} is missing: apt-get install qemu-system-misc")
    machine = ["-M", "q800", "-m", "32", "-display", "none", "-monitor", "none", "-serial", "stdio"]
    command = [QEMU, *machine, "-kernel", str(kernel), "-append", append, *more]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        limit = threading.Timer(timeout_s, process.kill)
        limit.start()
        try:
            heard = b""
            while b"@gc phase" not in heard and (piece := process.stdout.read(4096)):
                heard += piece
            rest, errors = process.communicate(input=say)
        finally:
            limit.cancel()
            process.kill()
    assert process.returncode == 0, (heard + rest)[-2000:].decode(errors="replace") + errors.decode()
    return heard + rest
