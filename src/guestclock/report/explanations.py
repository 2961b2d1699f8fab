"""Explained kernel messages for people, from the document that programs get as JSON."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from guestclock.verdict.quantities import count

_STYLES = {"fault": "bold red", "risk": "yellow", "note": "dim"}


def show_explanations(console: Console, document: Mapping[str, Any]) -> None:
    """Print the explanations in the log's order; equal ones in a row once, with their number."""
    found = document["explanations"]
    for _, group in groupby(found, key=lambda each: (each["what"], each["suspect"])):
        same = list(group)
        _show(console, same[0], len(same))
    if not found:
        console.print(Text("No message about clocks."))
    elif document["suspects"]:
        named = ", ".join(
            f"{clock} ({count(number, 'message')})" for clock, number in document["suspects"].items()
        )
        console.print(Text(f"Suspect: {named}.", style="bold red"), soft_wrap=True)
    elif document["good"]:
        console.print(Text("No message proves a clock wrong.", style="bold green"))


def _show(console: Console, each: Mapping[str, Any], times: int) -> None:
    often = f" (and {count(times - 1)} more like it)" if times > 1 else ""
    console.print(Text(f"line {each['line']}{often}: {each['text']}", style="dim"), soft_wrap=True)
    console.print(
        Text.assemble((f"{each['level'].upper():<6}", _STYLES[each["level"]]), each["what"]), soft_wrap=True
    )
    if each["advice"]:
        console.print(Text(f"     → {each['advice']}", style="dim"), soft_wrap=True)
