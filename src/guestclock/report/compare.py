"""A comparison for people, from the document that programs get as JSON."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from guestclock.verdict.drift import ALLOWED_OFFSET_NS
from guestclock.verdict.quantities import count, duration

Document = Mapping[str, Any]
_FAULT = "bold red"
_GOOD = "bold green"
_WIDEST = 10_000
UNKNOWN = "–"


@dataclass(frozen=True)
class Column:
    """A heading, the figure below it, how its spread over the rounds is written, which values are faults."""

    heading: str
    figure: str
    write: Callable[[Mapping[str, Any]], str]
    is_fault: Callable[[float], bool] = lambda _value: False


def _seconds(spread: Mapping[str, Any]) -> str:
    return (duration(spread["median"] * 1e9) if spread["median"] else "0 s") + _percent(spread)


def _nanoseconds(spread: Mapping[str, Any]) -> str:
    return duration(spread["median"]) + _percent(spread)


def _ratio(spread: Mapping[str, Any]) -> str:
    return f"{spread['median']:.2f}" + _percent(spread)


def _percent(spread: Mapping[str, Any]) -> str:
    """Return half of what lies between the least and the most, as a share of the median."""
    if len(spread["values"]) < 2 or not spread["median"]:
        return ""
    return f" ±{(spread['max'] - spread['min']) / 2 / abs(spread['median']):.0%}"


def _number(spread: Mapping[str, Any]) -> str:
    low, high = int(spread["min"]), int(spread["max"])
    return count(low) if low == high else f"{count(low)}–{count(high)}"


def _furthest(spread: Mapping[str, Any]) -> str:
    low, high = float(spread["min"]), float(spread["max"])
    return duration(round(low if -low > high else high))


def _drifted(value: float) -> bool:
    return abs(value) > ALLOWED_OFFSET_NS


TABLES: dict[str, tuple[Column, ...]] = {
    "clock": (
        Column("went back", "backward_steps", _number, bool),
        Column("worst", "backward_worst_ns", _furthest, bool),
        Column("longest gap", "gap_worst_ns", _furthest),
        Column("jumped", "forward_jumps", _number, bool),
        Column("lost ticks", "lost_ticks", _number, bool),
        Column("late", "late_acknowledges", _number, bool),
        Column("off at the end", "drift_ns", _furthest, _drifted),
        Column("moved by the event", "event_moved_ns", _furthest, _drifted),
    ),
    "calls": (
        Column("real", "real_s", _seconds),
        Column("sys", "system_s", _seconds),
        Column("user", "user_s", _seconds),
        Column("sys/user", "system_per_user", _ratio),
        Column("a call", "call_ns", _nanoseconds),
        Column("ratio", "call_ratio", _ratio),
    ),
    "machine": (
        Column("boot and power-off", "boot_shutdown_s", _seconds),
        Column("host CPU", "host_cpu_s", _seconds),
    ),
}
"""Heading of the rows, and the columns.  A table is left out where no row knows any of its figures."""


def show(console: Console, document: Document) -> None:
    """Print the clock of each row, what its calls cost, and a sentence."""
    console.print(Text(_title(document), style="bold"), soft_wrap=True)
    for heading, columns in TABLES.items():
        table = _table(document, heading, columns)
        if table is not None:
            _print(console, table)
    for remark in _remarks(document):
        console.print(Text(remark), soft_wrap=True)
    console.print(Text(document["sentence"], style=_GOOD if document["good"] else _FAULT), soft_wrap=True)


def _print(console: Console, table: Table) -> None:
    """Print a table as wide as it has to be: cut to fit, it would be none."""
    width = console.width
    wide = Measurement.get(console, console.options.update(max_width=_WIDEST), table).maximum
    console.width = max(width, wide)
    console.print(table)
    console.width = width


def _title(document: Document) -> str:
    averages = document["load_averages"]
    load = f"load average {min(averages):.2f} to {max(averages):.2f}"
    rounds = f"{count(document['rounds'], 'round')}, median ± half the range; counts from least to most"
    common = "".join(f"{word}, " for word in document["common"])
    return f"{common}{rounds}; {load} on {count(document['processors'], 'processor')}"


def _table(document: Document, heading: str, columns: tuple[Column, ...]) -> Table | None:
    rows = document["rows"]
    shown = [column for column in columns if any(row["figures"].get(column.figure) for row in rows)]
    if not shown:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(heading, no_wrap=True)
    for column in shown:
        table.add_column(column.heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row["name"], *(_cell(row["figures"].get(column.figure), column) for column in shown))
    return table


def _cell(spread: Mapping[str, Any] | None, column: Column) -> Text:
    if spread is None:
        return Text(UNKNOWN)
    at_fault = any(column.is_fault(value) for value in spread["values"] if value is not None)
    return Text(column.write(spread), style=_FAULT if at_fault else "")


def _remarks(document: Document) -> Iterator[str]:
    for row in document["rows"]:
        badly = [ended for ended in row["ended"] if ended != "done"]
        if badly:
            yield f"{row['name']}: the guest did not come to its end ({', '.join(dict.fromkeys(badly))})."
    for row in document["left_out"]:
        yield f"{row['name']}: left out, {row['why']}."
