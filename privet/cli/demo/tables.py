"""The demo's tables: one table each, never wider than a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

__all__ = ["print_rows"]


def print_rows(
    console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1
) -> None:
    """Print one table; texts wrap at the left, figures stand at the right.

    Args:
        console: Where to print.
        title: The line above the table.
        columns: The names of the columns.
        rows: The cells of each row.
        words: The number of columns at the left that hold text.
    """
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for number, name in enumerate(columns):
        text = number < words
        table.add_column(name, justify="left" if text else "right", overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*row)
    console.print(table)
