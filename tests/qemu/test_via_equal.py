"""The model of QEMU's VIA is QEMU's VIA: random programs on a real binary, at the same virtual times.

`make soak-qemu` performs a million steps.
"""

import random

import pytest
from via_programs import VIA2_WRITES, WRITES, first_difference, predict, random_steps

from guestclock.chips.qemu_deviations import QEMU_7_2
from guestclock.chips.qemu_via import VIA1, VIA2, QemuVia
from guestclock.qemu.binary import open_binary
from guestclock.qemu.steps import VIA1_BASE, VIA2_BASE, run_steps

pytestmark = [pytest.mark.real, pytest.mark.compiled_only]

VIAS = {1: (VIA1, VIA1_BASE, WRITES), 2: (VIA2, VIA2_BASE, VIA2_WRITES)}
STEPS_A_RUN = 25_000
# The longest wait in turns of a loop of two instructions: with fast virtual code it takes more of them to
# reach the timers' periods.
LONGEST_LOOPS = {0: 1 << 15, 3: 1 << 14, 6: 1 << 12}


@pytest.mark.parametrize(("number", "shift"), [(1, 0), (1, 3), (1, 6), (2, 3)])
def test_random_programs(number: int, shift: int, pytestconfig: pytest.Config) -> None:
    wiring, base, writes = VIAS[number]
    total = -(-pytestconfig.getoption("--via-steps") // 3)
    binary = open_binary()
    performed = interruptions = 0
    while performed < total:
        seed = f"via{number} {shift} {performed}"
        count = min(STEPS_A_RUN, total - performed)
        steps = list(random_steps(random.Random(seed), count, LONGEST_LOOPS[shift], writes))
        expected = predict(QemuVia(QEMU_7_2, wiring), steps, shift)
        found = run_steps(binary, steps, shift, base)
        difference = first_difference(steps, found, expected)
        assert difference is None, f"program '{seed}': {difference}"
        performed += len(steps)
        interruptions += len(found.interruptions)
    print(f"VIA{number}, shift {shift}: {performed} steps, {interruptions} interruptions, 0 differences")
