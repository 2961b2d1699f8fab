"""A vector as a waveform: Value Change Dump (IEEE 1364-2005, clause 18), for GTKWave and Surfer."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from guestclock.chips.registers import REGISTER_NAMES
from guestclock.conformance.targets import LINES
from guestclock.conformance.timeline import Moment

UNITS_PER_HALF_CYCLE = 5
"""VCD knows no half-cycles: a φ2 cycle is drawn as a microsecond, in units of 100 ns."""


class Signal(NamedTuple):
    """A line of the waveform; ``bits`` 0 makes it text."""

    group: str
    name: str
    bits: int


Value = int | str | None
"""What a signal shows; None is undefined."""

SIGNALS = (
    Signal("bus", "phi2", 1),
    Signal("bus", "cycle", 32),
    Signal("bus", "access", 0),
    Signal("bus", "rs", 4),
    Signal("bus", "rw", 1),
    Signal("bus", "data", 8),
    Signal("t1", "t1_counter", 16),
    Signal("t1", "t1_latch", 16),
    Signal("t2", "t2_counter", 16),
    Signal("t2", "t2_latch", 8),
    *(Signal("flags", f"ifr{bit}_{name}", 1) for bit, name in
      enumerate(("ca2", "ca1", "sr", "cb2", "cb1", "t2", "t1", "any"))),
    Signal("flags", "ier", 8),
    Signal("control", "acr", 8),
    Signal("control", "pcr", 8),
    Signal("control", "sr", 8),
    Signal("pins", "irq_n", 1),
    Signal("pins", "pa", 8),
    Signal("pins", "pb", 8),
    Signal("pins", "pb6", 1),
    Signal("pins", "pb7", 1),
    *(Signal("pins", line, 1) for line in LINES),
)  # fmt: skip


def write_vcd(name: str, moments: Iterable[Moment]) -> str:
    """Return the waveform of a vector."""
    lines = ["$comment", f"  6522 vector {name}; a φ2 cycle is 1 us", "$end", "$timescale 100 ns $end"]
    lines += _declarations(name)
    before: list[Value] = ["" for _ in SIGNALS]
    half = 0
    for moment in moments:
        for half in (2 * moment.cycle, 2 * moment.cycle + 1):
            values = _values(moment, half % 2)
            changes = [index for index, value in enumerate(values) if value != before[index]]
            if changes:
                lines.append(f"#{UNITS_PER_HALF_CYCLE * half}")
                lines += [_change(index, values[index]) for index in changes]
            before = values
    lines.append(f"#{UNITS_PER_HALF_CYCLE * (half + 1)}")
    return "\n".join(lines) + "\n"


def _declarations(name: str) -> Iterator[str]:
    yield f"$scope module {name} $end"
    groups = list(dict.fromkeys(signal.group for signal in SIGNALS))
    for group in groups:
        yield f"$scope module {group} $end"
        for index, signal in enumerate(SIGNALS):
            if signal.group == group:
                kind = "wire" if signal.bits else "string"
                bounds = f" [{signal.bits - 1}:0]" if signal.bits > 1 else ""
                yield f"$var {kind} {max(signal.bits, 1)} {_code(index)} {signal.name}{bounds} $end"
        yield "$upscope $end"
    yield "$upscope $end"
    yield "$enddefinitions $end"


def _values(moment: Moment, second_half: int) -> list[Value]:
    """Return what the signals show, in the order of SIGNALS."""
    kind, register, value = moment.access or (None, None, None)
    pins = moment.pins[second_half]
    port_b = pins["pb"]
    text = "" if register is None else f"{kind}_{REGISTER_NAMES[register]}"
    return [
        second_half, moment.cycle, text, register, None if kind is None else int(kind == "r"), value,
        moment.t1, moment.t1_latch, moment.t2, moment.t2_latch,
        *(moment.ifr >> bit & 1 for bit in range(8)), moment.ier, moment.acr, moment.pcr, moment.sr,
        pins["irq"], pins["pa"], port_b, port_b >> 6 & 1, port_b >> 7, *(pins[line] for line in LINES),
    ]  # fmt: skip


def _change(index: int, value: Value) -> str:
    signal = SIGNALS[index]
    if not signal.bits:
        return f"s{value} {_code(index)}"
    if signal.bits == 1:
        return f"{'x' if value is None else value}{_code(index)}"
    return f"b{'x' if value is None else format(int(value), 'b')} {_code(index)}"


def _code(index: int) -> str:
    return chr(ord("!") + index)
