"""The figures of one result: drawn once, shown inline in a page and written as files for papers."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.evaluation.results import Figures, Result
from privet.evaluation.verdict import FEWEST
from privet.reporting.drawing import (
    GREEN,
    INK,
    LINE,
    OCHRE,
    ON_PAGES,
    ORANGE,
    OURS,
    PINK,
    PURPLE,
    drawn,
    style,
    write_figure,
)  # fmt: skip

__all__ = [
    "SHOWN_BELOW",
    "ReportFigure",
    "accuracy_figure",
    "asked_figure",
    "certified_figure",
    "classes_figure",
    "deciding",
    "intervals",
    "on_scale",
    "shares_asked",
    "withstanding",
]

_IN_PAGE = {INK: "currentColor", LINE: "var(--line)"} | {each.light: f"var(--{each.name})" for each in ON_PAGES}
SHOWN_BELOW = 20.0  # points; what is further down is named and not drawn, or the rest would look like one dot
_MANY = 5  # options from which on people are drawn as one group
_STRENGTH = {2: 0.3, 3: 0.5, 4: 0.75, _MANY: 1.0}
_NOBODY = "not asked"
_PARTS = {"panel": PURPLE, "pilot": ORANGE, "counts once": GREEN, "counts twice": OCHRE, "reports it": PINK}
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


def shares_asked(facts: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return, for each thing that is asked about, shares of all people by what they are asked, which add up to 1.

    >>> shares_asked({"asked": 0.5, "panel": 0.25, "asked_2": 0.25, "asked_7": 0.25})
    {'features': {'panel': 0.25, '2 options': 0.25, '5 or more': 0.25, 'not asked': 0.25}}
    """
    options: dict[str, float] = {}
    for name in sorted((each for each in facts if each.startswith("asked_")), key=lambda each: int(each[6:])):
        number = int(name[6:])
        group = f"{number} options" if number < _MANY else f"{_MANY} or more"
        options[group] = options.get(group, 0.0) + facts[name]
    rows = {
        "class": {"reports it": facts.get("labels", 0.0)},
        "friends": {"counts once": facts.get("counted_once", 0.0), "counts twice": facts.get("counted_twice", 0.0)},
        "features": {"panel": facts.get("panel", 0.0), "pilot": facts.get("pilot", 0.0), **options},
    }
    found = {row: {name: share for name, share in parts.items() if share} for row, parts in rows.items()}
    return {row: {**parts, _NOBODY: max(0.0, 1 - sum(parts.values()))} for row, parts in found.items() if parts}


def asked_figure(result: Result, name: str) -> ReportFigure | None:
    """Draw a bar of all people for each thing that was asked about; None for a system that asks everybody alike."""
    rows = shares_asked(result.facts) if result.asked is not None else {}
    if not rows:
        return None
    told = "; ".join(
        f"{row}: " + ", ".join(f"{part} {share:.0%}" for part, share in parts.items()) for row, parts in rows.items()
    )

    def draw(axis: Any) -> None:
        shown: dict[str, Any] = {}
        for place, (row, parts) in enumerate(rows.items()):
            left = 0.0
            for part, share in parts.items():
                label = part if part == _NOBODY else f"{row}: {part} ({share:.0%})"
                shown[label] = axis.barh(place, 100 * share, 0.55, 100 * left, lw=0, **_colour(part))
                left += share
        axis.set_yticks(range(len(rows)), list(rows))
        axis.set_ylim(len(rows) - 0.45, -0.55)
        axis.set_xlim(0, 100)
        axis.set_xlabel("people (%)")
        axis.tick_params(axis="y", length=0)
        shown[_NOBODY] = shown.pop(_NOBODY)
        axis.legend(
            shown.values(), shown.keys(), loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, frameon=False
        )

    lines = (sum(len(parts) - 1 for parts in rows.values()) + 2) // 2
    title = f"Who was asked what by {result.system} on {result.dataset}. {told}"
    return ReportFigure(name, title, 0.75 + 0.3 * len(rows) + 0.2 * lines, draw)


def withstanding(facts: Mapping[str, float], name: str = "withstands") -> dict[int, float]:
    """Return shares by the number of lies, from the facts ``withstands_1``, ``withstands_2`` and so on.

    >>> withstanding({"withstands_2": 0.5, "withstands_1": 0.75, "asked": 1.0})
    {1: 0.75, 2: 0.5}
    """
    found = {int(key.removeprefix(f"{name}_")): value for key, value in facts.items() if key.startswith(f"{name}_")}
    return dict(sorted(found.items()))


def certified_figure(result: Result, name: str) -> ReportFigure | None:
    """Draw the share of predictions that stand against each number of lies; None for a system that cannot tell."""
    stand, right = withstanding(result.facts), withstanding(result.facts, "certified_accuracy")
    if not stand:
        return None
    told = ", ".join(f"{share:.1%} against {liars}" for liars, share in stand.items())

    def draw(axis: Any) -> None:
        lines = [(stand, OURS, "o", "stand"), (right, PURPLE, "s", "stand and are right (test nodes)")]
        for shares, colour, mark, label in lines:
            if shares:
                values = [100 * share for share in shares.values()]
                axis.plot(list(shares), values, mark + "-", color=colour, ms=4.5, lw=1.4, label=label)
        axis.set_xticks(list(stand))
        axis.set_xlabel("lying friends, or false published classes of friends")
        axis.set_ylabel("predictions (%)")
        axis.set_ylim(0, 102)
        axis.grid()
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)

    title = f"Share of people whose prediction by {result.system} on {result.dataset} stands against lies: {told}"
    return ReportFigure(name, title, 2.6, draw)


def _colour(part: str) -> dict[str, Any]:
    if part == _NOBODY:
        return {"color": LINE, "alpha": 0.6}
    first = part.split()[0]
    return {"color": _PARTS.get(part, OURS), "alpha": _STRENGTH[int(first)] if first.isdigit() else 1.0}


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
