"""The measurement of 2014 in a real Linux guest: every clocksource that it offers, made current in turn."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from guestclock.errors import BadInputError, GuestclockError, UnavailableError
from guestclock.experiments import loop_tables
from guestclock.guests import x86_lines
from guestclock.guests.lines import Damaged
from guestclock.kvm import microvm
from guestclock.linux.x86 import find_x86_guest
from guestclock.qemu import x86_linux
from guestclock.qemu.binary import open_binary
from guestclock.qemu.process import Piece, Qemu
from guestclock.readings import Tables, TablesBuilder
from guestclock.readloops import WarpResult

Progress = Callable[[str, float], None]
SYSTEM_CALL = " (system call)"
DRIFT = "drift"
LINES_KEPT = 10
LINES_EXPECTED = 75
"""About so many lines a clocksource; for the progress shown."""


@dataclass(frozen=True)
class LinuxPlan:
    """How to run the guest and how much to measure in it."""

    cache_dir: Path
    accelerator: str = "auto"
    cpus: int = 2
    batches: int = 15
    batch_us: int = 2000
    warp_ms: int = 200
    drift_ms: int = 2000
    silence_s: float = 60.0
    device: Path = Path("/dev/kvm")

    def __post_init__(self) -> None:
        if self.accelerator not in {"auto", "kvm", "tcg"}:
            raise BadInputError(f"--accel {self.accelerator}: it is auto, kvm or tcg")
        if not 1 <= self.cpus <= 8:
            raise BadInputError(f"--cpus {self.cpus}: the guest has 1 to 8")

    def orders(self) -> list[str]:
        """Return the words of the kernel's command line that tell the guest how much to measure."""
        names = ("batches", "batch_us", "warp_ms", "drift_ms")
        return [f"{name}={getattr(self, name)}" for name in names]


class GuestFailedError(GuestclockError):
    """The guest panicked, hung or ended early; the message has its last lines."""


@dataclass
class LinuxGuest:
    """What the guest told."""

    accelerator: str
    why: str
    """Why not KVM, where it is not."""
    qemu: str
    hello: x86_lines.Hello | None = None
    clocksources: dict[str, bool] = field(default_factory=dict)
    """In the order of the kernel's preference; False: the kernel did not take it."""
    tables: Tables = field(default_factory=Tables)
    damaged: int = 0


def choose_accelerator(plan: LinuxPlan) -> tuple[str, str]:
    """Return the accelerator, and why it is not KVM.

    Raises:
        UnavailableError: KVM was asked for by name, and cannot run a Linux kernel.
    """
    if plan.accelerator == "tcg":
        return "tcg", "asked for"
    try:
        microvm.check_kernel_code(plan.device)
    except UnavailableError as reason:
        if plan.accelerator == "kvm":
            raise
        return "tcg", str(reason)
    return "kvm", ""


def run(plan: LinuxPlan, progress: Progress = lambda _what, _share: None) -> LinuxGuest:
    """Boot the guest, listen to it, and return what it told.

    Raises:
        UnavailableError: no QEMU, or a KVM that cannot run a Linux kernel.
        BadInputError: the guest is not built.
        GuestFailedError: the guest died or fell silent.
    """
    binary = open_binary(x86_linux.PROGRAM, package=x86_linux.PACKAGE)
    image = find_x86_guest(plan.cache_dir)
    accelerator, why = choose_accelerator(plan)
    found = LinuxGuest(accelerator, why, f"QEMU {binary.version}")
    command = x86_linux.command(
        binary.path, image.kernel, image.initrd, accelerator=accelerator, cpus=plan.cpus, orders=plan.orders()
    )
    progress(f"booting Linux ({accelerator})", 0.0)
    with Qemu(command, plan.silence_s) as qemu:
        listen(found, qemu.pieces(), progress)
    return found


def listen(found: LinuxGuest, pieces: Iterator[Piece], progress: Progress) -> None:
    """Take in what the guest says until it says goodbye."""
    builder = TablesBuilder()
    last: list[str] = []
    said_bye = False
    try:
        for number, (host_ns, text) in enumerate(_lines(pieces)):
            last = [*last, text][-LINES_KEPT:]
            line = x86_lines.parse_line(text)
            said_bye = said_bye or isinstance(line, x86_lines.Bye)
            _take(found, builder, line, host_ns)
            if isinstance(line, x86_lines.Using | x86_lines.Cost | x86_lines.Warp):
                progress(f"clocksource {line.clocksource}", number % LINES_EXPECTED / LINES_EXPECTED)
    except TimeoutError as silence:
        if found.hello is None and found.accelerator == "kvm":
            raise UnavailableError(
                f"this KVM brings no Linux kernel to its first line: {silence}"
            ) from silence
        raise GuestFailedError(
            f"the guest fell silent ({silence}); its last lines:\n" + "\n".join(last)
        ) from None
    if not said_bye:
        raise GuestFailedError("the guest ended before it was done; its last lines:\n" + "\n".join(last))
    found.tables = builder.freeze({"cost_time": "guest", "accelerator": found.accelerator})


def _lines(pieces: Iterator[Piece]) -> Iterator[tuple[int, str]]:
    """Yield whole lines, each with the host time at which its first byte came."""
    rest, rest_ns = b"", 0
    for piece in pieces:
        *complete, tail = (rest + piece.data).split(b"\n")
        for index, line in enumerate(complete):
            began_ns = rest_ns if index == 0 and rest else piece.host_ns
            yield began_ns, line.decode(errors="replace").rstrip("\r")
        if complete or not rest:
            rest_ns = piece.host_ns
        rest = tail


def _take(
    found: LinuxGuest, builder: TablesBuilder, line: x86_lines.Line | Damaged | None, host_ns: int
) -> None:
    match line:
        case x86_lines.Hello():
            found.hello = line
        case x86_lines.Using(clocksource, ok):
            found.clocksources[clocksource] = ok
        case x86_lines.Cost():
            _add_cost(builder, line)
        case x86_lines.Warp():
            _add_warp(builder, line)
        case x86_lines.Look(clocksource, mono_ns):
            source = builder.source(source_name(clocksource, "CLOCK_MONOTONIC"))
            builder.add_reading(source=source, phase=builder.phase(DRIFT), host_ns=host_ns, said_ns=mono_ns)
        case Damaged():
            found.damaged += 1


def source_name(clocksource: str, clock: str) -> str:
    """Return the name in the tables of a clock under a clocksource.

    >>> source_name("hpet", "CLOCK_TAI")
    'hpet CLOCK_TAI'
    """
    return f"{clocksource} {clock}"


def _add_cost(builder: TablesBuilder, line: x86_lines.Cost) -> None:
    name = source_name(line.clocksource, line.clock) + (SYSTEM_CALL if line.way == "syscall" else "")
    source, phase = builder.source(name), builder.phase(loop_tables.COST)
    for batch_ns in line.batches_ns:
        builder.add_reading(source=source, phase=phase, calls=line.reads, cost_ns=batch_ns / line.reads)


def _add_warp(builder: TablesBuilder, line: x86_lines.Warp) -> None:
    result = WarpResult(
        reads=line.reads,
        steps=line.steps,
        least=line.least_ns,
        worst=line.worst_ns,
        sum=line.sum_ns,
        ahead_sum=line.ahead_sum_ns,
        ahead_least=line.ahead_least_ns,
        ahead_most=line.ahead_most_ns,
        log=(),
    )
    name = source_name(line.clocksource, line.clock)
    loop_tables.add_warp(builder, name, loop_tables.WARP, [result], None)
