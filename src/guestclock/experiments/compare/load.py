"""A load on the host: processes that do nothing but compute."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from guestclock.errors import BadInputError
from guestclock.qemu.binary import end_group, start

PROCESSES_MAX = 64
CPU_LIMIT_S = 3600
"""The kernel ends a busy process after so much of a processor's time, whatever became of us."""


def check_load(processes: int) -> None:
    """Raise :class:`BadInputError` for a number that is no load or more than a machine should bear."""
    if not 0 <= processes <= PROCESSES_MAX:
        raise BadInputError(f"--load {processes}: give 0 to {PROCESSES_MAX} processes")


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep so many processes busy while the block runs; they are gone after it, whatever ends it."""
    check_load(processes)
    command = ["/bin/sh", "-c", f"ulimit -t {CPU_LIMIT_S}; while :; do :; done"]
    with ExitStack() as running:
        for _ in range(processes):
            process = start(command, subprocess.DEVNULL, subprocess.DEVNULL)
            assert process.stdout is not None
            running.callback(process.stdout.close)
            running.callback(end_group, process)
        yield
