"""The damage of liars on the screen."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from privet.cli.render.whole import print_whole
from privet.evaluation.damage import DamageCurve
from privet.evaluation.results import Figures, with_interval
from privet.evaluation.verdict import CONFIDENCE

__all__ = ["print_damage"]

_COLUMNS = (("honest", "honest"), ("attacked", "liars"), ("random", "random"))
_DEFENDED = (("defended_honest", "honest, def."), ("defended", "liars, def."))
_SPREAD = ("attacked", "defended")  # the columns with intervals: all of them would not fit a terminal
_LOSS = 0.5  # points; of a smaller loss nothing can be given back


def print_damage(curve: DamageCurve) -> None:
    """Print the figures at each share of liars, and what they mean."""
    console = Console()
    title = f"{curve.system} on {curve.dataset}: {curve.metric}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    shown = [each for each in (*_COLUMNS, *_DEFENDED) if getattr(curve.points[0], each[0]) is not None]
    for name in ("share", *(title for _, title in shown), "loss"):
        table.add_column(name, justify="right", no_wrap=True)
    for point in curve.points:
        figures = [_figure(getattr(point, name), name, curve.goal) for name, _ in shown]
        table.add_row(f"{point.share:.3g}", *figures, f"{point.loss:.1f}" if curve.goal != "frequency" else "")
    print_whole(console, table)
    console.print(
        f"Lies of the kind '{curve.kind}' with the goal '{curve.goal}'. honest: nobody lies; random: the same people "
        "send random reports; def.: with defences. All columns are about the same honest people."
    )
    if len(curve.seeds) > 1:
        console.print(f"+- is the {CONFIDENCE:.0%} confidence interval of the mean ({len(curve.seeds)} seeds).")
    else:
        console.print("One seed: nothing is known about the spread; use --seeds 5 for intervals.")
    for point in curve.points:
        if point.cost is not None:
            told = f"At {point.share:.3g}, {' and '.join(curve.defence)} cost {point.cost:.1f} points if nobody lies"
            told_loss = point.regained is not None and point.loss >= _LOSS
            back = f" and give back {point.regained:.0%} of the loss" if told_loss else ""
            console.print(f"{told}{back}.")


def _figure(figures: Figures, name: str, goal: str) -> str:
    if goal == "frequency":
        return f"{figures.mean:.3g}"
    return with_interval(figures) if name in _SPREAD else f"{figures.mean:.1f}"
