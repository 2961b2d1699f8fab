"""A row on our own Quadra: in this process, or in one of its own where the host is to stop it."""

import ctypes
import multiprocessing
import os
import signal
import time
from dataclasses import replace
from multiprocessing.connection import Connection

from guestclock.errors import GuestclockError, UnavailableError
from guestclock.experiments.boot import Boot
from guestclock.experiments.compare.events import AT_NS, SIGSTOP, Event
from guestclock.experiments.compare.measured import HOST_CLOCK, Clock, Landmarks, Measured
from guestclock.experiments.run import RunPlan, run

_PR_SET_PDEATHSIG = 1


def measure(plan: RunPlan, boot: Boot, event: Event | None = None, clock: Clock = HOST_CLOCK) -> Measured:
    """Run the guest to its end; a machine that is to be stopped as ours can be is stalled for that long."""
    if event is not None and event.kind == SIGSTOP:
        return _stopped(plan, boot, event)
    if event is not None:
        plan = replace(plan, stall=f"at={AT_NS}ns,for={event.for_ns}ns")
    cpu_s = time.process_time()
    landmarks = Landmarks(clock)
    ran = run(plan, boot, echo=landmarks.take)
    end_ns = clock()
    return Measured(
        ran.tables,
        ran.console,
        landmarks.boot_s(),
        landmarks.shutdown_s(end_ns),
        time.process_time() - cpu_s,
    )


def _stopped(plan: RunPlan, boot: Boot, event: Event) -> Measured:
    """Run in a process that gets SIGSTOP, and SIGCONT after a while."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=_child, args=(theirs, plan, boot), daemon=True)
    child.start()
    theirs.close()
    try:
        # The child's machine starts when it says so, not when its interpreter does.
        ours.recv()
        begin_ns = HOST_CLOCK()
        assert child.pid is not None
        for at_ns, signalled in ((AT_NS, signal.SIGSTOP), (event.end_ns, signal.SIGCONT)):
            time.sleep(max(begin_ns + at_ns - HOST_CLOCK(), 0) / 1e9)
            os.kill(child.pid, signalled)
        outcome: Measured | GuestclockError = ours.recv()
    except EOFError:
        child.join()
        raise UnavailableError(f"our machine's process ended with status {child.exitcode}") from None
    finally:
        child.kill()
        child.join()
        ours.close()
    if isinstance(outcome, GuestclockError):
        raise outcome
    return outcome


def _child(parent: Connection, plan: RunPlan, boot: Boot) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    parent.send("ready")
    try:
        parent.send(measure(plan, boot))
    except GuestclockError as error:
        parent.send(error)
