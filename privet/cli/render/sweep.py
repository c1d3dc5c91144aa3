"""A sweep on the screen."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from privet.cli.render.whole import print_whole
from privet.evaluation.results import with_interval
from privet.evaluation.sweep import Sweep
from privet.evaluation.verdict import CONFIDENCE

__all__ = ["print_sweep"]


def print_sweep(sweep: Sweep) -> None:
    """Print the curve as a table: accuracy with its interval, and the controls."""
    console, first = Console(), sweep.points[0]
    title = f"{sweep.system} on {sweep.dataset}: {first.metric} by {sweep.budget}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in ("epsilon", "true eps", sweep.system, *(each.short for each in first.controls.values())):
        table.add_column(column, justify="right", no_wrap=True)
    for epsilon, point in zip(sweep.epsilons, sweep.points, strict=True):
        others = [f"{figures.mean:.1f}" for figures in point.controls.values()]
        table.add_row(f"{epsilon:g}", f"{point.guarantee.epsilon:.4g}", with_interval(point.figures), *others)
    print_whole(console, table)
    if first.controls:
        console.print("; ".join(f"{each.short}: {each.title}" for each in first.controls.values()) + ".")
    seeds = len(first.seeds)
    if seeds > 1:
        console.print(f"+- is the {CONFIDENCE:.0%} confidence interval of the mean (Student's t, {seeds} seeds).")
    else:
        console.print("One seed: nothing is known about the spread; use --seeds 5 for intervals.")
    for epsilon, point in zip(sweep.epsilons, sweep.points, strict=True):
        if point.verdict:
            console.print(f"At {epsilon:g}: {point.verdict}")
