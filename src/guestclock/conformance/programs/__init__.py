"""The programs that the package's vectors are made from, one module a feature.

A program is written from a fact of ``docs/6522.md``: what the CPU does, and what the fact's own arithmetic
says it must see.  ``python -m guestclock.conformance.programs`` runs them on the stepwise chip, refuses one
that disagrees with its fact, and writes ``vectors/6522``.
"""

from collections.abc import Callable, Iterator

from guestclock.conformance.programs import (
    calibration,
    control,
    ifr,
    latch,
    pb6,
    pb7,
    port,
    reset,
    sr,
    t1,
    t2,
)
from guestclock.conformance.programs.builder import Program

PROGRAMS: dict[str, Callable[[], Iterator[Program]]] = {
    "calibration": calibration.programs,
    "t1": t1.programs,
    "t2": t2.programs,
    "pb6": pb6.programs,
    "pb7": pb7.programs,
    "ifr": ifr.programs,
    "port": port.programs,
    "reset": reset.programs,
    "sr": sr.programs,
    "ca": control.ca,
    "cb": control.cb,
    "latch": latch.programs,
}
"""Feature to the programs that are about it."""
