"""Tables drawn as figures: one panel a dataset or condition, our figures, the paper's and the controls in each."""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import wrap
from typing import Any

from privet.errors import InvalidData
from privet.evaluation.tasks import KIND_TITLES
from privet.reporting.drawing import CONTROL_COLOURS, PAPER, SERIES_COLOURS, check_format, figure_in

__all__ = ["plot_table"]

_SHOWN_BELOW = 12.0  # points below our figures; a control further down is named, not drawn
_MARKERS = "os^Dv"
_GREYS = ("#444444", "#888888", "#BBBBBB")  # of controls, where series take the colours
_CHARACTERS = 13  # in an inch
_LOG_BEYOND = 50.0  # figures that differ by more than this factor are drawn on a logarithmic axis


def plot_table(result: dict[str, Any], path: Path) -> None:
    """Draw what `privet table` measured; error bars are standard deviations over the seeds, if there are several."""
    check_format(path)
    rows = [row for row in result["cells"] if row["measured"] is not None and row["at"] is not None]
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    if not panels:
        raise InvalidData("table to plot", "with measured cells that have a place on an axis", "none")
    columns = len(panels) if len(panels) < 5 else 3 if len(panels) in (5, 6, 9) else 4
    lines = math.ceil(len(panels) / columns)
    width = max(3.1 * columns, 6.2) + 0.3
    with figure_in(path, width, 2.6 * lines + 0.9) as figure:
        axes = figure.subplots(lines, columns, squeeze=False).ravel()
        for axis in axes[len(panels) :]:
            axis.remove()
        for axis, panel in zip(axes, panels, strict=False):
            _draw(axis, [row for row in rows if row["panel"] == panel])
            axis.set_title(panel, fontsize=9)
            axis.set_xlabel(result["axis"])
        axes[0].set_ylabel(result["metric"])
        handles = {label: handle for axis in axes[: len(panels)] for handle, label in _legend(axis)}
        beside = max(1, min(len(handles), int(_CHARACTERS * width / (max(map(len, handles)) + 8))))
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=beside, frameon=False)
        figure.suptitle("\n".join(wrap(result["title"], int(_CHARACTERS * width))), fontsize=10)


def _draw(axis: Any, rows: list[dict[str, Any]]) -> None:
    """One panel: a line for each series, and the controls of the first of them."""
    rows = sorted(rows, key=lambda row: row["at"])
    lines = list(dict.fromkeys(row.get("series", "") for row in rows))
    first = [row for row in rows if row.get("series", "") == lines[0]]
    shown = _draw_controls(axis, first, CONTROL_COLOURS if len(lines) == 1 else _GREYS)
    printed = [(row["at"], row["paper"]) for row in rows if row["paper"] is not None]
    if printed:
        axis.plot(*zip(*printed, strict=True), "x", color=PAPER, ms=6, label="paper")
    for number, line in enumerate(lines):
        here = [row for row in rows if row.get("series", "") == line]
        means, spreads = ([row["measured"][what] for row in here] for what in ("mean", "std"))
        style = {"color": SERIES_COLOURS[number % len(SERIES_COLOURS)], "marker": _MARKERS[number % len(_MARKERS)]}
        style["ls"] = "none" if here[0].get("tick") else "-"  # named places have nothing between them
        axis.errorbar([row["at"] for row in here], means, spreads, ms=4, capsize=2, label=line or "privet", **style)
        shown += means
    _scale(axis, rows, shown)


def _draw_controls(axis: Any, rows: list[dict[str, Any]], colours: tuple[str, ...]) -> list[float]:
    """The figures that were drawn; a control far below ours is named instead, lest it squeeze the rest."""
    least = min(row["measured"]["mean"] for row in rows)
    drawn: list[float] = []
    below = []
    for number, kind in enumerate(kind for kind in KIND_TITLES if kind in rows[0]["controls"]):
        figures = [row["controls"][kind]["mean"] for row in rows]
        if max(figures) < least - _SHOWN_BELOW:
            below.append(f"{KIND_TITLES[kind][0]} below: {min(figures):.0f} to {max(figures):.0f}")
            continue
        places, line = [row["at"] for row in rows], "none" if rows[0].get("tick") else "--"
        colour = colours[number % len(colours)]
        axis.plot(places, figures, ls=line, color=colour, lw=1, marker=".", label=KIND_TITLES[kind][0])
        drawn += figures
    axis.text(0.02, 0.02, "\n".join(below), transform=axis.transAxes, fontsize=7, va="bottom")
    return drawn


def _scale(axis: Any, rows: list[dict[str, Any]], shown: list[float]) -> None:
    places = {row["at"]: row.get("tick") or f"{row['at']:g}" for row in rows}
    smallest, largest = min(places), max(places)
    if smallest > 0 and largest / smallest > 6:
        axis.set_xscale("log")
    elif smallest == 0 and largest > 8:
        axis.set_xscale("symlog", linthresh=2, linscale=0.4)
    axis.set_xticks(list(places), list(places.values()))
    if any(row.get("tick") for row in rows):
        axis.tick_params(axis="x", labelrotation=20)
    if min(shown) > 0 and max(shown) / min(shown) > _LOG_BEYOND:
        axis.set_yscale("log")
    axis.minorticks_off()
    axis.margins(y=0.25)
    axis.grid(alpha=0.3)


def _legend(axis: Any) -> list[tuple[Any, str]]:
    handles, labels = axis.get_legend_handles_labels()
    return list(zip(handles, labels, strict=True))
