"""Tables drawn as figures: one panel a dataset or condition, our figures, the paper's and the controls in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from privet.errors import InvalidData
from privet.reporting.drawing import GREYS, PAPER, SERIES, check_format, style, write_figure
from privet.reproduction.measured import Table, TableCell

__all__ = ["plot_table"]

_SHOWN_BELOW = 12.0  # points below our figures; a control further down is named, not drawn
_MARKERS = "os^Dv"
_CHARACTERS = 13  # in an inch
_LOG_BEYOND = 50.0  # figures that differ by more than this factor are drawn on a logarithmic axis


def plot_table(table: Table, path: Path) -> None:
    """Draw a measured table; error bars are standard deviations over the seeds, if there are several.

    Args:
        path: The file to write, whose ending names the format: .svg, .pdf or .png.
    """
    check_format(path)
    cells = [cell for cell in table.cells if cell.measured is not None and cell.at is not None]
    panels = list(dict.fromkeys(cell.panel for cell in cells))
    if not panels:
        raise InvalidData("This table has no measured cell with a place on an axis, so it cannot be drawn.")
    columns = len(panels) if len(panels) < 5 else 3 if len(panels) in (5, 6, 9) else 4
    lines = math.ceil(len(panels) / columns)
    width = max(3.1 * columns, 6.2) + 0.3

    def draw(figure: Any) -> None:
        axes = figure.subplots(lines, columns, squeeze=False).ravel()
        for axis in axes[len(panels) :]:
            axis.remove()
        for axis, panel in zip(axes, panels, strict=False):
            _draw(axis, [cell for cell in cells if cell.panel == panel], table.printed)
            if "(%)" in table.metric:
                lowest, highest = axis.get_ylim()
                axis.set_ylim(max(0.0, lowest), min(100.0, highest))
            axis.set_title(panel, fontsize=9)
            axis.set_xlabel(table.axis)
        axes[0].set_ylabel(table.metric)
        handles = {label: handle for axis in axes[: len(panels)] for handle, label in _legend(axis)}
        beside = max(1, min(len(handles), int(_CHARACTERS * width / (max(map(len, handles)) + 8))))
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=beside, frameon=False)
        figure.suptitle("\n".join(wrap(table.title, int(_CHARACTERS * width))), fontsize=10)

    write_figure(draw, width, (3.2 if len(panels) == 1 else 2.6 * lines) + 0.9, path)


def _draw(axis: Any, cells: Sequence[TableCell], name: str) -> None:
    """One panel: a line for each series, and the controls of the first of them."""
    cells = sorted(cells, key=lambda cell: cell.at or 0.0)
    lines = list(dict.fromkeys(cell.series for cell in cells))
    first = [cell for cell in cells if cell.series == lines[0]]
    least = min(cell.measured.mean for cell in cells if cell.measured is not None)
    shown = _draw_controls(axis, first, least, in_colour=len(lines) == 1)
    printed = [(cell.at, cell.paper) for cell in cells if cell.paper is not None]
    if printed:
        axis.plot(*zip(*printed, strict=True), "x", color=PAPER, ms=6, label=name)
    for number, line in enumerate(lines):
        here = [cell for cell in cells if cell.series == line]
        figures = [cell.measured for cell in here if cell.measured is not None]
        means, spreads = [each.mean for each in figures], [each.std or 0.0 for each in figures]
        style = {"color": SERIES[number % len(SERIES)], "marker": _MARKERS[number % len(_MARKERS)]}
        style["ls"] = "none" if here[0].tick else "-"  # named places have nothing between them
        axis.errorbar([cell.at for cell in here], means, spreads, ms=4, capsize=2, label=line or "privet", **style)
        shown += means
    _scale(axis, cells, shown)


def _draw_controls(axis: Any, cells: Sequence[TableCell], least: float, *, in_colour: bool) -> list[float]:
    """The figures that were drawn; a control far below all lines is named instead, lest it squeeze the rest."""
    shown: list[float] = []
    below = []
    for number, (key, named) in enumerate(cells[0].controls.items()):
        figures = [cell.controls[key].mean for cell in cells]
        if max(figures) < least - _SHOWN_BELOW:
            ends = dict.fromkeys(f"{each:.0f}" for each in (min(figures), max(figures)))
            below.append(f"{named.short} below: {' to '.join(ends)}")
            continue
        places, (colour, dashes) = [cell.at for cell in cells], style(key)
        drawn = {"color": colour if in_colour else GREYS[number % len(GREYS)], "lw": 1, "marker": "."}
        axis.plot(places, figures, ls="none" if cells[0].tick else dashes, label=named.short, **drawn)
        shown += figures
    axis.text(0.02, 0.02, "\n".join(below), transform=axis.transAxes, fontsize=7, va="bottom")
    return shown


def _scale(axis: Any, cells: Sequence[TableCell], shown: list[float]) -> None:
    places = {cell.at: cell.tick or f"{cell.at:g}" for cell in cells if cell.at is not None}
    smallest, largest = min(places), max(places)
    if smallest > 0 and largest / smallest > 6:
        axis.set_xscale("log")
    elif smallest == 0 and largest > 8:
        axis.set_xscale("symlog", linthresh=2, linscale=0.4)
    axis.set_xticks(list(places), list(places.values()))
    if any(cell.tick for cell in cells):
        axis.tick_params(axis="x", labelrotation=20)
    if min(shown) > 0 and max(shown) / min(shown) > _LOG_BEYOND:
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")  # powers of ten would be mathematical markup, which is not read
    axis.minorticks_off()
    axis.margins(y=0.25)
    axis.grid(alpha=0.3)


def _legend(axis: Any) -> list[tuple[Any, str]]:
    handles, labels = axis.get_legend_handles_labels()
    return list(zip(handles, labels, strict=True))
