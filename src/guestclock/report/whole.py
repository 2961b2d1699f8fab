"""Tables that lose nothing to a narrow terminal or a pipe."""

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table


def plain_table(*headings: str, left: int = 1) -> Table:
    """Return a table without lines whose first ``left`` columns are text, the rest figures."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number < left else "right", no_wrap=True)
    return table


def print_whole(console: Console, table: Table) -> None:
    """Print a table as wide as it is; a narrower terminal folds its lines."""
    width = console.width
    needed = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
    console.width = max(width, needed)  # print() would cut the table to the console's width
    try:
        console.print(table, crop=False)
    finally:
        console.width = width
