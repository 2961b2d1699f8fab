"""The progress bar of a run: guest time, host time and backward steps so far."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from guestclock.experiments.run import Progress as Where

NS_PER_S = 1e9
# Redrawing costs guest time, so it is done this often in host time at most.
REDRAW_NS = 200_000_000


@contextmanager
def shown(length_s: int, *, quiet: bool) -> Iterator["Callable[[Where], None] | None"]:
    """Show progress on standard error while the block runs; yield what takes it, or None."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        BarColumn(),
        TextColumn("guest {task.fields[guest_s]:.1f} s, host {task.fields[host_s]:.1f} s"),
        TextColumn("{task.fields[steps]} backward steps"),
    )
    with Progress(*columns, console=console, auto_refresh=False, transient=True) as bar:
        task = bar.add_task("", total=length_s or None, guest_s=0.0, host_s=0.0, steps=0)
        next_ns = 0

        def take(where: "Where") -> None:
            nonlocal next_ns
            if where.host_ns < next_ns:
                return
            next_ns = where.host_ns + REDRAW_NS
            guest_s = where.guest_ns / NS_PER_S
            bar.update(
                task,
                completed=min(guest_s, length_s) if length_s else None,
                guest_s=guest_s,
                host_s=where.host_ns / NS_PER_S,
                steps=where.backward_steps,
            )
            bar.refresh()

        yield take
