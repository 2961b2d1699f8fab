"""Predictions for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from guestclock.report.whole import plain_table, print_whole
from guestclock.verdict.quantities import duration, rate

_FAULT = "bold red"


def show_predictions(console: Console, document: Mapping[str, Any]) -> None:
    """Print the parts that were asked for."""
    if document["rates"]:
        _show_rates(console, document["rates"])
    if document["migration"]:
        _show_migration(console, document["migration"])
    if document["faults"]:
        _show_faults(console, document["faults"])


def _show_rates(console: Console, rates: Sequence[Mapping[str, Any]]) -> None:
    table = plain_table("TSC", "page error", "host error", "guest − host", "jump a day", "page", "host")
    for row in rates:
        table.add_row(
            f"{row['tsc_hz'] / 1e9:.6g} GHz",
            _ppb(row["page_error_ppb"]),
            _ppb(row["host_error_ppb"]),
            _ppb(row["guest_minus_host_ppb"]),
            Text(_signed(row["jump_ns_per_day"] / 1e6, 2, "ms"), _FAULT if row["jumps_backwards"] else ""),
            f"{row['page_mul']:#x} {row['page_shift']}",
            f"{row['host_mult']} {row['host_shift']}",
        )
    print_whole(console, table)
    line = "The guest's clock jumps by so much at a master-clock update, for each day since the last one"
    backwards = any(row["jumps_backwards"] for row in rates)
    console.print(Text(f"{line}{': back, where it is negative' if backwards else ''}."), soft_wrap=True)


def _ppb(value: float) -> str:
    return _signed(value, 3, "ppb")


def _signed(value: float, digits: int, unit: str) -> str:
    return f"{value:+.{digits}f} {unit}".replace("-", "−")


def _show_migration(console: Console, migration: Mapping[str, Any]) -> None:
    backwards = migration["goes_backwards"]
    lines = {
        "kvm-clock": _step(migration["kvmclock_step_ns"], f"method {migration['method']}"),
        "TSC": _step(migration["tsc_step_ns"], f"method {migration['tsc_method']}"),
        "tsc clocksource's rate": f"{rate(migration['tsc_rate_error_ppm'])} unless the TSC is scaled",
    }
    down = duration(migration["downtime_ns"])
    console.print(Text(f"Migration, {down} of downtime, against true time:", style="bold"), soft_wrap=True)
    for name, line in lines.items():
        console.print(Text(f"  {name:24}{line}"), soft_wrap=True)
    if backwards:
        back = duration(migration["kvmclock_ns_before"] - migration["kvmclock_ns_after"])
        console.print(
            Text(f"The guest reads a time {back} before its last one.", style=_FAULT), soft_wrap=True
        )


def _step(step_ns: int, how: str) -> str:
    if step_ns == 0:
        return f"goes on exactly ({how})"
    word = "ahead" if step_ns > 0 else "behind"
    return f"{duration(abs(step_ns))} {word} ({how})"


def _show_faults(console: Console, faults: Sequence[Mapping[str, Any]]) -> None:
    table = plain_table("fault", "read wrongly", "right")
    for fault in faults:
        table.add_row(fault["name"], Text(_value(fault["wrong_ns"]), _FAULT), _value(fault["right_ns"]))
    print_whole(console, table)
    for fault in faults:
        console.print(
            Text.assemble((f"{fault['name']}: ", "bold"), f"{fault['cause']} ({fault['case']})"),
            soft_wrap=True,
        )


def _value(value_ns: int | None) -> str:
    if value_ns is None:
        return "refused"
    years = value_ns / (365.25 * 86_400e9)
    return f"{years:.1f} years" if years > 1 else duration(value_ns)
