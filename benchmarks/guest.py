"""The Linux guest on our Quadra against Debian's qemu-system-m68k, the same kernel and init.

CPU time of whole processes, from rounds in which the two take turns.  A call's cost is what N calls take
beyond a boot that makes none.  Ours is measured twice: the machine alone (from its creation to power-off)
and the command, whose interpreter has to start first.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

from benchmarks.rounds import spread
from guestclock.errors import UnavailableError
from guestclock.guests.orders import LINUX, parse_phases
from guestclock.linux.cache import default_cache_dir, find_guest
from guestclock.linux.command_line import command_line

CALLS = 5_000_000
ROUNDS = 5
CALL_BAR, BOOT_BAR = 0.9, 0.6
RAM_MIB = 64
MEMORY_BAR_MIB = RAM_MIB + 150

OURS = """
import sys, time
from guestclock.experiments.boot import bundled
from guestclock.experiments.run import RunPlan, run
from guestclock.guests.orders import parse_phases
boot = bundled("linux", parse_phases(sys.argv[1], "linux"))
plan = RunPlan(ram_mib=int(sys.argv[2]))
before = time.process_time()
ran = run(plan, boot)
print(time.process_time() - before)
assert ran.tables.meta["ended"] == "done"
"""


def used_s(command: list[str]) -> tuple[float, float, str]:
    """Run a command; return its CPU seconds, its largest memory in MiB, and what it printed."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} ended with status {process.returncode}:\n{output}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def qemu(phases: str) -> dict[str, float]:
    image = find_guest(default_cache_dir())
    orders = command_line(parse_phases(phases, LINUX))
    command = ["qemu-system-m68k", "-M", "q800", "-m", str(RAM_MIB), "-display", "none", "-serial", "stdio"]
    command += ["-kernel", str(image.kernel), "-initrd", str(image.initrd), "-append", orders]
    return {"qemu": used_s(command)[0]}


def ours(phases: str) -> dict[str, float]:
    whole_s, memory_mib, printed = used_s([sys.executable, "-c", OURS, phases, str(RAM_MIB)])
    return {"machine": float(printed), "command": whole_s, "memory_mib": memory_mib}


def main() -> bool:
    if shutil.which("qemu-system-m68k") is None:
        raise UnavailableError("the guest benchmark needs QEMU: apt-get install qemu-system-misc")
    print(f"load average {os.getloadavg()[0]:.2f}; {ROUNDS} rounds; CPU seconds, median (quartiles)")
    runs: dict[str, list[dict[str, float]]] = {"boot": [], "calls": []}
    contenders: list[Callable[[str], dict[str, float]]] = [qemu, ours]
    for _ in range(ROUNDS):
        for name, phases in (("boot", "calls:1"), ("calls", f"calls:{CALLS}")):
            taken: dict[str, float] = {}
            for contender in contenders:
                taken |= contender(phases)
            runs[name].append(taken)
    for who in ("qemu", "machine", "command"):
        boot = spread([taken[who] for taken in runs["boot"]])
        call_ns = spread(
            [
                (calls[who] - boot_only[who]) / CALLS * 1e9
                for calls, boot_only in zip(runs["calls"], runs["boot"], strict=True)
            ]
        )
        print(f"{who:8} boot and power-off {boot} s; a call {call_ns} ns")
    boot_ratio = spread([taken["machine"] / taken["qemu"] for taken in runs["boot"]])
    call_ratio = spread(
        [
            (calls["machine"] - boot["machine"]) / (calls["qemu"] - boot["qemu"])
            for calls, boot in zip(runs["calls"], runs["boot"], strict=True)
        ]
    )
    memory_mib = max(taken["memory_mib"] for taken in runs["calls"])
    print(f"boot and power-off, machine/qemu: {boot_ratio} (at most {BOOT_BAR})")
    print(f"gettimeofday, machine/qemu: {call_ratio} (at most {CALL_BAR})")
    print(f"memory: {memory_mib:.0f} MiB with {RAM_MIB} MiB for the guest (at most {MEMORY_BAR_MIB})")
    return boot_ratio.median <= BOOT_BAR and call_ratio.median <= CALL_BAR and memory_mib <= MEMORY_BAR_MIB
