"""The figures of a report: drawn once, shown inline in the page and written as SVG and PDF for papers."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.data.files import atomic_file
from privet.evaluation.tasks import KIND_TITLES
from privet.evaluation.verdict import confidence_margin

__all__ = ["ReportFigure", "accuracy_figure", "classes_figure", "short_title", "tradeoff_figure"]

_INK, _LINE, _OURS, _CONTROL = "#1f2328", "#c9d1d9", "#0072b2", "#6e5494"
_OTHERS = ("#b35900", "#00765a", "#a8447c", "#3f7fb0", "#8a6d00", "#6e7781")  # contrast of 4.5 and more on white
_IN_PAGE = {_INK: "currentColor", _LINE: "var(--line)", _OURS: "var(--ours)", _CONTROL: "var(--control)"}
_IN_PAGE |= {colour: f"var(--other{number})" for number, colour in enumerate(_OTHERS)}
DECIDING = ("structure_only", "private_mlp")  # the controls that tell whether what is private helped
_SHOWN_BELOW = 20.0  # points; what is further down is named and not drawn, or the rest would look like one dot
_WIDTH = 4.2  # inches; scaled to a phone's width the letters are still about 10 pixels high
_STYLE: Any = {
    "svg.hashsalt": "privet",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.size": 8.5,
    "text.parse_math": False,  # a name with dollars is a name
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": _LINE,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK),
}


@dataclass(frozen=True)
class ReportFigure:
    """A drawing with a file name (without suffix) and words for those who cannot see it."""

    name: str
    title: str
    height: float
    draw: Callable[[Any], None]

    def inline(self, prefix: str) -> str:
        """An SVG element for a page: its colours are the page's, its ids start with ``prefix``, and text is text."""
        drawn = self._saved("svg").decode()
        drawn = drawn[drawn.index("<svg") :]
        drawn = re.sub(
            r"<metadata>.*?</metadata>|<style.*?</style>", "", drawn, flags=re.DOTALL
        )  # the page has its own
        drawn = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', drawn)
        drawn = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', drawn)
        drawn = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", drawn)
        for colour, page in _IN_PAGE.items():
            drawn = drawn.replace(colour, page)
        opening, rest = drawn.split(">", 1)
        opening = re.sub(r'\s(width|height)="[^"]*"', "", opening)
        title = f'<title id="{prefix}-title">{html.escape(self.title)}</title>'
        return f'{opening} role="img" aria-labelledby="{prefix}-title">{title}{rest}'.strip()

    def write(self, folder: Path) -> None:
        """``name.svg`` and ``name.pdf``; the same figure gives the same bytes."""
        for kind in ("svg", "pdf"):
            with atomic_file(folder / f"{self.name}.{kind}") as file:
                file.write_bytes(self._saved(kind))

    def _saved(self, kind: str) -> bytes:
        # Not pyplot: no global state, and no window system is looked for.
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        stream = io.BytesIO()
        no_date = {"Date": None} if kind == "svg" else {"CreationDate": None}
        with rc_context(_STYLE):
            figure = Figure(figsize=(_WIDTH, self.height), layout="constrained")
            self.draw(figure.subplots())
            figure.savefig(stream, format=kind, transparent=True, metadata=no_date)
        return stream.getvalue()


def short_title(kind: str) -> str:
    """What a control is called in a figure."""
    return KIND_TITLES[kind][0] if kind in KIND_TITLES else kind.replace("_", " ")


def accuracy_figure(result: Mapping[str, Any], name: str) -> ReportFigure:
    """A row for the system and for each control: every seed as a dot, the mean with its 95 % confidence interval."""
    rows = [
        (result["system"], result["values"], True),
        *((short_title(k), f["values"], k in DECIDING) for k, f in result["controls"].items()),
    ]

    def draw(axis: Any) -> None:
        for place, (_, values, decides) in enumerate(rows):
            colour = _OURS if place == 0 else _CONTROL
            mean = sum(values) / len(values)
            if not decides and mean < result["mean"] - _SHOWN_BELOW and "%" in result["metric"]:
                off = f"{mean:.1f}, off the scale"
                axis.text(0.02, place, off, transform=axis.get_yaxis_transform(), color=colour, va="center")
                continue
            axis.plot(values, [place + 0.28] * len(values), "o", color=colour, alpha=0.6, ms=3, mew=0)
            margin = confidence_margin(values) if len(values) > 1 else 0.0
            axis.errorbar([mean], [place], xerr=[margin], fmt="D", color=colour, ms=4.5, capsize=3, lw=1.4)
        axis.set_yticks(range(len(rows)), [label for label, _, _ in rows])
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.set_xlabel(result["metric"])
        if "%" in result["metric"]:
            low, high = axis.get_xlim()
            axis.set_xlim(max(low, 0), min(high, 101))  # an interval of few seeds may leave the possible
        axis.grid(axis="x")
        axis.set_axisbelow(True)
        axis.tick_params(axis="y", length=0)

    title = f"{result['metric']} of {result['system']} on {result['dataset']} beside its controls, each seed a dot"
    return ReportFigure(name, title, 0.75 + 0.3 * len(rows), draw)


