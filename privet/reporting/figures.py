"""The figures of results: drawn once, shown inline in a page and written as files for papers."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.evaluation.results import Figures, Result
from privet.reporting.drawing import CONTROL, INK, LINE, OTHERS, OURS, drawn, write_figure

__all__ = ["ReportFigure", "accuracy_figure", "classes_figure", "deciding", "tradeoff_figure"]

_IN_PAGE = {INK: "currentColor", LINE: "var(--line)", OURS: "var(--ours)", CONTROL: "var(--control)"}
_IN_PAGE |= {colour: f"var(--other{number})" for number, colour in enumerate(OTHERS)}
_SHOWN_BELOW = 20.0  # points; what is further down is named and not drawn, or the rest would look like one dot
_WIDTH = 4.2  # inches; scaled to a phone's width the letters are still about 10 pixels high


@dataclass(frozen=True)
class ReportFigure:
    """A drawing.

    Attributes:
        name: The file's name without its ending.
        title: Words for those who cannot see it.
        height: Inches.
        draw: Draws on the matplotlib axes that it is called with.
    """

    name: str
    title: str
    height: float
    draw: Callable[[Any], None]

    def inline(self, prefix: str) -> str:
        """Return an SVG element whose colours are the page's and whose ids start with ``prefix``; text is text."""
        page = drawn(lambda figure: self.draw(figure.subplots()), _WIDTH, self.height, "svg").decode()
        page = page[page.index("<svg") :]
        page = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", page, flags=re.DOTALL)  # the page has its own
        page = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', page)
        page = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', page)
        page = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", page)
        for colour, variable in _IN_PAGE.items():
            page = page.replace(colour, variable)
        opening, rest = page.split(">", 1)
        opening = re.sub(r'\s(width|height)="[^"]*"', "", opening)
        title = f'<title id="{prefix}-title">{html.escape(self.title)}</title>'
        return f'{opening} role="img" aria-labelledby="{prefix}-title">{title}{rest}'.strip()

    def write(self, path: Path) -> None:
        """Write one file, whose ending names the format: .svg, .pdf or .png."""
        write_figure(lambda figure: self.draw(figure.subplots()), _WIDTH, self.height, path)


def deciding(result: Result) -> str | None:
    """Return the key of the best control that tells whether the private data helped; the first if none asks that."""
    asking = [key for key, figures in result.controls.items() if figures.question]
    return max(asking, key=lambda key: result.controls[key].mean, default=next(iter(result.controls), None))


def accuracy_figure(result: Result, name: str) -> ReportFigure:
    """Draw a row for the system and for each control: every seed a dot, the mean with its 95 % confidence interval."""
    rows = [(result.system, result.figures, True)]
    rows += [(figures.short, figures, bool(figures.question)) for figures in result.controls.values()]
    percent = "%" in result.metric

    def draw(axis: Any) -> None:
        for place, (_, figures, decides) in enumerate(rows):
            colour = OURS if place == 0 else CONTROL
            if not decides and figures.mean < result.mean - _SHOWN_BELOW and percent:
                off = f"{figures.mean:.1f}, off the scale"
                axis.text(0.02, place, off, transform=axis.get_yaxis_transform(), color=colour, va="center")
                continue
            axis.plot(figures.values, [place + 0.28] * len(figures.values), "o", color=colour, alpha=0.6, ms=3, mew=0)
            margin = [figures.half_width or 0.0]
            axis.errorbar([figures.mean], [place], xerr=margin, fmt="D", color=colour, ms=4.5, capsize=3, lw=1.4)
        _rows_on(axis, [label for label, _, _ in rows], result.metric)
        if percent:
            low, high = axis.get_xlim()
            axis.set_xlim(max(low, 0), min(high, 101))  # an interval of few seeds may leave the possible

    title = f"{result.metric} of {result.system} on {result.dataset} beside its controls, each seed a dot"
    return ReportFigure(name, title, 0.75 + 0.3 * len(rows), draw)


def classes_figure(result: Result, control: str | None, name: str) -> ReportFigure:
    """Draw the recall of each class, the system's beside a control's."""
    rows = [row for row in result.classes if row.recall is not None]
    beside = result.controls[control].short if control else ""

    def draw(axis: Any) -> None:
        places = range(len(rows))
        if control is not None:
            others = [row.controls.get(control) for row in rows]
            axis.plot(others, places, "s", color=CONTROL, ms=4.5, mfc="none", label=beside)
        axis.plot([row.recall for row in rows], places, "o", color=OURS, ms=5, label=result.system)
        _rows_on(axis, [f"class {row.number}" for row in rows], "recall (%)")
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)

    title = f"Recall of each class by {result.system} on {result.dataset}" + (f", beside {beside}" if beside else "")
    return ReportFigure(name, title, 0.95 + 0.22 * len(rows), draw)


def tradeoff_figure(points: Sequence[Result], name: str) -> ReportFigure:
    """Draw the metric against the true epsilon with 95 % confidence intervals, the controls as bands.

    Controls so far below that the rest would be a flat line are named and not drawn.
    """
    first = points[0]

    def draw(axis: Any) -> None:
        places = [point.guarantee.epsilon for point in points]
        means = [point.mean for point in points]
        below = []
        for number, key in enumerate(key for key in first.controls if all(key in p.controls for p in points)):
            figures = [point.controls[key] for point in points]
            lowest, highest = (pick(each.mean for each in figures) for pick in (min, max))
            if highest < min(means) - _SHOWN_BELOW:
                below.append(f"{figures[0].short} is below: {lowest:.0f} to {highest:.0f}")
            else:
                _band(axis, places, figures, OTHERS[number % len(OTHERS)])
        margins = [point.figures.half_width or 0.0 for point in points]
        axis.errorbar(places, means, margins, color=OURS, marker="o", ms=4, lw=1.6, capsize=3, label=first.system)
        if places[0] > 0 and places[-1] / places[0] > 6:
            axis.set_xscale("log")
        axis.set_xticks(places, [f"{place:.3g}" for place in places])
        axis.minorticks_off()
        axis.margins(y=0.15)
        seeds = len(first.seeds)
        spread = f"{seeds} seeds, 95 % intervals" if seeds > 1 else "one seed, no intervals"
        where = f"{first.system} on {first.dataset}, {spread}"
        axis.set_xlabel("\n".join([f"true epsilon ({first.guarantee.unit})", where, *below]))
        axis.set_ylabel(first.metric)
        axis.grid()
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, columnspacing=1.2)

    title = f"{first.metric} of {first.system} on {first.dataset} against epsilon, with its controls"
    return ReportFigure(name, title, 3.2, draw)


def _rows_on(axis: Any, labels: Sequence[str], metric: str) -> None:
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.4, -0.6)
    axis.set_xlabel(metric)
    axis.grid(axis="x")
    axis.tick_params(axis="y", length=0)


def _band(axis: Any, places: list[float], figures: list[Figures], colour: str) -> None:
    means, margins = [each.mean for each in figures], [each.half_width or 0.0 for each in figures]
    low, high = ([m + sign * e for m, e in zip(means, margins, strict=True)] for sign in (-1, 1))
    axis.fill_between(places, low, high, color=colour, alpha=0.13, lw=0)
    axis.plot(places, means, "--", color=colour, lw=1.1, label=figures[0].short)
