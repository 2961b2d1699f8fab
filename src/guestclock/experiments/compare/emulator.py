"""A row on a real QEMU: the guest's console, stamped by the host's clock, and T1's acknowledges as traced."""

import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guestclock.errors import UnavailableError
from guestclock.experiments.boot import Boot
from guestclock.experiments.collect import collect
from guestclock.experiments.compare.events import AT_NS, SAVEVM, SIGSTOP, STOP, Event
from guestclock.experiments.compare.measured import (
    HOST_CLOCK,
    MEASURING,
    Clock,
    Dialogue,
    Landmarks,
    Measured,
)
from guestclock.experiments.transcript import Transcript
from guestclock.guests.stream import ConsoleStream
from guestclock.qemu import m68k_guest, qmp, snapshots
from guestclock.qemu.binary import Binary
from guestclock.qemu.process import Appointment, Qemu
from guestclock.qemu.qtest import private_folder
from guestclock.readings import EVENTS, EventKind
from guestclock.readings.schema import Table, blank
from guestclock.timebase.stalls import Stall, parse_stalls


@dataclass(frozen=True)
class Emulator:
    """A QEMU binary and how it is run; ``icount_shift`` None: its time is the host's."""

    binary: Binary
    icount_shift: int | None = None
    stall: str | None = None
    seed: int = 1
    ram_mib: int = 64
    silence_s: int = 30


def measure(
    emulator: Emulator,
    boot: Boot,
    event: Event | None = None,
    dialogue: Dialogue = MEASURING,
    clock: Clock = HOST_CLOCK,
) -> Measured:
    """Run the guest to its end.

    Raises:
        UnavailableError: QEMU dies, or its guest never comes up.
    """
    cpu_s = _children_cpu_s()
    with private_folder() as folder:
        run = _Run(emulator, boot, event=event, dialogue=dialogue, clock=clock, folder=Path(folder))
        run.run()
        return run.measured(_children_cpu_s() - cpu_s)


