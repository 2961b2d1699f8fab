"""Clocks side by side for people: one row a clock, from the documents that programs get as JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from guestclock.verdict.quantities import count, duration, rate

Row = Mapping[str, Any]
_FAULT = "bold red"
WIDE = 120
"""Terminals narrower than this get the most important columns only."""
_LEVEL_STYLES = {"fault": _FAULT, "slow": "bold yellow", "risk": "yellow", "note": "dim"}


def show_kvm(console: Console, document: Mapping[str, Any]) -> None:
    """Print what the micro-guest measured."""
    ghz = document["tsc_khz"] / 1e6
    native = "natively" if document["native"] else "interpreted: no times"
    console.print(Text(f"KVM guest, user mode, {native}; TSC {ghz:.6g} GHz", style="bold"))
    console.print(_clock_table(console, document["clocks"], _KVM_COLUMNS))
    for line in _kvm_lines(document):
        console.print(Text(line), soft_wrap=True)
    for line in document["missing"]:
        console.print(Text(f"Not measured: {line}", style="yellow"), soft_wrap=True)
    for line in document["faults"]:
        console.print(Text(line, style=_FAULT), soft_wrap=True)
    if document["good"]:
        console.print(Text("This KVM's clock is as it must be.", style="bold green"))


def show_doctor(console: Console, document: Mapping[str, Any]) -> None:
    """Print an examination of this machine, the findings last."""
    machine = document["machine"]
    console.print(Text(_machine_line(machine), style="bold"), soft_wrap=True)
    console.print(
        Text(
            f"clocksource {machine['clocksource'] or 'unknown'}"
            f" (available: {' '.join(machine['clocksources']) or 'unknown'}),"
            f" {count(len(document['cpus']), 'CPU')}"
        ),
        soft_wrap=True,
    )
    console.print(_clock_table(console, document["clocks"], _DOCTOR_COLUMNS))
    for finding in document["findings"]:
        level = finding["level"]
        console.print(
            Text.assemble((f"{level.upper():<6}", _LEVEL_STYLES[level]), finding["title"]), soft_wrap=True
        )
        for word in ("consequence", "remedy"):
            if finding[word]:
                arrow = "→" if word == "remedy" else " "
                console.print(Text(f"     {arrow} {finding[word]}", style="dim"), soft_wrap=True)


def _machine_line(machine: Mapping[str, Any]) -> str:
    parts = [
        machine["cpu"] or machine["architecture"],
        f"under {machine['hypervisor']}" if machine["hypervisor"] else "no hypervisor seen",
        f"Linux {machine['kernel']}" if machine["kernel"] else "",
        f"in a container ({machine['container']})" if machine["container"] else "",
    ]
    return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class _Column:
    """A column: its heading, what it shows of a row, and whether a narrow terminal keeps it."""

    heading: str
    cell: Callable[[Row], Text]
    keep: bool


def _clock_table(console: Console, rows: Sequence[Row], columns: Sequence[_Column]) -> Table:
    shown = [column for column in columns if column.keep or console.width >= WIDE]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("clock", no_wrap=True)
    for column in shown:
        table.add_column(column.heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row["title"], *(column.cell(row) for column in shown))
    return table


def _time(name: str) -> Callable[[Row], Text]:
    return lambda row: Text(duration(row[name]) if row.get(name) else "")


def _cycles(row: Row) -> Text:
    return Text(f"{row['min_cycles']:.1f}" if "min_cycles" in row else "")


def _kernel(row: Row) -> Text:
    return Text({True: "system call", False: "vDSO", None: ""}[row.get("enters_kernel")])


def _compared(row: Row) -> Text:
    return Text(count(row["comparisons"]) if "comparisons" in row else "")


def _went_back(row: Row) -> Text:
    return Text(count(row["backward_steps"]), _step_style(row)) if "backward_steps" in row else Text()


def _worst(row: Row) -> Text:
    return Text(duration(row["worst_step_ns"]), _step_style(row)) if row.get("backward_steps") else Text()


def _step_style(row: Row) -> str:
    return _FAULT if row["backward_steps"] and not row["steps_expected"] else ""


def _rate(row: Row) -> Text:
    ppm = row.get("rate_against_raw_ppm")
    return Text("" if ppm is None else rate(ppm))


_COSTS = (
    _Column("fastest", _time("min_ns"), True),
    _Column("median", _time("median_ns"), True),
    _Column("p99", _time("p99_ns"), False),
)
_STEPS = (
    _Column("reads compared", _compared, False),
    _Column("went back", _went_back, True),
    _Column("worst", _worst, False),
)
_KVM_COLUMNS = (*_COSTS, _Column("cycles", _cycles, True), *_STEPS)
_LINUX_COLUMNS = (
    *_COSTS,
    _Column("path", _kernel, True),
    _Column("system call", _time("system_call_ns"), False),
    *_STEPS,
)
_DOCTOR_COLUMNS = (
    *_COSTS,
    _Column("path", _kernel, True),
    _Column("step", _time("smallest_step_ns"), False),
    *_STEPS,
    _Column("vs RAW", _rate, True),
)


def _kvm_lines(document: Mapping[str, Any]) -> list[str]:
    lines = []
    named = {
        "pvclock_one_to_lfence_rdtsc": "today's pvclock read costs {:.2f} × lfence; rdtsc",
        "pvclock_two_to_pvclock_one": "a second barrier makes it {:.2f} ×",
        "pvclock_2014_to_pvclock_one": "the reader of 2014 costs {:.2f} × today's",
    }
    told = [named[name].format(value) for name, value in document["ratios"].items() if name in named]
    if told:
        lines.append(f"{'; '.join(told)}.".capitalize())
    if page := document["page"]:
        lines.append(
            f"Page against KVM_GET_CLOCK: {count(page['exact'])} of {count(page['looks'])} at 0 ns;"
            f" mul {page['mul']:#x}, shift {page['shift']}"
            f" (from the frequency: {page['mul_expected']:#x}, {page['shift_expected']})."
        )
    if sums := document["arithmetic"]:
        lines.append(
            f"Guest arithmetic against exact integers: {sums['live_wrong']} of {count(sums['live'])} live and"
            f" {sums['random_wrong']} of {count(sums['random'])} random pages differ (seed {sums['seed']})."
        )
    off = document["master_clock"]["off"]
    if off:
        apart = (
            "" if off["pages_apart_ns"] is None else f" pages {duration(abs(off['pages_apart_ns']))} apart,"
        )
        lines.append(
            f"Master clock off: TSC_STABLE {'set' if off['tsc_stable'] else 'clear'},{apart}"
            f" {count(off['backward_steps'], 'backward step')}; with the global clamp"
            f" {off['backward_steps_clamped']}."
        )
    lines.extend(
        f"KVM_SET_CLOCK, {jump['title']}: the guest's clock jumps by {duration(jump['jump_ns'])}."
        for jump in document["set_clock"]
    )
    return lines


def show_switched(console: Console, document: Mapping[str, Any]) -> None:
    """Print the clocks under each clocksource that was made the system's."""
    for part in document["clocksources"]:
        console.print(Text(f"clocksource {part['clocksource']}", style="bold"))
        rows = [row for row in part["clocks"] if row["name"].startswith("CLOCK_")]
        console.print(_clock_table(console, rows, _DOCTOR_COLUMNS))


