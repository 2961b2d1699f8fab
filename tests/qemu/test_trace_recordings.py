"""Recorded traces kept beside the checkout, where there are any: the figures are those that awk counts."""

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

from guestclock.qemu.trace import analyse
from guestclock.qemu.trace_figures import TraceFigures
from guestclock.qemu.trace_source import TraceSource

RECORDINGS = sorted((Path(__file__).parents[3] / "shared" / "traces").glob("*.log.gz"))

EVENTS = """
{ sub(/^[0-9]+@[0-9.]+:/, ""); seen[$1]++ }
END { for (name in seen) print name, seen[name] }
"""

ACCESSES = """
{ sub(/^[0-9]+@[0-9.]+:/, "") }
/^mos6522_(read|write) / { sub(/^mos6522_/, "", $1); seen[$1 " " substr($3, 2, length($3) - 2)]++ }
END { for (name in seen) print name, seen[name] }
"""

LATCHES = """
/mos6522_get_next_irq_time / { split($2, part, "="); seen[part[2]]++ }
END { for (latch in seen) print latch, seen[latch] }
"""

# Intervals between acknowledges, in µs since the first second of the trace.
INTERVALS = """
function us(  part) {
    split($0, part, /[@.:]/)
    if (!base) base = part[2]
    return (part[2] - base) * 1000000 + part[3]
}
/write reg=0xe .*val=0xc0$/ { on = 1; last = -1 }
/write reg=0xe .*val=0x7f$/ { on = 0; last = -1 }
/write reg=0x5 / && on { last = us() }
/write reg=0xd .*val=0x40$/ && on { now = us(); if (last >= 0) print now - last; last = now }
"""

# Linux's clock: a T1CH read waits for the access after the next, as an IER read tells whose the IFR read was.
CLOCK = """
function hex(text,  i, value) {
    for (i = 7; i <= length(text); i++) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return value
}
function done(  now) {
    if (high == "") return
    if (flag) offset = 7833
    now = 7833 - high * 256 + offset + total
    reads++
    if (last != "" && now < last) { steps++; sum += now - last; if (now - last < worst) worst = now - last }
    last = now; high = ""; flag = 0; flags = 0
}
{ sub(/^[0-9]+@[0-9.]+:/, "") }
/^mos6522_read reg=0xd/ && high != "" && high > 0 && !flags { flags = 1; flag = int(hex($4) / 64) % 2; next }
/^mos6522_read reg=0xe/ { if (flags) flag = 0 }
/^mos6522_(read|write)/ { done() }
/^mos6522_read reg=0x5 / { high = hex($4); if (high == 255) high = 0 }
/^mos6522_write reg=0xe .*val=0xc0$/ { on = 1 }
/^mos6522_write reg=0xd .*val=0x40$/ && on { total += 7833; offset = 0 }
/^mos6522_write reg=0x5 / { last = "" }
END { done(); print reads + 0, steps + 0, sum + 0, worst + 0 }
"""


def awk(program: str, path: Path) -> list[list[str]]:
    """Return what an awk program prints of a recording, line by line, in words."""
    with gzip.open(path) as file:
        done = subprocess.run(
            ["awk", program], input=file.read(), capture_output=True, check=True, timeout=60
        )
    return [line.split() for line in done.stdout.decode().splitlines()]


def percentile(values: list[int], percent: int) -> int:
    """Nearest rank."""
    return sorted(values)[-(-len(values) * percent // 100) - 1]


def figures_of(path: Path) -> TraceFigures:
    with TraceSource(str(path)) as source:
        return analyse(source)


if RECORDINGS and shutil.which("awk"):

    @pytest.mark.compiled_only
    @pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
    def test_awk_counts_the_same(path: Path) -> None:
        figures = figures_of(path)
        assert figures.events == {name: int(number) for name, number in awk(EVENTS, path)}
        assert {f"{row.access} {row.register}": row.count for row in figures.accesses} == {
            f"{name} {register}": int(number) for name, register, number in awk(ACCESSES, path)
        }
        latches = {latch: int(number) for latch, number in awk(LATCHES, path)}
        assert figures.recomputations.by_latch == latches
        assert figures.recomputations.lines == sum(latches.values())
        clock = figures.clock
        assert [clock.reads, clock.backward_steps, clock.backward_cycles, clock.worst_cycles] == [
            int(word) for word in awk(CLOCK, path)[0]
        ]

    STAMPED = [path for path in RECORDINGS if "stamped" in path.name]

    @pytest.mark.parametrize("path", STAMPED, ids=lambda path: path.name)
    def test_awk_measures_the_same_intervals(path: Path) -> None:
        found = figures_of(path).acknowledges
        intervals = [int(word) for (word,) in awk(INTERVALS, path)]
        assert found.intervals == len(intervals)
        assert (found.p50_us, found.p99_us) == (percentile(intervals, 50), percentile(intervals, 99))
        assert found.max_us == max(intervals)
        assert found.over_20_ms == sum(interval > 20_000 for interval in intervals)
        assert found.over_30_ms == sum(interval > 30_000 for interval in intervals)
