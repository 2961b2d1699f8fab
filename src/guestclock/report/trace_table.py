"""A trace for people, from the document that programs get as JSON."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from guestclock.verdict.quantities import count, duration, times

_FAULT = "bold red"
_GOOD = "bold green"
EVENTS_SHOWN = 8
ACCESSES_SHOWN = 10
SIZES_SHOWN = 3
Document = Mapping[str, Any]


def show_trace(console: Console, document: Document) -> None:
    """Print what a trace says."""
    for part in _parts(document):
        console.print(part, soft_wrap=isinstance(part, Text))


def render_trace(document: Document) -> Group:
    """Return what rich shows of a trace."""
    return Group(*_parts(document))


def _parts(document: Document) -> Iterator[RenderableType]:
    span = document["span_us"]
    lasted = "no time stamps" if span is None else duration(span * 1000)
    yield Text(f"{count(document['lines'], 'line')}, {lasted}", style="bold")
    yield _events(document["events"])
    yield _accesses(document)
    for text, is_fault in _sentences(document):
        yield Text(text, style=_FAULT if is_fault else "")
    if document["good"]:
        yield Text("Nothing here shows the guest's clock at fault.", style=_GOOD)


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    return table


def _events(events: Mapping[str, int]) -> Table:
    table = _table("event", "lines")
    for name, number in list(events.items())[:EVENTS_SHOWN]:
        table.add_row(name, count(number))
    if len(events) > EVENTS_SHOWN:
        table.add_row(f"{len(events) - EVENTS_SHOWN} more", count(sum(list(events.values())[EVENTS_SHOWN:])))
    return table


def _accesses(document: Document) -> Table:
    timed = document["span_us"] is not None
    headings = ("fastest", "median", "p99", "together", "pauses") if timed else ()
    table = _table("access", "count", *headings)
    for row in document["accesses"][:ACCESSES_SHOWN]:
        cells = [f"{row['access']} {row['register']}", count(row["count"])]
        if timed:
            cells += [_us(row[name]) for name in ("fastest_us", "median_us", "p99_us", "busy_us")]
            cells.append(count(row["pauses"] or 0))
        table.add_row(*cells)
    return table


def _us(value: int | None) -> str:
    if value is None:
        return ""
    return duration(value * 1000) if value else "< 1 µs"


def _sentences(document: Document) -> Iterator[tuple[str, bool]]:
    yield _acknowledges(document["acknowledges"])
    if document["recomputations"]["lines"]:
        yield _storms(document["recomputations"], document["lines"]), False
    yield _clock(document["clock"])
    damage = document["damage"]
    if damage["lines"]:
        first = f"the first, line {damage['first_line']}: {damage['first_text']}"
        yield f"{count(damage['lines'], 'line')} could not be read; {first}", False
    if damage["cut_short"]:
        yield f"The compressed file is damaged; this is what could be read: {damage['cut_short']}", False
    if back := document["stamps_back"]:
        yield f"Time stamps went back {times(back)}: the host's clock was set.", False


def _acknowledges(part: Document) -> tuple[str, bool]:
    text = count(part["count"], "T1 acknowledge")
    if not part["intervals"]:
        return f"{text}, no interval between two has time stamps.", False
    text += (
        f": intervals p50 {_us(part['p50_us'])}, p99 {_us(part['p99_us'])}, longest {_us(part['max_us'])};"
        f" {count(part['over_20_ms'])} over 20 ms, {count(part['over_30_ms'])} over 30 ms."
    )
    if part["ticks_lost"]:
        due, lost = count(part["ticks_due"], "tick"), count(part["ticks_lost"])
        text += f" Of {due} due, {lost} were never acknowledged."
    return text, part["over_20_ms"] > 0


def _storms(part: Document, lines: int) -> str:
    latch, most = next(iter(part["by_latch"].items()))
    text = (
        f"{count(part['lines'], 'recomputation')} of a timer, {part['lines'] / lines:.1%} of all lines;"
        f" {count(most)} with latch {latch}."
    )
    if part["storms"]:
        text += (
            f" {count(part['storms'], 'storm')} of {count(part['storm_lines'])}"
            f" together, the longest {count(part['longest_storm_lines'])}."
        )
    return text


def _clock(part: Document) -> tuple[str, bool]:
    if not part["reads"]:
        return "No clock read: the trace holds no read of T1CH.", False
    text = f"{count(part['reads'], 'clock read')} as Linux does them"
    if not part["period_seen"]:
        text += f" (T1 was loaded before the trace began: {part['period_cycles']} cycles a tick assumed)"
    if not part["backward_steps"]:
        return f"{text}; none went back.", False
    worst = f"{count(-part['worst_cycles'])} cycles ({duration(-part['worst_us'] * 1000)})"
    sizes = ", ".join(
        f"{number} × {size} cycles" for size, number in list(part["by_cycles"].items())[:SIZES_SHOWN]
    ).replace("-", "−")
    return (
        f"{text}; {count(part['backward_steps'])} went back, the worst by {worst}"
        f" in line {part['worst_line']}. Most frequent: {sizes}."
        f" {count(part['at_reload'])} came from ticks counted before the counter reloaded,"
        f" {count(part['after_flag'])} from flags set between the reads of T1CH and IFR."
    ), True
