"""One guest, one machine, one run: from a plan to the tables."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from guestclock.chips.z8530 import CHANNEL_A
from guestclock.errors import BadInputError
from guestclock.experiments.boot import Boot
from guestclock.experiments.collect import collect, named
from guestclock.experiments.keep import keep_bytes, keep_tables
from guestclock.experiments.transcript import Transcript
from guestclock.guests.stream import ConsoleStream, Text
from guestclock.quadra.board import EVENT_COLUMNS
from guestclock.quadra.cpu import CpuError
from guestclock.quadra.machine import CHIP, QEMU_BUS, Quadra, check_parts
from guestclock.quadra.probe_port import PROBE_COLUMNS
from guestclock.quadra.via1_inputs import LINE_PERIOD_CYCLES
from guestclock.readings import EventKind, Tables
from guestclock.timebase.host import LOOK_NS, HostClock, RealHost, SimulatedHost
from guestclock.timebase.pacing import QUANTUM_BYTES, HostPacer, PacedPacer, Pacer, VirtualPacer
from guestclock.timebase.stalls import parse_stalls

NS_PER_S = 1_000_000_000
# Seconds from the clock chip's epoch, 1904, to Unix's; and 2020-01-01, where reproducible runs begin.
MAC_EPOCH_S = 2_082_844_800
FIXED_START_S = 1_577_836_800
LAST_LINES = 12

PACINGS = ("paced", "virtual", "host")
HOSTS = ("real", "simulated")


@dataclass(frozen=True)
class RunPlan:
    """How a machine is to be set up and paced.

    ``chip`` names its VIAs: ``chip``, the 6522, or a set of :mod:`guestclock.chips.qemu_deviations`.
    ``bus`` None takes the default of the pacing and the chip.
    """

    chip: str = CHIP
    pacing: str = "paced"
    host: str = "real"
    bus: str | None = None
    stall: str | None = None
    seed: int = 1
    ram_mib: int = 64
    silence_s: int = 30

    def __post_init__(self) -> None:
        """Check the words and that they go together."""
        if self.pacing not in PACINGS:
            raise BadInputError(f"pacing '{self.pacing}': say {', '.join(PACINGS[:-1])} or {PACINGS[-1]}")
        if self.host not in HOSTS:
            raise BadInputError(f"host '{self.host}': say {' or '.join(HOSTS)}")
        check_parts(self.chip, self.bus_or_default)
        if self.stall is not None:
            if self.pacing == "virtual":
                raise BadInputError(
                    "virtual time knows no host, so nothing can stall it: say --pacing paced or host"
                )
            parse_stalls(self.stall, self.seed)
        if self.ram_mib < 1:
            raise BadInputError(f"{self.ram_mib} MiB of memory: give a positive number")
        if self.silence_s < 0:
            raise BadInputError(f"a watchdog of {self.silence_s} s: give a positive number, or 0 for none")

    @property
    def reproducible(self) -> bool:
        """Whether two runs of this plan give the same bytes."""
        return self.pacing == "virtual" or self.host == "simulated"

    @property
    def bus_or_default(self) -> str:
        """The bus, or the default of the chip and the pacing."""
        if self.bus is None and self.chip != CHIP:
            return QEMU_BUS
        return self.bus or ("phi2" if self.pacing == "virtual" else "fast")


@dataclass(frozen=True)
class Progress:
    """Where a run is; times in ns since it began."""

    guest_ns: int
    host_ns: int
    backward_steps: int


@dataclass(frozen=True)
class Run:
    """What a run left: the tables, all console output, and how the machine ended."""

    tables: Tables
    console: bytes
    last_lines: tuple[str, ...]

    def save(self, directory: Path) -> None:
        """Write ``tables.npz`` and ``console.log`` into ``directory``, made if need be."""
        keep_tables(self.tables, directory)
        keep_bytes(self.console, directory / "console.log")


@dataclass
class _Console:
    """The guest's console: bytes in, lines with their time of arrival out."""

    pacer: Pacer
    heard: Transcript
    echo: Callable[[bytes], None] | None
    output: bytearray = field(default_factory=bytearray)
    last_lines: list[str] = field(default_factory=list)
    last_sign_ns: int = 0
    _line: bytearray = field(default_factory=bytearray)
    _stream: ConsoleStream = field(default_factory=ConsoleStream)

    def take(self, channel: int, byte: int) -> None:
        """Take a byte that the guest sent; channel A is the console."""
        if channel != CHANNEL_A:
            return
        self.last_sign_ns = self.pacer.guest_ns
        self._line.append(byte)
        if self.echo is not None:
            self.echo(bytes([byte]))
        if byte == ord("\n"):
            self.end_line()

    def end_line(self) -> None:
        """Hand a complete line on."""
        self.output += self._line
        for heard in self._stream.feed(bytes(self._line)):
            self.heard.take(heard, guest_ns=self.pacer.guest_ns, host_ns=self.pacer.host_ns)
            text = heard.text if isinstance(heard, Text) else self._line.decode("ascii", "replace").rstrip()
            if text.strip():
                self.last_lines = [*self.last_lines[1 - LAST_LINES :], text]
        self._line.clear()


