"""Tables that are readable in a terminal of any width: no cell is cut off."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table

__all__ = ["print_whole"]

_SPACE = 3  # a blank at either side of a cell, and the line between two columns
_WIDEST = 10_000


def print_whole(console: Console, table: Table, keys: int = 1) -> None:
    """Print a table; where it is too wide, print its columns in several tables, one below the other.

    Words wrap, and a word that is wider than its column is folded, not cut.

    Args:
        console: Where to print.
        table: The table.
        keys: The number of columns at the left that name the row, and stand in each part.
    """
    for column in table.columns:
        column.overflow = "fold"
    if _fits(console, table):
        console.print(table)
        return
    names, figures = table.columns[:keys], table.columns[keys:]
    while figures:
        count = len(figures)
        while count > 1 and not _fits(console, _part(table, [*names, *figures[:count]])):
            count -= 1
        console.print(_part(table, [*names, *figures[:count]]))
        figures, table.title = figures[count:], None


def _part(table: Table, columns: Sequence[Column]) -> Table:
    """Return the table with some of its columns only."""
    shown = Table(title=table.title, title_justify=table.title_justify, box=table.box, show_header=table.show_header)
    for column in columns:
        shown.add_column(column.header, justify=column.justify, no_wrap=column.no_wrap, overflow="fold")
    for cells in zip(*(column.cells for column in columns), strict=True):
        shown.add_row(*cells)
    return shown


def _fits(console: Console, table: Table) -> bool:
    """Return whether every column has room: for its longest word or, where it does not wrap, for its longest cell."""
    options = console.options.update(width=_WIDEST)
    widths = 1
    for column in table.columns:
        cells = [*([column.header] if table.show_header else []), *column.cells]
        room = [Measurement.get(console, options, cell) for cell in cells]
        widths += max(each.maximum if column.no_wrap else each.minimum for each in room) + _SPACE
    return widths <= console.width