class _Run:
    """One run: what it heard so far, and what it does to the machine on the way."""

    def __init__(
        self,
        emulator: Emulator,
        boot: Boot,
        *,
        event: Event | None,
        dialogue: Dialogue,
        clock: Clock,
        folder: Path,
    ) -> None:
        self.emulator, self.boot, self.event, self.clock = emulator, boot, event, clock
        self.dialogue, self.has_typed = dialogue, False
        self.socket, self.images, self.trace = folder / "qmp", folder / "snapshots", folder / "trace"
        self.transcript = Transcript()
        self.console = bytearray()
        self.suffered: list[Stall] = []
        self.ended: str | None = None
        self.is_icount = emulator.icount_shift is not None
        self.is_traced = not self.is_icount and m68k_guest.TRACED in emulator.binary.trace_events

    def command(self) -> list[str]:
        more: list[str] = []
        if self.is_traced:
            more += m68k_guest.traced(self.trace)
        if self.event is not None and self.event.kind in {STOP, SAVEVM}:
            more += qmp.arguments(self.socket)
        if self.event is not None and self.event.kind == SAVEVM:
            more += snapshots.arguments(self.images)
        emulator, boot = self.emulator, self.boot.without_probe()
        return m68k_guest.command(
            emulator.binary, boot.kernel, boot.initrd, boot.command_line,
            ram_mib=emulator.ram_mib, icount_shift=emulator.icount_shift, more=more,
        )  # fmt: skip

    def run(self) -> None:
        """Listen to the guest until QEMU ends, or it has been silent for too long."""
        stream = ConsoleStream()
        self.unix_ns = time.time_ns() - time.monotonic_ns()
        self.landmarks = Landmarks(self.clock, self.dialogue)
        begin_ns = self.begin_ns = self.landmarks.begin_ns
        with Qemu(self.command(), self.emulator.silence_s, self.clock) as qemu, ExitStack() as spoken_to:
            try:
                for piece in qemu.pieces(self._appointments(qemu, spoken_to)):
                    self.console += piece.data
                    self.landmarks.take(piece.data)
                    self._type(qemu)
                    host_ns = -1 if self.is_icount else piece.host_ns - begin_ns
                    for heard in stream.feed(piece.data):
                        self.transcript.take(heard, host_ns=host_ns)
            except TimeoutError:
                self.ended = "watchdog"
            if self.landmarks.boot_s() is None:
                raise UnavailableError(self._no_answer(qemu.last_error()))
        self.end_ns = self.clock()

    def _type(self, qemu: Qemu) -> None:
        if not self.has_typed and self.landmarks.boot_s() is not None:
            self.has_typed = True
            qemu.say(self.dialogue.typed)

    def measured(self, host_cpu_s: float) -> Measured:
        tables = collect(
            self.transcript, events=self._acknowledges(), stalls=self.suffered, meta=self._meta()
        )
        boot_s, shutdown_s = self.landmarks.boot_s(), self.landmarks.shutdown_s(self.end_ns)
        return Measured(tables, bytes(self.console), boot_s, shutdown_s, host_cpu_s)

    def _meta(self) -> dict[str, Any]:
        emulator = self.emulator
        meta: dict[str, Any] = {
            "machine": f"QEMU {emulator.binary.version}",
            "binary": emulator.binary.path,
            "command_line": self.boot.without_probe().command_line,
            "stall": emulator.stall,
            "seed": emulator.seed,
            "ram_mib": emulator.ram_mib,
            "icount_shift": emulator.icount_shift,
            "host_run_ns": self.end_ns - self.begin_ns,
        }
        if self.ended is None and self.dialogue.typed and self.landmarks.is_down:
            self.ended = "done"
        return meta if self.ended is None else meta | {"ended": self.ended}

    def _acknowledges(self) -> Table:
        if not self.is_traced or not self.trace.exists():
            return blank(EVENTS, 0)
        at_ns = m68k_guest.acknowledges_ns(self.trace) - self.unix_ns
        # A kernel boots with its interrupts masked for some ticks: those it makes late itself.
        at_ns = at_ns[at_ns >= self.landmarks.at_ns["up"]] - self.begin_ns
        rows = blank(EVENTS, len(at_ns))
        rows["kind"], rows["host_ns"] = EventKind.ACKNOWLEDGE, at_ns
        return rows

    def _no_answer(self, error: str) -> str:
        said = bytes(self.console).decode("ascii", "replace").strip().splitlines()
        last = (
            f"; the last it said: {said[-1][:200]}"
            if said
            else f": {error}"
            if error
            else ", nor any other word"
        )
        where = f"{self.emulator.binary.path} ({self.emulator.binary.version})"
        return f"{where} does not answer: its guest has not come up{last}"

    # What happens on the way.

    def _appointments(self, qemu: Qemu, spoken_to: ExitStack) -> Iterator[Appointment]:
        if self.event is not None:
            yield from self._event(self.event, qemu, spoken_to)
        elif self.emulator.stall is not None:
            for at_ns, for_ns in parse_stalls(self.emulator.stall, self.emulator.seed):
                yield self.begin_ns + at_ns, qemu.stop
                self.suffered.append((at_ns, for_ns))
                yield self.begin_ns + at_ns + for_ns, qemu.go_on

    def _event(self, event: Event, qemu: Qemu, spoken_to: ExitStack) -> Iterator[Appointment]:
        begin_ns, end_ns = self.begin_ns + AT_NS, self.begin_ns + event.end_ns
        if event.kind == SIGSTOP:
            yield begin_ns, qemu.stop
            yield end_ns, qemu.go_on
            return
        control = spoken_to.enter_context(qmp.Qmp(self.socket))
        if event.kind == STOP:
            yield begin_ns, lambda: control.command("stop")
            yield end_ns, lambda: control.command("cont")
        else:
            yield begin_ns, lambda: snapshots.save(control)
            yield end_ns, lambda: snapshots.load(control)


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
