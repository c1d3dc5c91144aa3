"""The screen: tables that are readable in a terminal of any width, and progress bars on standard error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table

__all__ = ["figure_progress", "phase_progress", "print_rows", "print_whole"]

_SPACE = 3  # a blank at either side of a cell, and the line between two columns
_WIDEST = 10_000


def print_rows(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: int = 1,
    keys: int = 1,
    wrap: bool = False,
    frame: box.Box = box.SIMPLE_HEAD,
) -> None:
    """Print a table: texts at the left, which wrap, and figures at the right.

    Args:
        console: Where to print.
        title: The line above the table.
        columns: The names of the columns.
        rows: The cells of each row.
        words: The number of columns at the left that hold text.
        keys: As for :func:`print_whole`.
        wrap: Whether everything but the first column may wrap, so that the table stays in one part.
        frame: The lines around the cells.
    """
    table = Table(title=title, title_justify="left", box=frame)
    for place, name in enumerate(columns):
        table.add_column(
            name, justify="left" if place < words else "right", no_wrap=place == 0 if wrap else place >= words
        )
    for row in rows:
        table.add_row(*row)
    print_whole(console, table, keys)


def print_whole(console: Console, table: Table, keys: int = 1) -> None:
    """Print a table; where it is too wide, print its columns in several tables, one below the other.

    Words wrap, and a word that is wider than its column is folded, not cut.

    Args:
        console: Where to print.
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


@contextmanager
def figure_progress(total: int) -> Iterator[Callable[[str], None]]:
    """Show a bar, if somebody watches; what it yields is called with a few words after each figure."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    disabled = not console.is_terminal
    with Progress(*columns, console=console, disable=disabled, transient=True, speed_estimate_period=math.inf) as bars:
        task = bars.add_task("starting", total=total)
        yield lambda text: bars.update(task, advance=1, description=text)


@contextmanager
def phase_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each phase, if somebody watches; what it yields takes a phase, its finished and all its parts."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def tell(phase: str, done: int, total: int) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(phase, total=total)
            bars.update(tasks[phase], completed=done)

        yield tell
