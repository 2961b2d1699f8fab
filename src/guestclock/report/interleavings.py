"""Schedules and their verdicts for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from guestclock.report.whole import plain_table, print_whole
from guestclock.verdict.quantities import count

_GOOD, _FAULT = "bold green", "bold red"
_THREAD_STYLES = ("cyan", "magenta", "blue", "green", "yellow")


def show_interleavings(console: Console, document: Mapping[str, Any]) -> None:
    """Print one answer with its schedule, or the table of many."""
    results = document["results"]
    size = f"{count(document['vcpus'], 'vCPU')}, {count(document['updates'], 'update')}"
    console.print(Text(f"{document['model_title']}; {size}", style="bold"), soft_wrap=True)
    if len(results) == 1:
        _show_one(console, document, results[0])
    else:
        _show_all(console, document)


def _show_one(console: Console, document: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    hypervisor = result["hypervisor"]
    console.print(Text(f"reader      {result['reader']}: {result['reader_title']}"), soft_wrap=True)
    console.print(Text(f"hypervisor  {hypervisor}: {document['hypervisors'][hypervisor]}"), soft_wrap=True)
    if result["proved"]:
        states = count(result["states"], "state")
        console.print(Text(f"Right in every schedule ({states}).", style=_GOOD), soft_wrap=True)
        return
    print_whole(console, _schedule(result["schedule"]))
    fault = result["fault"]
    console.print(Text(f"{fault['kind'].capitalize()}: {fault['text']}.", style=_FAULT), soft_wrap=True)


def _schedule(rows: list[Mapping[str, Any]]) -> Table:
    """One row a step: who does what, what is seen or written, and what is out of order about it."""
    threads = list(dict.fromkeys(row["thread"] for row in rows))
    table = plain_table("", "", "step", "value", "", left=5)
    for number, row in enumerate(rows, 1):
        style = _THREAD_STYLES[threads.index(row["thread"]) % len(_THREAD_STYLES)]
        table.add_row(f"{number:2}", Text(row["thread"], style), row["step"], _value(row), _remark(row))
    return table


def _value(row: Mapping[str, Any]) -> str:
    return str(row["value"]) if row["happened"] else "not yet"


def _remark(row: Mapping[str, Any]) -> Text:
    parts = []
    if row["early"]:
        parts.append(f"early: before {row['early'][0]}")
    if row["late"]:
        parts.append(f"late: after {row['late'][-1]}")
    remark = Text("; ".join(parts), style="yellow")
    if row["result"]:
        remark.append(f"{'; ' if parts else ''}the read says {row['result']}", style="bold")
    return remark


def _show_all(console: Console, document: Mapping[str, Any]) -> None:
    found = {(result["reader"], result["hypervisor"]): result for result in document["results"]}
    readers = list(dict.fromkeys(result["reader"] for result in document["results"]))
    hypervisors = [
        name for name in document["hypervisors"] if any((reader, name) in found for reader in readers)
    ]
    table = plain_table("reader", *hypervisors, left=1 + len(hypervisors))
    for reader in readers:
        table.add_row(reader, *(_verdict(found.get((reader, name))) for name in hypervisors))
    print_whole(console, table)
    for name in hypervisors:
        console.print(Text(f"{name:12}{document['hypervisors'][name]}", style="dim"), soft_wrap=True)


def _verdict(result: Mapping[str, Any] | None) -> Text:
    if result is None:
        return Text("–", style="dim")
    if result["proved"]:
        return Text("right", style=_GOOD)
    steps = sum(row["happened"] for row in result["schedule"])
    return Text(f"{result['fault']['kind']} ({steps})", style=_FAULT)
