"""A result on the screen."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from privet.cli.render.whole import print_whole
from privet.evaluation.documents import notes, promise
from privet.evaluation.results import Figures, Result

__all__ = ["print_result"]


def print_result(result: Result) -> None:
    """Print the figures beside their controls, the verdict and the guarantee."""
    console = Console()
    table = Table(title=f"{result.system} on {result.dataset}: {result.task}", title_justify="left")
    for column in ("", result.metric, "std"):
        table.add_column(column, justify="left" if not column else "right", no_wrap=bool(column))
    table.add_row(f"[bold]{result.system}", f"[bold]{result.mean:.1f}", _spread(result.figures))
    for figures in result.controls.values():
        table.add_row(figures.title, f"{figures.mean:.1f}", _spread(figures))
    print_whole(console, table)
    for sentence in filter(None, (result.verdict, *notes(result.facts), promise(result.guarantee))):
        console.print(sentence)


def _spread(figures: Figures) -> str:
    return "one seed" if figures.std is None else f"{figures.std:.1f}"
