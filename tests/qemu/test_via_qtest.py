"""The model of QEMU's VIA against a QEMU that lets us take the CPU's place: values, and each edge of IRQ.

Distributions leave that accelerator out, so by default the QEMU is played, by the model itself: what is
tested then is this test.  ``--qtest-qemu PATH`` takes a real one.
"""

import random
import sys
from pathlib import Path

import pytest
from via_programs import log_uniform, random_steps

from guestclock.chips.qemu_deviations import QEMU_7_2
from guestclock.chips.qemu_via import VIA1, QemuVia
from guestclock.errors import UnavailableError
from guestclock.qemu.binary import Binary, open_binary
from guestclock.qemu.qtest import Qtest, takes_qtest
from guestclock.qemu.steps import REGISTER_BYTES, VIA1_BASE, Kind

MACHINE = ("-M", "q800", "-accel", "qtest", "-m", "8")
# Where the lines to the CPU come together, by version.
GLUES = ("/machine/glue", "/machine/unattached/device[1]")
VIA1_LINE = "0"
LONGEST_WAIT_NS = 1 << 17
PLAYED_STEPS = 2_000


@pytest.fixture(scope="module")
def real(pytestconfig: pytest.Config) -> str:
    return str(pytestconfig.getoption("--qtest-qemu"))


@pytest.fixture
def binary(real: str, tmp_path: Path) -> Binary:
    if real:
        return open_binary(real)
    path = tmp_path / "qemu"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name("play_qtest.py")} "$@"\n')
    path.chmod(0o755)
    return open_binary(str(path))


class Beside:
    """A machine and the model, at the same instant; ``edges`` counts those that both made."""

    def __init__(self, machine: Qtest, via: QemuVia) -> None:
        self.machine = machine
        self.via = via
        self.edges = 0
        self.line = False

    def agree(self, what: str) -> None:
        """Compare the line as it was last told with the model's."""
        while self.machine.interrupts:
            edge, line = self.machine.interrupts.pop(0).split()
            if line == VIA1_LINE:
                self.line = edge == "raise"
                self.edges += 1
        assert self.line == self.via.irq, f"IRQ after {what} at {self.via.now_ns} ns"

    def wait(self, ns: int) -> None:
        """Go on, stopping 1 ns before each alarm and at it."""
        until_ns = self.via.now_ns + ns
        while (alarm_ns := self.via.next_event()) <= until_ns:
            self._step_to(alarm_ns - 1)
            self._step_to(alarm_ns)
        self._step_to(until_ns)

    def _step_to(self, ns: int) -> None:
        if ns > self.via.now_ns:
            self.machine.command(f"clock_step {ns - self.via.now_ns}")
            self.via.advance(ns)
            self.agree("a wait")

    def access(self, kind: Kind, register: int, value: int) -> None:
        address = VIA1_BASE + REGISTER_BYTES * register
        if kind == Kind.READ:
            found = int(self.machine.command(f"readb {address:#x}"), 16)
            assert found == self.via.read_here(register), f"register {register} at {self.via.now_ns} ns"
        else:
            self.machine.command(f"writeb {address:#x} {value:#x}")
            self.via.write_here(register, value)
        self.agree(f"an access to register {register}")


def intercept(machine: Qtest) -> None:
    for path in GLUES:
        try:
            machine.command(f"irq_intercept_in {path}")
        except UnavailableError:
            if machine.ended:
                raise
        else:
            return
    pytest.fail(f"none of {GLUES} is where this QEMU's interrupt lines come together")


def test_values_and_edges(binary: Binary, real: str, pytestconfig: pytest.Config) -> None:
    count = pytestconfig.getoption("--via-steps") if real else PLAYED_STEPS
    rng = random.Random("qtest")
    with Qtest(binary, MACHINE) as machine:
        intercept(machine)
        beside = Beside(machine, QemuVia(QEMU_7_2, VIA1))
        for step in random_steps(rng, count, 1):
            beside.wait(log_uniform(rng, LONGEST_WAIT_NS))
            if step.kind in {Kind.READ, Kind.WRITE}:
                beside.access(step.kind, step.register, step.value)
    assert beside.edges > count // 40
    print(f"{binary.version}: {count} steps, {beside.edges} edges, 0 differences")


def test_who_takes_qtest(binary: Binary, tmp_path: Path) -> None:
    assert takes_qtest(binary)
    path = tmp_path / "without"
    path.write_text('#!/bin/sh\n[ "$1" = --version ] && echo QEMU emulator version 1 || exit 1\n')
    path.chmod(0o755)
    assert not takes_qtest(open_binary(str(path)))
    path.write_text('#!/bin/sh\n[ "$1" = --version ] && echo QEMU emulator version 1 || sleep 60\n')
    with pytest.raises(UnavailableError, match="does not answer: 'clock_step 1'"):
        takes_qtest(open_binary(str(path), answer_s=0.5))


@pytest.mark.real
def test_debians_binary_does_not() -> None:
    assert not takes_qtest(open_binary())
