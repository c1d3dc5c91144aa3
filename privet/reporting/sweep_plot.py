"""A sweep drawn: the privacy-utility curve with its confidence intervals, and the controls as bands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privet.evaluation.sweep import half_width
from privet.evaluation.tasks import KIND_TITLES
from privet.reporting.drawing import CONTROL_COLOURS, OURS, figure_in

__all__ = ["plot_sweep"]


_SHOWN_BELOW = 20.0  # points below the curve; a control further down is named, lest it squeeze the rest


def plot_sweep(result: dict[str, Any], path: Path) -> None:
    """Means, and 95 % confidence intervals where there are several seeds: bars for the system, bands for controls."""
    epsilons, points = result["epsilons"], result["points"]
    below = []
    with figure_in(path, 6.5, 4.0) as figure:
        axis = figure.subplots()
        for number, kind in enumerate(kind for kind in KIND_TITLES if kind in points[0]["controls"]):
            colour = CONTROL_COLOURS[number % len(CONTROL_COLOURS)]
            means, low, high = _intervals([point["controls"][kind] for point in points])
            if max(means) < min(point["mean"] for point in points) - _SHOWN_BELOW:
                below.append(f"{KIND_TITLES[kind][1]}, below: {min(means):.0f} to {max(means):.0f}")
                continue
            axis.plot(epsilons, means, "--", color=colour, lw=1, label=KIND_TITLES[kind][1])
            axis.fill_between(epsilons, low, high, color=colour, alpha=0.2, lw=0)
        means, low, high = _intervals(points)
        reach = [
            [m - one for m, one in zip(means, low, strict=True)],
            [h - m for m, h in zip(means, high, strict=True)],
        ]
        axis.errorbar(epsilons, means, reach, color=OURS, marker="o", ms=4, capsize=3, label=result["system"])
        if epsilons[-1] / epsilons[0] > 6:
            axis.set_xscale("log")
        axis.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.text(0.02, 0.02, "\n".join(below), transform=axis.transAxes, fontsize=8, va="bottom")
        axis.set_xlabel(result["swept"])
        axis.set_ylabel(points[0]["metric"])
        seeds = len(points[0]["seeds"])
        spread = f"mean and 95 % confidence interval, {seeds} seeds" if seeds > 1 else "one seed, no intervals"
        axis.set_title(f"{result['system']} on {Path(result['dataset']).stem} ({spread})", fontsize=10)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)


def _intervals(figures: list[dict[str, Any]]) -> tuple[list[float], list[float], list[float]]:
    """Means and the ends of their intervals, which stay within 0 and 100 per cent."""
    means = [float(each["mean"]) for each in figures]
    widths = [half_width(each["values"]) or 0.0 for each in figures]
    low = [max(0.0, mean - width) for mean, width in zip(means, widths, strict=True)]
    high = [min(100.0, mean + width) for mean, width in zip(means, widths, strict=True)]
    return means, low, high
