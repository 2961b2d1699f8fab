"""A progress bar for commands that go through named stages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stages(*, quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """Show on standard error what is being done and how far it is; nothing when quiet or not a terminal."""
    from rich.console import Console  # noqa: PLC0415 (a quarter of a second that --help need not pay)
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _what, _share: None
        return
    columns = (TextColumn("{task.description:<40}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share)
