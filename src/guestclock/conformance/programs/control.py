"""The control lines of both ports."""

from collections.abc import Iterator

from guestclock.conformance.programs import edges, handshake
from guestclock.conformance.programs.builder import Program
from guestclock.conformance.programs.lines import A, B


def ca() -> Iterator[Program]:
    """Yield the programs of port A."""
    yield from edges.programs(A)
    yield from handshake.programs(A)
    yield from handshake.port_a()


def cb() -> Iterator[Program]:
    """Yield the programs of port B."""
    yield from edges.programs(B)
    yield from handshake.programs(B)