class _Overseer:
    """Looks after a running machine a few hundred times a second: progress, input, and ends."""

    def __init__(
        self,
        machine: Quadra,
        console: _Console,
        plan: RunPlan,
        progress: Callable[[Progress], None] | None,
        typed: Callable[[], bytes] | None,
    ) -> None:
        self.machine, self.console, self.plan = machine, console, plan
        self.progress, self.typed = progress, typed
        self.ended: str | None = None

    def look(self) -> None:
        """Report progress, pass input on, and end a run that will not end itself."""
        pacer = self.machine.bus.pacer
        if self.progress is not None:
            self.progress(Progress(pacer.guest_ns, pacer.host_ns, self.console.heard.backward_steps))
        if self.typed is not None:
            data = self.typed()
            if data:
                self.machine.bus.receive(CHANNEL_A, data)
            return
        if any(remark.kind is EventKind.PANIC for remark in self.console.heard.remarks):
            self._end("panic")
        silent_ns = pacer.guest_ns - self.console.last_sign_ns
        probes = self.machine.bus.probes
        if probes.count:
            silent_ns = min(silent_ns, pacer.guest_ns - probes.last(PROBE_COLUMNS.index("guest_ns")))
        if self.plan.silence_s and (
            silent_ns > self.plan.silence_s * NS_PER_S or self.machine.asleep_for_ever
        ):
            self._end("watchdog")

    def _end(self, how: str) -> None:
        self.ended = how
        self.machine.bus.stop_requested = True


def run(
    plan: RunPlan,
    boot: Boot,
    *,
    progress: Callable[[Progress], None] | None = None,
    echo: Callable[[bytes], None] | None = None,
    typed: Callable[[], bytes] | None = None,
) -> Run:
    """Run a guest to its end and return what was measured.

    ``progress`` is called a few hundred times a second; ``echo`` gets the console's output as it comes, and
    ``typed`` returns what to type into it.  An interrupt by the user ends the run with what was measured.
    """
    host: HostClock | None = None
    if plan.pacing != "virtual":
        stalls = None if plan.stall is None else parse_stalls(plan.stall, plan.seed)
        host = RealHost(stalls) if plan.host == "real" else SimulatedHost(stalls, look_ns=LOOK_NS)
    pacer = _pacer(plan, host)
    start_s = FIXED_START_S if plan.reproducible else int(time.time())
    console = _Console(pacer, Transcript(), echo)
    with Quadra(
        boot.image(plan.ram_mib << 20),
        ram_bytes=plan.ram_mib << 20,
        pacer=pacer,
        chip=plan.chip,
        bus=plan.bus_or_default,
        rtc_seconds=lambda: MAC_EPOCH_S + start_s + pacer.guest_ns // NS_PER_S,
        transmitted=console.take,
    ) as machine:
        overseer = _Overseer(machine, console, plan, progress, typed)
        machine.bus.on_housekeeping = overseer.look
        try:
            machine.run()
        except KeyboardInterrupt:
            overseer.ended = "interrupted"
        except CpuError as error:
            console.heard.died(str(error), guest_ns=pacer.guest_ns, host_ns=pacer.host_ns)
        console.end_line()
        tables = collect(
            console.heard,
            probes=named(machine.bus.probes.rows(), PROBE_COLUMNS),
            events=named(machine.bus.events.rows(), EVENT_COLUMNS),
            stalls=[] if host is None else host.suffered,
            meta=_meta(plan, boot, machine, overseer.ended),
        )
    return Run(tables, bytes(console.output), tuple(console.last_lines))


def _pacer(plan: RunPlan, host: HostClock | None) -> Pacer:
    if host is None:
        return VirtualPacer()
    return PacedPacer(host) if plan.pacing == "paced" else HostPacer(host)


def _meta(plan: RunPlan, boot: Boot, machine: Quadra, ended: str | None) -> dict[str, Any]:
    meta: dict[str, Any] = asdict(plan) | {
        "bus": plan.bus_or_default,
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
    if ended is not None:
        meta["ended"] = ended
    return meta
