"""Runs a guest on QEMU's Quadra 800."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

QEMU = "qemu-system-m68k"


def run_on_qemu(
    kernel: Path, append: str, *, more: Sequence[str] = (), say: bytes = b"", timeout_s: float = 120
) -> bytes:
    """Run a guest until it switches its machine off; return what its console said."""
    if shutil.which(QEMU) is None:
        pytest.fail(f"{QEMU} is missing: apt-get install qemu-system-misc")
    machine = ["-M", "q800", "-m", "32", "-display", "none", "-monitor", "none", "-serial", "stdio"]
    command = [QEMU, *machine, "-kernel", str(kernel), "-append", append, *more]
    finished = subprocess.run(command, input=say, capture_output=True, timeout=timeout_s, check=False)
    assert finished.returncode == 0, finished.stderr.decode()
    return finished.stdout
