"""One guest, one machine, one run: from a plan to the tables."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from guestclock.chips.z8530 import CHANNEL_A
from guestclock.experiments.boot import Boot
from guestclock.experiments.keep import keep_bytes, keep_tables
from guestclock.experiments.plan import RunPlan
from guestclock.experiments.session import NS_PER_S, Session, set_up
from guestclock.quadra.probe_port import PROBE_COLUMNS
from guestclock.readings import EventKind, Tables

__all__ = ["Progress", "Run", "RunPlan", "run"]


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


class _Overseer:
    """Looks after a running machine a few hundred times a second: progress, input, and ends."""

    def __init__(
        self,
        session: Session,
        progress: Callable[[Progress], None] | None,
        typed: Callable[[], bytes] | None,
    ) -> None:
        self.machine, self.console, self.plan = session.machine, session.console, session.plan
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
    with set_up(plan, boot, echo=echo) as session:
        overseer = _Overseer(session, progress, typed)
        try:
            session.run(overseer.look)
        except KeyboardInterrupt:
            overseer.ended = "interrupted"
        tables = session.tables(overseer.ended, typed_into=typed is not None)
    return Run(tables, bytes(session.console.output), tuple(session.console.last_lines))
