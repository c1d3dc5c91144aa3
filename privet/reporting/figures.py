"""The figures of results: drawn once, shown inline in a page and written as files for papers."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.evaluation.results import Figures, Result
from privet.evaluation.verdict import FEWEST
from privet.reporting.drawing import INK, LINE, ON_PAGES, OURS, drawn, style, write_figure

__all__ = ["SHOWN_BELOW", "ReportFigure", "accuracy_figure", "classes_figure", "deciding", "intervals", "on_scale"]

_IN_PAGE = {INK: "currentColor", LINE: "var(--line)"} | {each.light: f"var(--{each.name})" for each in ON_PAGES}
SHOWN_BELOW = 20.0  # points; what is further down is named and not drawn, or the rest would look like one dot
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
    main, percent = deciding(result), "%" in result.metric
    rows = [(result.system, result.figures, OURS, True)]
    rows += [(each.short, each, style(key).colour, key == main) for key, each in result.controls.items()]

    def draw(axis: Any) -> None:
        reached = []
        for place, (_, figures, colour, always) in enumerate(rows):
            if not always and figures.mean < result.mean - SHOWN_BELOW and percent:
                off = f"{figures.mean:.1f}, off the scale"
                axis.text(0.02, place, off, transform=axis.get_yaxis_transform(), color=colour, va="center")
                continue
            (low,), (high,) = intervals([figures])
            dots = {"color": colour, "clip_on": False, "mew": 0}  # a dot at 100 is whole
            axis.plot(figures.values, [place + 0.28] * len(figures.values), "o", alpha=0.6, ms=3, **dots)
            margin = [figures.mean - low]
            axis.errorbar([figures.mean], [place], xerr=margin, fmt="none", color=colour, capsize=3, lw=1.4)
            axis.plot([figures.mean], [place], "D", ms=5, **dots)
            reached += [*figures.values, low, high]
        _rows_on(axis, [label for label, *_ in rows], result.metric)
        on_scale(axis.set_xlim, reached, percent)

    title = f"{result.metric} of {result.system} on {result.dataset} beside its controls, each seed a dot"
    return ReportFigure(name, title, 0.75 + 0.3 * len(rows), draw)


def classes_figure(result: Result, control: str | None, name: str) -> ReportFigure:
    """Draw the recall of each class, the system's beside a control's."""
    rows = [row for row in result.classes if row.recall is not None]
    beside = result.controls[control].short if control else ""

    def draw(axis: Any) -> None:
        places = range(len(rows))
        if control is not None:
            others, colour = [row.controls.get(control) for row in rows], style(control).colour
            axis.plot(others, places, "s", color=colour, ms=4.5, mfc="none", clip_on=False, label=beside)
        axis.plot([row.recall for row in rows], places, "o", color=OURS, ms=5, clip_on=False, label=result.system)
        _rows_on(axis, [f"class {row.number}" for row in rows], "recall (%)")
        axis.set_xlim(0, 100)
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)

    title = f"Recall of each class by {result.system} on {result.dataset}" + (f", beside {beside}" if beside else "")
    return ReportFigure(name, title, 0.95 + 0.22 * len(rows), draw)


def on_scale(limit: Callable[[float, float], Any], reached: Sequence[float], percent: bool) -> None:
    """Set the limits of an axis so that all that is drawn is on it, but never beyond the possible.

    Args:
        limit: Sets the limits.
        reached: Everything that is drawn, the ends of intervals among them.
        percent: Whether only 0 to 100 is possible: an interval of few seeds may leave that, and is cut off there.
    """
    low, high = min(reached), max(reached)
    room = 0.06 * max(high - low, 1.0)
    limit(max(low - room, 0.0) if percent else low - room, min(high + room, 100.0) if percent else high + room)


def intervals(figures: Sequence[Figures]) -> tuple[list[float], list[float]]:
    """Return the ends of the confidence intervals; too few seeds have none."""
    margins = [0.0 if len(each.values) < FEWEST else each.half_width or 0.0 for each in figures]
    pairs = [(each.mean, margin) for each, margin in zip(figures, margins, strict=True)]
    return [mean - margin for mean, margin in pairs], [mean + margin for mean, margin in pairs]


def _rows_on(axis: Any, labels: Sequence[str], metric: str) -> None:
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.4, -0.6)
    axis.set_xlabel(metric)
    axis.grid(axis="x")
    axis.tick_params(axis="y", length=0)
