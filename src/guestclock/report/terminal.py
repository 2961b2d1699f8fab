"""The verdict for people: one table a run, one column a clock or timer, and the sentence last."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from guestclock.readings import Tables
from guestclock.verdict import Verdict
from guestclock.verdict.cost import SourceCost
from guestclock.verdict.drift import ALLOWED_OFFSET_NS, ClockDrift
from guestclock.verdict.monotonicity import SourceSteps, Steps
from guestclock.verdict.quantities import count, duration, rate, times
from guestclock.verdict.stability import ClockStability
from guestclock.verdict.ticks import TimerTicks

_FAULT = "bold red"
MESSAGES_SHOWN = 5
"""Of the guest's complaints, so many are shown in full."""
STEADINESS_FROM_NS = 10_000_000_000
"""In shorter runs the most that a clock moved in a second is not far from its largest offset."""

Column = dict[tuple[str, str], Text]
"""The figures of one source; a key is the label of the row that it stands under, or none, and its own."""


def show(console: Console, tables: Tables, verdict: Verdict) -> None:
    """Print a run.  Into a pipe it has no colour, and each sentence is one line, however long."""
    console.print(render(tables, verdict), crop=False)


def render(tables: Tables, verdict: Verdict) -> "Report":
    """Return what rich prints of a run; :func:`show` prints it uncut."""
    return Report(_title(tables), _columns(verdict), _remarks(verdict), verdict.sentence, verdict.good)


