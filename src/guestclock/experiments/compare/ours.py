"""A row on our own Quadra: in this process, or in one of its own where the host is to stop it.

A machine that is to be put back goes on from a file, as another machine in the same process.
"""

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from guestclock.errors import GuestclockError, UnavailableError
from guestclock.experiments.boot import Boot
from guestclock.experiments.compare.events import AT_NS, SAVEVM, SIGSTOP, Event
from guestclock.experiments.compare.measured import (
    HOST_CLOCK,
    MEASURING,
    Clock,
    Dialogue,
    Landmarks,
    Measured,
)
from guestclock.experiments.run import Overseer, RunPlan, outcome, run
from guestclock.experiments.session import set_up
from guestclock.experiments.snapshot import go_on, resumed, take
from guestclock.experiments.snapshot_file import load, save
from guestclock.qemu.binary import end_group, start
from guestclock.qemu.qtest import private_folder

_READY = b"!"
_MODULE = "guestclock.experiments.compare.ours"
"""By name: run as a program it is called otherwise."""


def measure(
    plan: RunPlan,
    boot: Boot,
    event: Event | None = None,
    dialogue: Dialogue = MEASURING,
    clock: Clock = HOST_CLOCK,
) -> Measured:
    """Run the guest to its end; a machine that is to be stopped as ours can be is stalled for that long."""
    if event is not None and event.kind == SIGSTOP:
        return _stopped(plan, boot, event)
    if event is not None and event.kind == SAVEVM:
        return _put_back(plan, boot, event, clock)
    if event is not None:
        plan = replace(plan, stall=f"at={AT_NS}ns,for={event.for_ns}ns")
    cpu_s = time.process_time()
    landmarks = Landmarks(clock, dialogue)
    typist = _Typist(dialogue, landmarks, plan.silence_s, clock) if dialogue.typed else None
    ran = run(plan, boot, echo=landmarks.take, typed=typist)
    end_ns = clock()
    tables = ran.tables
    if typist is not None and landmarks.is_down:
        tables = replace(tables, meta={**tables.meta, "ended": "done"})
    return Measured(
        tables,
        ran.console,
        landmarks.boot_s(),
        landmarks.shutdown_s(end_ns),
        time.process_time() - cpu_s,
    )


def _put_back(plan: RunPlan, boot: Boot, event: Event, clock: Clock) -> Measured:
    """Keep the machine in a file when the event begins, and when it ends go on from there."""
    cpu_s = time.process_time()
    landmarks = Landmarks(clock)
    with private_folder() as folder:
        file = Path(folder) / "snapshot"
        with set_up(plan, boot, echo=landmarks.take) as session:
            overseer = Overseer(session)
            if not overseer.go(lambda pacer: pacer.host_ns >= AT_NS):
                raise UnavailableError(f"the guest ended before {AT_NS / 1e9:g} s: give it more --seconds")
            taken_ns = clock()
            snapshot = take(session)
            save(snapshot, file)
            go_on(session, snapshot)
            session.console.echo = None  # what it says from here on is taken back
            overseer.go(lambda pacer: pacer.host_ns >= event.end_ns)
        with resumed(load(file), echo=landmarks.take) as session:
            taken_back = session.pacer.host_ns, clock() - taken_ns
            overseer = Overseer(session)
            overseer.go()
            ran = outcome(session, overseer)
    return Measured(
        ran.tables,
        ran.console,
        landmarks.boot_s(),
        landmarks.shutdown_s(clock()),
        time.process_time() - cpu_s,
        taken_back,
    )


class _Typist:
    """Types when the guest is up; one that does not come up or down is given up, for no watchdog looks."""

    def __init__(self, dialogue: Dialogue, landmarks: Landmarks, patience_s: int, clock: Clock) -> None:
        self._text, self._landmarks, self._clock = dialogue.typed, landmarks, clock
        self._patience_s = patience_s
        self._deadline_ns = clock() + patience_s * 1_000_000_000

    def __call__(self) -> bytes:
        if self._patience_s and self._clock() > self._deadline_ns:
            raise UnavailableError(f"our machine's guest does nothing for {self._patience_s} s")
        if self._landmarks.boot_s() is None:
            return b""
        text, self._text = self._text, b""
        if text:
            self._deadline_ns = self._clock() + self._patience_s * 1_000_000_000
        return text


def _stopped(plan: RunPlan, boot: Boot, event: Event) -> Measured:
    """Run in a process of its own, which gets SIGSTOP, and SIGCONT after a while."""
    child = start([sys.executable, "-m", _MODULE], subprocess.PIPE, subprocess.DEVNULL)
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        try:
            child.stdin.write(pickle.dumps((plan, boot)))
            # Its machine starts when it says so, not when its interpreter does.
            child.stdout.read(len(_READY))
            begin_ns = HOST_CLOCK()
            for at_ns, signalled in ((AT_NS, signal.SIGSTOP), (event.end_ns, signal.SIGCONT)):
                time.sleep(max(begin_ns + at_ns - HOST_CLOCK(), 0) / 1e9)
                child.send_signal(signalled)
            answer = child.stdout.read()
        finally:
            end_group(child)
    if not answer:
        raise UnavailableError(f"our machine's process ended with status {child.returncode}")
    outcome: Measured | GuestclockError = pickle.loads(answer)
    if isinstance(outcome, GuestclockError):
        raise outcome
    return outcome


def _answer_parent() -> None:
    """Be the process of :func:`_stopped`."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    plan, boot = pickle.load(sys.stdin.buffer)
    answers.write(_READY)
    answers.flush()
    try:
        outcome: Measured | GuestclockError = measure(plan, boot)
    except GuestclockError as error:
        outcome = error
    pickle.dump(outcome, answers)
    answers.flush()


if __name__ == "__main__":
    _answer_parent()
