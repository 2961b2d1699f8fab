"""The model of QEMU's VIA is QEMU's VIA: random programs on a real binary, at the same virtual times.

`make soak-qemu` performs a million steps.
"""

import random

import pytest
from via_programs import first_difference, predict, random_steps

from guestclock.chips.qemu_deviations import QEMU_7_2
from guestclock.chips.qemu_via import VIA1, QemuVia
from guestclock.qemu.binary import open_binary
from guestclock.qemu.steps import run_steps

pytestmark = [pytest.mark.real, pytest.mark.compiled_only]

STEPS_A_RUN = 25_000
# The longest wait in turns of a loop of two instructions: with fast virtual code it takes more of them to
# reach the timers' periods.
LONGEST_LOOPS = {0: 1 << 15, 3: 1 << 14, 6: 1 << 12}


@pytest.mark.parametrize("shift", [0, 3, 6])
def test_random_programs(shift: int, pytestconfig: pytest.Config) -> None:
    total = -(-pytestconfig.getoption("--via-steps") // 3)
    binary = open_binary()
    performed = interruptions = 0
    while performed < total:
        rng = random.Random(f"via {shift} {performed}")
        steps = list(random_steps(rng, min(STEPS_A_RUN, total - performed), LONGEST_LOOPS[shift]))
        expected = predict(QemuVia(QEMU_7_2, VIA1), steps, shift)
        found = run_steps(binary, steps, shift)
        difference = first_difference(steps, found, expected)
        assert difference is None, f"program 'via {shift} {performed}': {difference}"
        performed += len(steps)
        interruptions += len(found.interruptions)
    print(f"shift {shift}: {performed} steps, {interruptions} interruptions, 0 differences")
