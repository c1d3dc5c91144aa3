"""Progress bars on standard error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

__all__ = ["figure_progress", "phase_progress"]


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
