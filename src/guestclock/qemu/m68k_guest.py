"""The command that boots a guest on a QEMU's Quadra 800, and what its trace tells of T1's acknowledges."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from guestclock.qemu.binary import Binary
from guestclock.qemu.trace_kinds import Kind
from guestclock.qemu.trace_lines import LineDecoder
from guestclock.qemu.trace_source import TraceSource

MACHINE = "q800"
TRACED = "mos6522_write"
"""A few lines a tick: tracing reads too would slow down what is being measured."""

_T1CH, _IFR, _T1_FLAG = 5, 13, 0x40
_NS_PER_US = 1000


def command(
    binary: Binary,
    kernel: Path,
    initrd: Path | None,
    command_line: str,
    *,
    ram_mib: int,
    icount_shift: int | None = None,
    more: Sequence[str] = (),
) -> list[str]:
    """Return the command; the guest's console is on standard input and output, and its power-off ends QEMU.

    ``icount_shift``: time is instructions executed, each 2^shift ns, and knows no host.
    """
    words = [
        *(binary.path, "-M", MACHINE, "-m", str(ram_mib), "-display", "none", "-monitor", "none"),
        *("-serial", "stdio", "-no-user-config", "-kernel", str(kernel), "-append", command_line),
    ]
    if initrd is not None:
        words += ["-initrd", str(initrd)]
    if icount_shift is not None:
        words += ["-icount", f"shift={icount_shift},sleep=off", "-rtc", "base=2020-01-01T00:00:00,clock=vm"]
    return [*words, *more]


def traced(path: Path) -> list[str]:
    """Return the arguments that make QEMU trace what :func:`acknowledges_ns` reads, into a file."""
    return ["-trace", TRACED, "-msg", "timestamp=on", "-D", str(path)]


def acknowledges_ns(trace: Path) -> npt.NDArray[np.int64]:
    """Return when the guest acknowledged T1, in ns since 1970, from when it had set its clock."""
    times: list[npt.NDArray[np.int64]] = []
    decoder = LineDecoder()
    with TraceSource(str(trace)) as source:
        for chunk in source.chunks():
            at = 0
            while at < len(chunk):
                at = decoder.decode(chunk, at)
                rows = slice(decoder.rows)
                kind, reg, value, stamp_us, _ = (column[rows] for column in decoder.columns)
                writes = kind == Kind.WRITE
                loads = np.flatnonzero(writes & (reg == _T1CH))
                if len(loads):
                    times.clear()
                acknowledged = writes & (reg == _IFR) & (value & _T1_FLAG != 0)
                acknowledged[: loads[-1] if len(loads) else 0] = False
                times.append(stamp_us[acknowledged] * _NS_PER_US)
    return np.concatenate(times) if times else np.zeros(0, np.int64)
