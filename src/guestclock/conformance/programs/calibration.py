"""Where accesses stand against the counters: one cycle off explains nearly all else."""

from collections.abc import Iterator

from guestclock.conformance.programs.builder import LOAD, T1, T2, Program

COUNT = 0x1280
"""No read of its low byte comes near a borrow; none comes so early that a wrong one misses the load."""


def programs() -> Iterator[Program]:
    """Yield a program for each timer."""
    for timer in (T1, T2):
        program = Program(
            f"calibration.{timer.name.lower()}",
            1,
            f"{timer.name} loaded with N reads N − (k − 1) in cycle k: accesses are placed right",
        )
        program.load(timer, COUNT)
        for k in (2, 3, 7, 20, 64):
            program.read_count(LOAD + k, timer, COUNT - (k - 1))
        yield program