@dataclass(frozen=True)
class Report:
    """A rich renderable: columns side by side where the terminal is wide enough, else one after another."""

    title: str
    columns: dict[str, Column]
    remarks: tuple[str, ...]
    sentence: str
    good: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the report out for ``console``."""
        if self.title:
            yield Text(self.title, style="bold")
        yield from self._tables(console, options)
        for remark in self.remarks:
            yield _line(console, remark, "")
        yield _line(console, self.sentence, "bold green" if self.good else _FAULT)

    def _tables(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self.columns:
            return
        side_by_side = _table(self.columns)
        if (
            Measurement.get(console, options.update(max_width=10_000), side_by_side).maximum
            <= options.max_width
        ):
            yield side_by_side
        else:
            yield from (_table({name: column}) for name, column in self.columns.items())


def _line(console: Console, text: str, style: str) -> Text:
    """Return a line of text that a terminal folds between words and a pipe gets whole."""
    if console.is_terminal:
        return Text(text, style=style)
    return Text(text, style=style, no_wrap=True, overflow="ignore")


def _table(columns: dict[str, Column]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for under, label in _rows(columns.values()):
        figures = [column.get((under, label), Text()) for column in columns.values()]
        table.add_row(f"  {label}" if under else label, *figures)
    return table


def _rows(columns: Iterable[Column]) -> list[tuple[str, str]]:
    """Return the keys of all columns, each row followed by those that stand under it."""
    keys = list(dict.fromkeys(key for column in columns for key in column))
    mains = [label for under, label in keys if not under]
    return sorted(keys, key=lambda key: mains.index(key[0] or key[1]))


def _title(tables: Tables) -> str:
    meta = tables.meta
    parts = [str(meta[name]) for name in ("guest", "clock") if name in meta]
    if meta.get("chip", "chip") != "chip":
        parts.append(f"VIA of {meta['chip']}")
    parts += [f"{meta[name]} {name}" for name in ("pacing", "host", "bus") if name in meta]
    parts += [f"{name} {meta[name]}" for name in ("stall", "seed") if meta.get(name) is not None]
    return ", ".join(parts)


def _columns(verdict: Verdict) -> dict[str, Column]:
    """Return the figures of each clock and timer."""
    columns: dict[str, Column] = {}
    for steps in verdict.monotonicity.sources:
        columns.setdefault(steps.source, {}).update(_steps(steps))
    for clock in verdict.drift.clocks:
        if clock.reference == verdict.drift.reference:
            columns.setdefault(clock.source, {}).update(_drift(clock))
    for followed in verdict.stability.clocks:
        if followed.reference == verdict.drift.reference:
            columns.setdefault(followed.source, {}).update(_stability(followed))
    for cost in verdict.cost.sources:
        columns.setdefault(cost.source, {}).update(_cost(cost, verdict.cost.time))
    for timer in verdict.ticks.timers:
        columns.setdefault(timer.source, {}).update(_ticks(timer))
    return columns


def _figure(text: str, is_fault: bool = False) -> Text:
    return Text(text, style=_FAULT if is_fault else "")


def _steps(steps: SourceSteps) -> Column:
    column = {("", "comparisons"): _figure(count(steps.comparisons))}
    column |= _of_steps("backward steps", steps.backward, steps.backward.count > 0)
    column |= _of_steps("jumps ahead", steps.forward, steps.forward.count > 0)
    column |= _of_steps("gaps over a tick", steps.gaps, False)
    return column


def _of_steps(label: str, steps: Steps, is_fault: bool) -> Column:
    column = {("", label): _figure(count(steps.count), is_fault)}
    if steps.count:
        column[label, "worst"] = _figure(duration(steps.worst_ns), is_fault)
        column[label, "all together"] = _figure(duration(steps.sum_ns), is_fault)
    return column


def _drift(clock: ClockDrift) -> Column:
    whole = clock.whole
    label = _offset_label(clock.reference)
    column = {
        ("", label): _figure(duration(whole.final_offset_ns), abs(whole.final_offset_ns) > ALLOWED_OFFSET_NS)
    }
    column[label, "largest"] = _figure(duration(whole.max_offset_ns))
    if whole.rate_ppm is not None:
        column[label, "rate"] = _figure(rate(whole.rate_ppm))
    return column


def _stability(clock: ClockStability) -> Column:
    moved_ns = clock.whole.mtie_1s_ns
    if moved_ns is None or clock.whole.elapsed_ns < STEADINESS_FROM_NS:
        return {}
    return {(_offset_label(clock.reference), "moved in any second"): _figure(duration(moved_ns))}


def _offset_label(reference: str) -> str:
    return f"offset to {'the host' if reference == 'host' else 'true time'}"


def _cost(cost: SourceCost, time: str) -> Column:
    label = f"a call, {time} time"
    return {
        ("", label): _figure(duration(cost.median_ns)),
        (label, "fastest"): _figure(duration(cost.min_ns)),
        (label, "99 of 100 within"): _figure(duration(cost.p99_ns)),
    }


def _ticks(timer: TimerTicks) -> Column:
    column = {
        ("", "ticks"): _figure(count(timer.acknowledges)),
        ("", "lost"): _figure(count(timer.lost), timer.lost > 0),
    }
    shares = (
        (timer.lost_by_host, "by the host"),
        (timer.lost_by_guest, "by the guest"),
        (timer.lost_unexplained, "unexplained"),
    )
    for number, label in shares:
        if number:
            column["lost", label] = _figure(count(number), True)
    column["", "acknowledged late"] = _figure(count(timer.late_acknowledges), timer.late_acknowledges > 0)
    if timer.late_acknowledges:
        column["acknowledged late", "worst"] = _figure(duration(timer.late_worst_ns), True)
    return column


def _remarks(verdict: Verdict) -> tuple[str, ...]:
    """Return what stands below the table, a line each: stalls, stray accesses, the guest's own words."""
    health, remarks = verdict.health, []
    if health.stalls:
        remarks.append(f"The host stalled {times(health.stalls)}, {duration(health.stalled_ns)} in all.")
    if health.unmapped_accesses:
        remarks.append(
            f"{count(health.unmapped_accesses, 'access', 'accesses')} went to addresses where nothing is."
        )
    counter = verdict.ticks.counter
    if counter and abs(counter.missing) > 1:
        remarks.append(f"{count(counter.due)} ticks were due, the guest counted {count(counter.counted)}.")
    if health.ended == "interrupted":
        remarks.append("Interrupted: this is what was measured so far.")
    remarks += [f"The guest said: {text}" for text in health.said[:MESSAGES_SHOWN]]
    if len(health.said) > MESSAGES_SHOWN:
        remarks.append(f"… and {count(len(health.said) - MESSAGES_SHOWN, 'more line')}.")
    return tuple(remarks)
