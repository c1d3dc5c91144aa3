"""Several results side by side: curves against epsilon or the share of liars, and words that tell results apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from privet.evaluation.damage import DamageCurve
from privet.evaluation.results import Figures, Result
from privet.evaluation.verdict import FEWEST, seeds_in_words
from privet.reporting.drawing import GREY, ORANGE, OURS, PURPLE, SERIES, SKY, style
from privet.reporting.figures import SHOWN_BELOW, ReportFigure, deciding, intervals, on_scale

__all__ = ["damage_figure", "marks", "plain", "shared_controls", "systems_figure", "tradeoff_figure"]

_LINES = (
    ("honest", "nobody lies", PURPLE, "--"),
    ("random", "random reports", GREY, ":"),
    ("attacked", "liars", ORANGE, "-"),
    ("defended_honest", "nobody lies, defended", SKY, "--"),
    ("defended", "liars, defended", OURS, "-"),
)
_MARKERS = "osD^vPX*p"
_MOST_SETTINGS = 3  # in a title


def marks(results: Sequence[Result]) -> list[str]:
    """Tell results of equal system, data and epsilon apart: the settings in which they differ, or a number."""

    def title(result: Result) -> tuple[str, str, float]:
        return result.system, result.dataset, result.guarantee.epsilon

    found = []
    for place, result in enumerate(results):
        twins = [other for other in results if title(other) == title(result)]
        names = sorted({name for twin in twins for name in {**twin.settings, **result.settings}})
        changed = [n for n in names if len({json.dumps(t.settings.get(n), default=str) for t in twins}) > 1]
        told = [f"{name} {plain(result.settings.get(name))}" for name in changed[:_MOST_SETTINGS]]
        same = [
            i for i, other in enumerate(results) if title(other) == title(result) and _equal(other, result, changed)
        ]
        if len(same) > 1 or len(changed) > _MOST_SETTINGS:
            told.append(f"number {place + 1}")
        found.append(f" ({', '.join(told)})" if told else "")
    return found


def _equal(one: Result, other: Result, names: Sequence[str]) -> bool:
    return all(one.settings.get(name) == other.settings.get(name) for name in names)


def plain(value: object) -> str:
    """Write a setting's value as people read it."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"


def tradeoff_figure(points: Sequence[Result], name: str) -> ReportFigure:
    """Draw the metric against the true epsilon with 95 % confidence intervals, and the controls as broken lines.

    The strongest control without private data has a band. Controls so far below that the rest would be a flat line are
    named and not drawn. Fewer than three seeds have dots instead of intervals, which would span the whole axis.
    """
    first = points[0]
    main = deciding(first)

    def draw(axis: Any) -> None:
        places = [point.guarantee.epsilon for point in points]
        means = [point.mean for point in points]
        below, reached = [], []
        for key in (key for key in first.controls if all(key in point.controls for point in points)):
            figures = [point.controls[key] for point in points]
            lowest, highest = (pick(each.mean for each in figures) for pick in (min, max))
            if highest < min(means) - SHOWN_BELOW:
                below.append(f"{figures[0].short} is below: {lowest:.0f} to {highest:.0f}")
            else:
                reached += _broken_line(axis, places, figures, key, banded=key == main)
        reached += _solid_line(axis, places, [point.figures for point in points], first.system, OURS)
        where = f"{first.system} on {first.dataset}, {_spread_in_words(first.seeds)}"
        _label(axis, places, reached, first.metric, [f"true epsilon ({first.guarantee.unit})", where, *below])
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, columnspacing=1.2)

    title = f"{first.metric} of {first.system} on {first.dataset} against epsilon, with its controls"
    return ReportFigure(name, title, 3.4, draw)


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
                reached += _broken_line(axis, ends, [figures, figures], key, banded=False)
        for number, ((system, unit, model), points) in enumerate(lines):
            label = system if len(units) == 1 else f"{system} ({unit}, {model})"
            colour, marker = SERIES[number % len(SERIES)], _MARKERS[number % len(_MARKERS)]
            places = [point.guarantee.epsilon for point in points]
            reached += _solid_line(axis, places, [point.figures for point in points], label, colour, marker)
        unit = next(iter(units))[0] if len(units) == 1 else "of the unit in the legend"
        where = f"{first.dataset}, {_spread_in_words(first.seeds)}"
        _label(axis, epsilons, reached, first.metric, [f"true epsilon ({unit})", where, *below])
        axis.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=columns, frameon=False, columnspacing=1.2)

    names = ", ".join(dict.fromkeys(each.system for each in results))
    title = f"{first.metric} of {names} on {first.dataset} against the true epsilon"
    return ReportFigure(name, title, 2.9 + 0.18 * rows, draw)


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
        where = (
            f"{curve.system} on {curve.dataset}, {curve.kind} against {curve.goal}, {seeds_in_words(len(curve.seeds))}"
        )
        axis.set_xlabel(f"people who lie (%)\n{where}")
        axis.set_ylabel(curve.metric)
        axis.grid()
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, columnspacing=1.2)

    return ReportFigure(
        name, f"{curve.metric} of {curve.system} on {curve.dataset} against the share of liars", 3.2, draw
    )


def _label(axis: Any, epsilons: Sequence[float], reached: Sequence[float], metric: str, told: Sequence[str]) -> None:
    """Scale and name the axes of a figure against epsilon."""
    if epsilons[0] > 0 and epsilons[-1] / epsilons[0] > 6:
        axis.set_xscale("log")
    axis.set_xticks(epsilons, [f"{place:.3g}" for place in epsilons])
    axis.minorticks_off()
    on_scale(axis.set_ylim, reached, "%" in metric)
    axis.set_xlabel("\n".join(told))
    axis.set_ylabel(metric)
    axis.grid()


def _broken_line(
    axis: Any, places: Sequence[float], figures: Sequence[Figures], key: str, *, banded: bool
) -> list[float]:
    """Draw a control's means, within the band of their confidence intervals if asked to; return what was reached."""
    low, high = intervals(figures)
    colour, dashes = style(key)
    axis.plot(places, [each.mean for each in figures], ls=dashes, color=colour, lw=1.3, label=figures[0].short)
    if not banded:
        return [each.mean for each in figures]
    axis.fill_between(places, low, high, color=colour, alpha=0.13, lw=0)
    return [*low, *high]


def _solid_line(
    axis: Any, places: Sequence[float], figures: Sequence[Figures], label: str, colour: str, marker: str = "o"
) -> list[float]:
    """Draw a system's means with their confidence intervals, or each seed of a few; return what was reached."""
    means = [each.mean for each in figures]
    low, high = intervals(figures)
    margins = [mean - least for mean, least in zip(means, low, strict=True)]
    axis.errorbar(places, means, margins, color=colour, marker=marker, ms=4.5, lw=1.6, capsize=3, label=label)
    seeds = [(place, value) for place, each in zip(places, figures, strict=True) for value in _few(each)]
    axis.plot([place for place, _ in seeds], [value for _, value in seeds], ".", color=colour, alpha=0.6, ms=5, mew=0)
    return [*low, *high, *(value for _, value in seeds)]


def _spread_in_words(seeds: Sequence[int]) -> str:
    """Say how the spread over the seeds is drawn."""
    few = "one seed, no intervals" if len(seeds) == 1 else f"{len(seeds)} seeds, each a dot"
    return few if len(seeds) < FEWEST else f"{len(seeds)} seeds, 95 % intervals"


def _few(figures: Figures) -> tuple[float, ...]:
    """Return the seeds' figures if there are too few for an interval."""
    return figures.values if 1 < len(figures.values) < FEWEST else ()
