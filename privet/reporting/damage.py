"""The figure of an attack: the metric against the share of liars."""

from __future__ import annotations

from typing import Any

from privet.evaluation.damage import DamageCurve
from privet.reporting.figures import ReportFigure
from privet.reporting.palette import GREY, ORANGE, OURS, PURPLE, SKY

__all__ = ["damage_figure"]

_LINES = (
    ("honest", "nobody lies", PURPLE, "--"),
    ("random", "random reports", GREY, ":"),
    ("attacked", "liars", ORANGE, "-"),
    ("defended_honest", "nobody lies, defended", SKY, "--"),
    ("defended", "liars, defended", OURS, "-"),
)


def damage_figure(curve: DamageCurve, name: str) -> ReportFigure:
    """Draw the metric against the share of liars with 95 % confidence intervals, beside random reports.

    Args:
        curve: The figures.
        name: The file's name without its ending.
    """

    def draw(axis: Any) -> None:
        places = [100 * point.share for point in curve.points]
        for part, label, colour, line in _LINES:
            figures = [getattr(point, part) for point in curve.points]
            if any(each is None for each in figures):
                continue
            margins = [each.half_width or 0.0 for each in figures]
            style = {"color": colour, "ls": line, "marker": "o", "ms": 3.5, "lw": 1.4, "capsize": 2.5}
            axis.errorbar(places, [each.mean for each in figures], margins, label=label, **style)
        axis.set_xticks(places, [f"{place:g}" for place in places])
        seeds = f"{len(curve.seeds)} seeds" if len(curve.seeds) > 1 else "one seed"
        where = f"{curve.system} on {curve.dataset}, {curve.kind} against {curve.goal}, {seeds}"
        axis.set_xlabel(f"people who lie (%)\n{where}")
        axis.set_ylabel(curve.metric)
        axis.grid()
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, columnspacing=1.2)

    return ReportFigure(
        name, f"{curve.metric} of {curve.system} on {curve.dataset} against the share of liars", 3.2, draw
    )
