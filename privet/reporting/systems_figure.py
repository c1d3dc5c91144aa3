"""One figure for several systems on the same data: their accuracy against their true epsilons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from privet.evaluation.results import Figures, Result
from privet.reporting.figures import SHOWN_BELOW, ReportFigure, broken_line, on_scale, solid_line, spread_in_words
from privet.reporting.palette import SERIES

__all__ = ["shared_controls", "systems_figure"]

_MARKERS = "osD^vPX*p"


def shared_controls(results: Sequence[Result]) -> dict[str, Figures]:
    """Return the controls that all results have with the same figures: they depend on data and split alone."""
    first = results[0].controls
    return {
        key: figures
        for key, figures in first.items()
        if all(key in each.controls and each.controls[key].values == figures.values for each in results)
    }


def systems_figure(results: Sequence[Result], name: str) -> ReportFigure:
    """Draw each system's mean with its 95 % confidence interval against its true epsilon, in one figure.

    Controls that all of them share are broken lines. Where the protected units differ, the legend names them: an
    epsilon for one unit is no epsilon for another.

    Args:
        results: Results of one dataset in one metric.
        name: The file's name without its ending.
    """
    first = results[0]
    units = {(str(each.guarantee.unit), str(each.guarantee.model)) for each in results}

    def line(result: Result) -> tuple[str, str, str]:
        return result.system, str(result.guarantee.unit), str(result.guarantee.model)

    lines = [
        (key, sorted(members, key=lambda each: each.guarantee.epsilon))
        for key, members in groupby(sorted(results, key=line), key=line)
    ]

    columns = 3 if len(units) == 1 else 1  # names of units are long
    rows = -(-(len(lines) + len(shared_controls(results))) // columns)

    def draw(axis: Any) -> None:
        epsilons = sorted({each.guarantee.epsilon for each in results})
        ends = [epsilons[0], epsilons[-1]] if len(epsilons) > 1 else [0.9 * epsilons[0], 1.1 * epsilons[0] or 1.0]
        reached: list[float] = []
        least, below = min(each.mean for each in results), []
        for key, figures in shared_controls(results).items():
            if figures.mean < least - SHOWN_BELOW:
                below.append(f"{figures.short} is below: {figures.mean:.0f}")
            else:
                reached += broken_line(axis, ends, [figures, figures], key, banded=False)
        for number, ((system, unit, model), points) in enumerate(lines):
            label = system if len(units) == 1 else f"{system} ({unit}, {model})"
            colour, marker = SERIES[number % len(SERIES)], _MARKERS[number % len(_MARKERS)]
            places = [point.guarantee.epsilon for point in points]
            reached += solid_line(axis, places, [point.figures for point in points], label, colour, marker)
        if epsilons[0] > 0 and epsilons[-1] / epsilons[0] > 6:
            axis.set_xscale("log")
        axis.set_xticks(epsilons, [f"{place:.3g}" for place in epsilons])
        axis.minorticks_off()
        on_scale(axis.set_ylim, reached, "%" in first.metric)
        unit = next(iter(units))[0] if len(units) == 1 else "of the unit in the legend"
        where = f"{first.dataset}, {spread_in_words(first.seeds)}"
        axis.set_xlabel("\n".join([f"true epsilon ({unit})", where, *below]))
        axis.set_ylabel(first.metric)
        axis.grid()
        axis.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=columns, frameon=False, columnspacing=1.2)

    names = ", ".join(dict.fromkeys(each.system for each in results))
    title = f"{first.metric} of {names} on {first.dataset} against the true epsilon"
    return ReportFigure(name, title, 2.9 + 0.18 * rows, draw)
