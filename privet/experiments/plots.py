"""Tables drawn as figures: one panel a dataset or condition, our figures, the paper's and the controls in each."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from privet.data.files import atomic_file
from privet.errors import InvalidData, InvalidParameter
from privet.experiments.tasks import KIND_TITLES

__all__ = ["check_format", "plot_table"]

_FORMATS = (".svg", ".pdf", ".png")
_SHOWN_BELOW = 12.0  # points below our figures; a control further down is named, not drawn
# Okabe and Ito's colours, which colour-blind readers can tell apart.
_OURS, _PAPER = "#0072B2", "#000000"
_OTHERS = ("#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")


def check_format(path: Path) -> None:
    """Refuse a file name before anything is measured for it."""
    if path.suffix not in _FORMATS:
        raise InvalidParameter("--plot", "privet table", "a file name ending in " + ", ".join(_FORMATS), path.name)


def plot_table(result: dict[str, Any], path: Path) -> None:
    """Draw what `privet table` measured; error bars are standard deviations over the seeds."""
    check_format(path)
    rows = [row for row in result["cells"] if row["measured"] is not None and row["at"] is not None]
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    if not panels:
        raise InvalidData("table to plot", "with measured cells that have a place on an axis", "none")
    # Not pyplot: no global state, and no window system is looked for.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "privet", "svg.fonttype": "none", "font.size": 9}):
        columns = len(panels) if len(panels) < 5 else 3 if len(panels) in (5, 6, 9) else 4
        lines = math.ceil(len(panels) / columns)
        figure = Figure(figsize=(max(3.1 * columns, 6.2) + 0.3, 2.6 * lines + 0.9), layout="constrained")
        axes = figure.subplots(lines, columns, squeeze=False).ravel()
        for axis in axes[len(panels) :]:
            axis.remove()
        for axis, panel in zip(axes, panels, strict=False):
            _draw(axis, [row for row in rows if row["panel"] == panel])
            axis.set_title(panel, fontsize=9)
            axis.set_xlabel(result["axis"])
        axes[0].set_ylabel(result["metric"])
        handles = {label: handle for axis in axes[: len(panels)] for handle, label in _legend(axis)}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False)
        figure.suptitle(result["title"], fontsize=10)
        with atomic_file(path) as file:
            kind = path.suffix[1:]
            no_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
            figure.savefig(file, format=kind, dpi=150, metadata=no_date)


def _draw(axis: Any, rows: list[dict[str, Any]]) -> None:
    rows = sorted(rows, key=lambda row: row["at"])
    places = [row["at"] for row in rows]
    means, spreads = ([row["measured"][what] for row in rows] for what in ("mean", "std"))
    below = []
    for number, kind in enumerate(rows[0]["controls"]):
        figures = [row["controls"][kind]["mean"] for row in rows]
        if max(figures) < min(means) - _SHOWN_BELOW:
            below.append(f"{KIND_TITLES[kind][0]} below: {min(figures):.0f} to {max(figures):.0f}")
            continue
        colour = _OTHERS[number % len(_OTHERS)]
        axis.plot(places, figures, "--", color=colour, lw=1, marker=".", label=KIND_TITLES[kind][0])
    printed = [(row["at"], row["paper"]) for row in rows if row["paper"] is not None]
    if printed:
        axis.plot(*zip(*printed, strict=True), "x", color=_PAPER, ms=6, label="paper")
    axis.errorbar(places, means, spreads, color=_OURS, marker="o", ms=4, capsize=2, label="privet")
    if places[0] > 0 and places[-1] / places[0] > 6:
        axis.set_xscale("log")
    axis.set_xticks(places, [f"{place:g}" for place in places])
    axis.minorticks_off()
    axis.margins(y=0.25)
    axis.grid(alpha=0.3)
    axis.text(0.02, 0.02, "\n".join(below), transform=axis.transAxes, fontsize=7, va="bottom")


def _legend(axis: Any) -> list[tuple[Any, str]]:
    handles, labels = axis.get_legend_handles_labels()
    return list(zip(handles, labels, strict=True))
