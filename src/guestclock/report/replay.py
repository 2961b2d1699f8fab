"""A machine stopped before a backward step, for people: from the document that programs get as JSON."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from guestclock.verdict.quantities import count, duration

Document = Mapping[str, Any]
NS_PER_S = 1_000_000_000
_PLAIN = ("T1CL", "T1CH", "T1LL", "T1LH", "T2CL", "T2CH", "ORA_NO_HANDSHAKE")
"""Registers that the counters and latches show already, and one that is another's double."""


def show(console: Console, document: Document) -> None:
    """Print the step, the chips, and the timeline."""
    step, stopped = document["step"], document["stopped"]
    console.print(
        f"Step {step['number']} of {step['total']}: {step['clock']} goes back by "
        f"{duration(abs(step['stepped_ns']))}, from {_seconds(step['before_ns'])} to "
        f"{_seconds(step['after_ns'])}.",
        highlight=False,
        soft_wrap=True,
    )
    where = (
        f"guest time {_seconds(stopped['guest_ns'])}",
        f"host time {_seconds(stopped['host_ns'])}",
        f"φ2 cycle {count(stopped['cycle'])}",
        f"{count(stopped['code_bytes'])} bytes of code",
        f"interrupt level {stopped['interrupt_level']}",
        f"the CPU masks up to {stopped['interrupt_mask']}",
    )
    console.print(
        f"Stopped before access {count(stopped['before_access'])}: {', '.join(where)}.",
        highlight=False,
        soft_wrap=True,
    )
    console.print(_chips(document["chips"]))
    console.print(_timeline(document))


def _seconds(ns: int) -> str:
    whole, rest = divmod(ns, NS_PER_S)
    return f"{whole:,}.{rest:09d} s"


def _chips(chips: Mapping[str, Document]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in chips:
        table.add_column(name.upper(), justify="right")
    rows = [("T1 counter", "t1_counter"), ("T1 latch", "t1_latch"), ("T2 counter", "t2_counter")]
    for label, key in [*rows, ("T2 latch", "t2_latch")]:
        table.add_row(label, *(f"{chip[key]:04X}" for chip in chips.values()))
    table.add_row("flags set", *(chip["flags"] or "none" for chip in chips.values()))
    table.add_row("enabled", *(chip["enabled"] or "none" for chip in chips.values()))
    table.add_row("IRQ", *("low" if chip["irq"] else "high" for chip in chips.values()))
    for register in next(iter(chips.values()))["registers"]:
        if register not in _PLAIN:
            table.add_row(register, *(f"{chip['registers'][register]:02X}" for chip in chips.values()))
    return table


def _timeline(document: Document) -> Table:
    """Return what happened, with the guest time from the stop."""
    table = Table(box=None, pad_edge=False)
    table.add_column("access", justify="right", no_wrap=True)
    table.add_column("guest time", justify="right", no_wrap=True)
    for heading in ("what", "value", ""):
        table.add_column(heading, no_wrap=True)
    stop_ns = document["stopped"]["guest_ns"]
    for what in document["past"]:
        table.add_row(*_cells(what, stop_ns))
    table.add_row("", "", Text("stopped here; next:", style="bold"))
    for what in document["coming"]:
        table.add_row(*_cells(what, stop_ns))
    return table


def _cells(what: Document, stop_ns: int) -> list[str]:
    return [
        "" if what["access"] is None else count(what["access"]),
        "" if what["guest_ns"] is None else duration(what["guest_ns"] - stop_ns),
        what["what"],
        what["value"],
        what["note"],
    ]