def classes_figure(result: Mapping[str, Any], control: str | None, name: str) -> ReportFigure:
    """Recall of each class, the system's beside a control's."""
    rows = [row for row in result["per_class"] if row["recall"] is not None]

    def draw(axis: Any) -> None:
        places = range(len(rows))
        own = [row["recall"] for row in rows]
        if control is not None:
            others = [row["controls"].get(control) for row in rows]
            axis.plot(others, places, "s", color=_CONTROL, ms=4.5, mfc="none", label=short_title(control))
        axis.plot(own, places, "o", color=_OURS, ms=5, label=result["system"])
        axis.set_yticks(places, [f"class {row['class']}" for row in rows])
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.set_xlabel("recall (%)")
        axis.grid(axis="x")
        axis.set_axisbelow(True)
        axis.tick_params(axis="y", length=0)
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)

    beside = f", beside {short_title(control)}" if control else ""
    title = f"Recall of each class by {result['system']} on {result['dataset']}{beside}"
    return ReportFigure(name, title, 0.95 + 0.22 * len(rows), draw)


def tradeoff_figure(points: Sequence[Mapping[str, Any]], name: str) -> ReportFigure:
    """The metric against the true epsilon with 95 % confidence intervals, the controls as bands.

    Controls so far below that the rest would be a flat line are named and not drawn.
    """
    first = points[0]

    def draw(axis: Any) -> None:
        places = [point["guarantee"]["epsilon"] for point in points]
        means = [point["mean"] for point in points]
        below = []
        for number, kind in enumerate(kind for kind in first["controls"] if all(kind in p["controls"] for p in points)):
            figures = [point["controls"][kind] for point in points]
            lowest, highest = (pick(figure["mean"] for figure in figures) for pick in (min, max))
            if highest < min(means) - _SHOWN_BELOW:
                below.append(f"{short_title(kind)} is below: {lowest:.0f} to {highest:.0f}")
            else:
                _band(axis, places, figures, _OTHERS[number % len(_OTHERS)], kind)
        margins = [confidence_margin(p["values"]) if len(p["values"]) > 1 else 0.0 for p in points]
        axis.errorbar(places, means, margins, color=_OURS, marker="o", ms=4, lw=1.6, capsize=3, label=first["system"])
        if places[0] > 0 and places[-1] / places[0] > 6:
            axis.set_xscale("log")
        axis.set_xticks(places, [f"{place:.3g}" for place in places])
        axis.minorticks_off()
        axis.margins(y=0.15)
        axis.set_xlabel("\n".join([f"true epsilon ({first['guarantee']['unit']})", *below]))
        axis.set_ylabel(first["metric"])
        axis.grid()
        axis.set_axisbelow(True)
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, columnspacing=1.2)

    title = f"{first['metric']} of {first['system']} on {first['dataset']} against epsilon, with its controls"
    return ReportFigure(name, title, 3.2, draw)


def _band(axis: Any, places: list[float], figures: list[Mapping[str, Any]], colour: str, kind: str) -> None:
    means = [figure["mean"] for figure in figures]
    margins = [confidence_margin(f["values"]) if len(f["values"]) > 1 else 0.0 for f in figures]
    low, high = ([m + sign * e for m, e in zip(means, margins, strict=True)] for sign in (-1, 1))
    axis.fill_between(places, low, high, color=colour, alpha=0.13, lw=0)
    axis.plot(places, means, "--", color=colour, lw=1.1, label=short_title(kind))
