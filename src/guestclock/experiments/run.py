"""One guest, one machine, one run: from a plan to the tables."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from guestclock.chips.z8530 import CHANNEL_A
from guestclock.errors import BadInputError
from guestclock.experiments.boot import Boot
from guestclock.experiments.keep import keep_bytes, keep_tables
from guestclock.experiments.plan import RunPlan
from guestclock.experiments.session import NS_PER_S, Session, set_up
from guestclock.experiments.snapshot import Snapshot, go_on, resumed, take
from guestclock.experiments.snapshot_file import save as save_snapshot
from guestclock.quadra.probe_port import PROBE_COLUMNS
from guestclock.readings import EventKind, Tables
from guestclock.timebase.pacing import Pacer

__all__ = ["Overseer", "Progress", "Run", "RunPlan", "SnapshotOrder", "outcome", "resume", "run"]


@dataclass(frozen=True)
class Progress:
    """Where a run is; times in ns since it began."""

    guest_ns: int
    host_ns: int
    backward_steps: int


@dataclass(frozen=True)
class Run:
    """What a run left: the tables, all console output, and how the machine ended.

    ``kept`` says whether the snapshot that was ordered was taken: the guest may end before.
    """

    tables: Tables
    console: bytes
    last_lines: tuple[str, ...]
    kept: bool = False

    def save(self, directory: Path) -> None:
        """Write ``tables.npz`` and ``console.log`` into ``directory``, made if need be."""
        keep_tables(self.tables, directory)
        keep_bytes(self.console, directory / "console.log")


def _never(pacer: Pacer) -> bool:
    return False


@dataclass(frozen=True)
class SnapshotOrder:
    """Keep the machine's state in a file at the first look at it from this guest time on."""

    at_ns: int
    path: Path


class Overseer:
    """Looks after a running machine a few hundred times a second: progress, input, and ends."""

    def __init__(
        self,
        session: Session,
        progress: Callable[[Progress], None] | None = None,
        typed: Callable[[], bytes] | None = None,
    ) -> None:
        self.session = session
        self.machine, self.console, self.plan = session.machine, session.console, session.plan
        self.progress, self.typed = progress, typed
        self.ended: str | None = None
        self._until: Callable[[Pacer], bool] = _never
        self._is_paused = False
        session.typed_into |= typed is not None

    def go(self, until: Callable[[Pacer], bool] = _never) -> bool:
        """Run to the guest's end, or to the first look at which ``until``; return whether that came."""
        self._until, self._is_paused = until, False
        self.machine.bus.stop_requested = False
        self.session.run(self._look)
        return self._is_paused

    def _look(self) -> None:
        self._attend()
        if self.ended is None and self._until(self.session.pacer):
            self._is_paused = True
            self.machine.bus.stop_requested = True

    def _attend(self) -> None:
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
    order: SnapshotOrder | None = None,
) -> Run:
    """Run a guest to its end and return what was measured.

    ``progress`` is called a few hundred times a second; ``echo`` gets the console's output as it comes, and
    ``typed`` returns what to type into it; ``order`` has a snapshot taken on the way.  An interrupt by the
    user ends the run with what was measured.
    """
    with set_up(plan, boot, echo=echo) as session:
        return _to_the_end(session, Overseer(session, progress, typed), order)


def resume(
    snapshot: Snapshot,
    *,
    progress: Callable[[Progress], None] | None = None,
    echo: Callable[[bytes], None] | None = None,
    typed: Callable[[], bytes] | None = None,
    order: SnapshotOrder | None = None,
) -> Run:
    """Go on from a snapshot to the guest's end: like :func:`run`, with what the run had left before."""
    if order is not None and order.at_ns <= snapshot.guest_ns:
        raise BadInputError(
            f"a snapshot at {order.at_ns / NS_PER_S:g} s: "
            f"this machine stands at {snapshot.guest_ns / NS_PER_S:.3f} s"
        )
    with resumed(snapshot, echo=echo) as session:
        return _to_the_end(session, Overseer(session, progress, typed), order)


def outcome(session: Session, overseer: Overseer, *, kept: bool = False) -> Run:
    """Return what a run has left."""
    tables = session.tables(overseer.ended)
    return Run(tables, bytes(session.console.output), tuple(session.console.last_lines), kept)


def _to_the_end(session: Session, overseer: Overseer, order: SnapshotOrder | None) -> Run:
    kept = False
    try:
        if order is None:
            overseer.go()
        elif overseer.go(lambda pacer: pacer.guest_ns >= order.at_ns):
            snapshot = take(session)
            save_snapshot(snapshot, order.path)
            kept = True
            go_on(session, snapshot)
            overseer.go()
    except KeyboardInterrupt:
        overseer.ended = "interrupted"
    return outcome(session, overseer, kept=kept)
