"""A whole machine as data: taken from a session between two blocks of code, and put into a new one.

What counts is that nothing tells the difference: a machine put back goes on as the one that was not stopped,
in virtual time and on a simulated host to the byte.  A real host's clock goes on from what it showed: while
a machine is a snapshot no time passes, neither its own nor the host's (``docs/quadra.md``, "Snapshots").
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from guestclock.errors import BadInputError
from guestclock.experiments.boot import Boot
from guestclock.experiments.console import ConsoleState
from guestclock.experiments.plan import RunPlan
from guestclock.experiments.session import Session, set_up

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Snapshot:
    """A machine that stands still, and what it has left so far.

    ``machine`` is the state of all its parts (:meth:`guestclock.quadra.machine.Quadra.snapshot`), ``memory``
    the whole of its RAM; ``probes`` and ``events`` are its logs, ``start_s`` the Unix time at which its clock
    chip began.
    """

    plan: RunPlan
    boot: Boot
    machine: dict[str, Any]
    memory: bytes
    probes: Rows
    events: Rows
    console: ConsoleState
    start_s: int
    typed_into: bool
    stood_still_ns: tuple[int, ...]

    @property
    def guest_ns(self) -> int:
        """The guest time at which it stands."""
        return int(self.machine["board"]["pacer"]["guest_ns"])


def take(session: Session) -> Snapshot:
    """Return the state of a session whose machine is not running."""
    machine = session.machine
    return Snapshot(
        plan=session.plan,
        boot=session.boot,
        machine=machine.snapshot(),
        memory=machine.memory[:],
        probes=machine.bus.probes.rows(),
        events=machine.bus.events.rows(),
        console=session.console.snapshot(),
        start_s=session.start_s,
        typed_into=session.typed_into,
        stood_still_ns=tuple(session.stood_still_ns),
    )


def put_back(session: Session, snapshot: Snapshot) -> None:
    """Let a session that was set up by the same plan, and has not run, become what was taken.

    Raises :class:`BadInputError` when the state does not fit the machine.
    """
    machine = session.machine
    try:
        machine.memory[:] = snapshot.memory
        machine.bus.probes.restore(snapshot.probes)
        machine.bus.events.restore(snapshot.events)
        session.console.restore(snapshot.console)
        machine.restore(snapshot.machine)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise BadInputError(f"this state is of another machine ({type(error).__name__}: {error})") from error
    session.typed_into = snapshot.typed_into
    session.stood_still_ns = [*snapshot.stood_still_ns, snapshot.guest_ns]


def go_on(session: Session, snapshot: Snapshot) -> None:
    """Let host time go on from the snapshot that was just taken of this session: keeping it took no time."""
    if session.host is not None:
        session.host.restore(snapshot.machine["board"]["pacer"]["host"])
    session.stood_still_ns.append(snapshot.guest_ns)


@contextmanager
def resumed(snapshot: Snapshot, *, echo: Callable[[bytes], None] | None = None) -> Iterator[Session]:
    """Set a machine up that goes on where the snapshot was taken, and free it when the block is left."""
    with set_up(snapshot.plan, snapshot.boot, echo=echo, start_s=snapshot.start_s) as session:
        put_back(session, snapshot)
        yield session
