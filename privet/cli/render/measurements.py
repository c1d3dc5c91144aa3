"""Measurements on the screen: a run, a sweep, the damage of liars, and a published table."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console

from privet.cli.render.screen import print_rows
from privet.evaluation.damage import DamageCurve
from privet.evaluation.documents import notes, promise
from privet.evaluation.results import Figures, Result, with_interval
from privet.evaluation.sweep import Sweep
from privet.evaluation.verdict import CONFIDENCE, seeds_in_words
from privet.reproduction.measured import Table, TableCell
from privet.reproduction.runner import NO_MEASUREMENT

__all__ = ["print_damage", "print_result", "print_sweep", "print_table"]

_LINES = (
    ("honest", "honest"),
    ("attacked", "liars"),
    ("random", "random"),
    ("defended_honest", "honest, def."),
    ("defended", "liars, def."),
)
_SPREAD = ("attacked", "defended")  # the columns with intervals: all of them would not fit a terminal
_LOSS = 0.5  # points; of a smaller loss nothing can be given back


def print_result(result: Result) -> None:
    """Print the figures beside their controls, the verdict and the guarantee."""
    console = Console()
    rows = [(f"[bold]{result.system}", f"[bold]{result.mean:.1f}", _spread(result.figures))]
    rows += [(figures.title, f"{figures.mean:.1f}", _spread(figures)) for figures in result.controls.values()]
    title = f"{result.system} on {result.dataset}: {result.task}"
    print_rows(console, title, ("", result.metric, "std"), rows, frame=box.HEAVY_HEAD)
    for sentence in filter(None, (result.verdict, *notes(result.facts), promise(result.guarantee))):
        console.print(sentence)


def print_sweep(sweep: Sweep) -> None:
    """Print the curve as a table: accuracy with its interval, and the controls."""
    console, first = Console(), sweep.points[0]
    points = list(zip(sweep.epsilons, sweep.points, strict=True))
    columns = ("epsilon", "true eps", sweep.system, *(each.short for each in first.controls.values()))
    rows = [
        (
            f"{epsilon:g}",
            f"{point.guarantee.epsilon:.4g}",
            with_interval(point.figures),
            *(f"{figures.mean:.1f}" for figures in point.controls.values()),
        )
        for epsilon, point in points
    ]
    title = f"{sweep.system} on {sweep.dataset}: {first.metric} by {sweep.budget}"
    print_rows(console, title, columns, rows, words=0)
    _print_names(console, first.controls.values())
    _print_spread(console, len(first.seeds), "Student's t, ")
    for epsilon, point in points:
        if point.verdict:
            console.print(f"At {epsilon:g}: {point.verdict}")


def print_damage(curve: DamageCurve) -> None:
    """Print the figures at each share of liars, and what they mean."""
    console = Console()
    shown = [each for each in _LINES if getattr(curve.points[0], each[0]) is not None]
    rows = []
    for point in curve.points:
        figures = [_figure(getattr(point, name), name, curve.goal) for name, _ in shown]
        rows.append((f"{point.share:.3g}", *figures, f"{point.loss:.1f}" if curve.goal != "frequency" else ""))
    title = f"{curve.system} on {curve.dataset}: {curve.metric}"
    print_rows(console, title, ("share", *(name for _, name in shown), "loss"), rows, words=0)
    console.print(
        f"Lies of the kind '{curve.kind}' with the goal '{curve.goal}'. honest: nobody lies; random: the same people "
        "send random reports; def.: with defences. All columns are about the same honest people."
    )
    _print_spread(console, len(curve.seeds))
    for point in curve.points:
        if point.cost is not None:
            told = f"At {point.share:.3g}, {' and '.join(curve.defence)} cost {point.cost:.1f} points if nobody lies"
            told_loss = point.regained is not None and point.loss >= _LOSS
            back = f" and give back {point.regained:.0%} of the loss" if told_loss else ""
            console.print(f"{told}{back}.")


def print_table(table: Table) -> None:
    """Print the paper's figures, ours, the controls and the true epsilon side by side."""
    console = Console()
    shown = {key: figures for cell in table.cells for key, figures in cell.controls.items()}
    references = list(dict.fromkeys(name for cell in table.cells for name in cell.references))
    printed = [table.printed] if any(cell.paper is not None for cell in table.cells) else []
    others = (*(each.short for each in shown.values()), *references)
    rows = [
        (cell.dataset, cell.condition, *_figures(table, cell, bool(printed), list(shown), references))
        for cell in table.cells
    ]
    title = f"{table.title} ({table.metric}, {seeds_in_words(table.seeds)})"
    print_rows(console, title, ("dataset", "condition", "true eps", *printed, "ours", *others), rows, words=2, keys=2)
    _print_names(console, shown.values())
    if table.statement:
        console.print(f"The paper says: {table.statement}")
    if table.remark:
        console.print(table.remark)
    missing = sorted({cell.dataset for cell in table.cells if cell.measured is None})
    if missing:
        console.print("Not measured: " + ", ".join(missing) + " cannot be had.")
    if table.quick:
        console.print(f"[bold]{NO_MEASUREMENT}[/]")


def _figures(table: Table, cell: TableCell, printed: bool, shown: list[str], references: list[str]) -> list[str]:
    paper = ["" if cell.paper is None else f"{cell.paper:.1f}"] if printed else []
    others = [f"{cell.references[name]:.1f}" if name in cell.references else "" for name in references]
    if cell.measured is None:
        return ["", *paper, "not measured", *[""] * len(shown), *others]
    judged = cell.difference is not None and not table.quick
    colour = "" if not judged else "[green]" if (cell.difference or 0.0) >= -1e-9 else "[red]"
    spread = "" if cell.measured.std is None else f" +- {table.shown(cell.measured.std)}"
    epsilon = "none" if cell.guarantee is None else f"{cell.guarantee.epsilon:.4g}"
    controls = [table.shown(cell.controls[key].mean) if key in cell.controls else "" for key in shown]
    return [epsilon, *paper, f"{colour}{table.shown(cell.measured.mean)}{spread}", *controls, *others]


def _print_names(console: Console, controls: Iterable[Figures]) -> None:
    """Explain the names of columns that are controls."""
    if names := "; ".join(f"{each.short}: {each.title}" for each in controls):
        console.print(f"{names}.")


def _print_spread(console: Console, seeds: int, test: str = "") -> None:
    """Explain the intervals, or that there are none."""
    if seeds > 1:
        console.print(f"+- is the {CONFIDENCE:.0%} confidence interval of the mean ({test}{seeds} seeds).")
    else:
        console.print("One seed: nothing is known about the spread; use --seeds 5 for intervals.")


def _spread(figures: Figures) -> str:
    return "one seed" if figures.std is None else f"{figures.std:.1f}"


def _figure(figures: Figures, name: str, goal: str) -> str:
    if goal == "frequency":
        return f"{figures.mean:.3g}"
    return with_interval(figures) if name in _SPREAD else f"{figures.mean:.1f}"