def show_linux(console: Console, document: Mapping[str, Any]) -> None:
    """Print every clock under every clocksource of the Linux guest."""
    how = "KVM" if document["accelerator"] == "kvm" else "emulation (TCG), without KVM"
    title = f"Linux {document['kernel']} under {how}, {count(document['cpus'], 'CPU')}; {document['qemu']}"
    console.print(Text(title, style="bold"), soft_wrap=True)
    if document["accelerator"] != "kvm" and document["why_not_kvm"] != "asked for":
        console.print(Text(f"No KVM: {document['why_not_kvm']}.", style="yellow"), soft_wrap=True)
    for part in document["clocksources"]:
        chosen = ", chosen at boot" if part["clocksource"] == document["clocksource_at_boot"] else ""
        drift = part["drift"]
        kept = (
            f"; {rate(drift['rate_ppm'])} against the host" if drift and drift["rate_ppm"] is not None else ""
        )
        state = f"{chosen}{kept}" if part["taken"] else ": the kernel did not take it"
        console.print(Text(f"clocksource {part['clocksource']}{state}", style="bold"), soft_wrap=True)
        if part["clocks"]:
            console.print(_clock_table(console, part["clocks"], _LINUX_COLUMNS))
    for line in document["faults"]:
        console.print(Text(line, style=_FAULT), soft_wrap=True)
    if document["good"]:
        console.print(Text("No clock of the guest went back.", style="bold green"))
