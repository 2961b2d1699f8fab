"""A machine with a guest, its host, pacer and console: set up by a plan, run, put into tables."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from guestclock.experiments.boot import Boot
from guestclock.experiments.collect import collect, named
from guestclock.experiments.console import Console
from guestclock.experiments.plan import RunPlan
from guestclock.experiments.transcript import Transcript
from guestclock.quadra.board import EVENT_COLUMNS
from guestclock.quadra.cpu import CpuError
from guestclock.quadra.machine import CHIP, Quadra
from guestclock.quadra.probe_port import PROBE_COLUMNS
from guestclock.quadra.traced import AccessTrace
from guestclock.quadra.via1_inputs import LINE_PERIOD_CYCLES
from guestclock.readings import Tables
from guestclock.timebase.host import LOOK_NS, HostClock, RealHost, SimulatedHost
from guestclock.timebase.pacing import QUANTUM_BYTES, HostPacer, PacedPacer, Pacer, VirtualPacer
from guestclock.timebase.stalls import parse_stalls

NS_PER_S = 1_000_000_000
# Seconds from the clock chip's epoch, 1904, to Unix's; and 2020-01-01, where reproducible runs begin.
MAC_EPOCH_S = 2_082_844_800
FIXED_START_S = 1_577_836_800


@dataclass
class Session:
    """A machine and all that is around it; ``host`` is None where no host plays a part.

    ``start_s`` is the Unix time at which the machine's clock chip begins.  ``stood_still_ns`` are the guest
    times at which it was stopped, a snapshot taken or put back, and its host's clock with it.
    """

    plan: RunPlan
    boot: Boot
    host: HostClock | None
    pacer: Pacer
    console: Console
    machine: Quadra
    start_s: int
    typed_into: bool = False
    stood_still_ns: list[int] = field(default_factory=list)

    def run(self, look: Callable[[], None]) -> None:
        """Run the guest to its end, or until ``look``, called every few milliseconds, stops the machine.

        A CPU that cannot go on ends the run like a guest that dies.
        """
        self.machine.bus.on_housekeeping = look
        try:
            self.machine.run()
        except CpuError as error:
            pacer = self.pacer
            self.console.heard.died(str(error), guest_ns=pacer.guest_ns, host_ns=pacer.host_ns)

    def tables(self, ended: str | None) -> Tables:
        """Return what was measured so far; ``ended`` says how the run was ended from outside."""
        self.console.end_line()
        meta = _meta(self.plan, self.boot, self.machine)
        if self.typed_into:
            meta["typed_into"] = True
        if self.stood_still_ns and not self.plan.reproducible:
            meta["stood_still_ns"] = self.stood_still_ns
        if ended is not None:
            meta["ended"] = ended
        return collect(
            self.console.heard,
            probes=named(self.machine.bus.probes.rows(), PROBE_COLUMNS),
            events=named(self.machine.bus.events.rows(), EVENT_COLUMNS),
            stalls=[] if self.host is None else self.host.suffered,
            meta=meta,
        )


@contextmanager
def set_up(
    plan: RunPlan,
    boot: Boot,
    *,
    echo: Callable[[bytes], None] | None = None,
    trace: AccessTrace | None = None,
    start_s: int | None = None,
) -> Iterator[Session]:
    """Set a machine up, and free it when the block is left; its clock chip begins at ``start_s`` or now."""
    host: HostClock | None = None
    if plan.pacing != "virtual":
        stalls = None if plan.stall is None else parse_stalls(plan.stall, plan.seed)
        host = RealHost(stalls) if plan.host == "real" else SimulatedHost(stalls, look_ns=LOOK_NS)
    pacer = _pacer(plan, host)
    if start_s is None:
        start_s = FIXED_START_S if plan.reproducible else int(time.time())
    console = Console(pacer, Transcript(), echo)
    with Quadra(
        boot.image(plan.ram_mib << 20),
        ram_bytes=plan.ram_mib << 20,
        pacer=pacer,
        chip=plan.chip,
        bus=plan.bus_or_default,
        rtc_seconds=lambda: MAC_EPOCH_S + start_s + pacer.guest_ns // NS_PER_S,
        transmitted=console.take,
        trace=trace,
    ) as machine:
        yield Session(plan, boot, host, pacer, console, machine, start_s)


def _pacer(plan: RunPlan, host: HostClock | None) -> Pacer:
    if host is None:
        return VirtualPacer()
    return PacedPacer(host) if plan.pacing == "paced" else HostPacer(host)


def _meta(plan: RunPlan, boot: Boot, machine: Quadra) -> dict[str, Any]:
    meta: dict[str, Any] = asdict(plan) | {
        "bus": plan.bus_or_default,
        "boot": boot.described(),
        "command_line": boot.command_line,
        "quantum_bytes": QUANTUM_BYTES,
        "line_period_cycles": dict(LINE_PERIOD_CYCLES),
        "guest_run_ns": machine.bus.pacer.guest_ns,
        "host_run_ns": machine.bus.pacer.host_ns,
        "code_bytes": machine.bus.executed_bytes,
        "via_accesses": machine.bus.via_accesses,
        "unmapped_accesses": {
            f"{access} {address:#010x}": count
            for (access, address), count in sorted(machine.bus.unmapped.items())
        },
    }
    if plan.pacing == "virtual":
        del meta["host"]
    if plan.chip != CHIP:
        del meta["bus"]
    return meta
