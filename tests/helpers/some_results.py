"""Small results for figures, pages and tables, and the limits of what is drawn of them."""

from __future__ import annotations

from privet.evaluation import Figures, Result
from privet.privacy import Guarantee, Unit
from privet.reporting.figures import ReportFigure

__all__ = ["limits", "some_result"]


def some_result(epsilon: float, values: tuple[float, ...] = (80.0, 81.0, 82.0)) -> Result:
    """Make a result of LPGNN whose one control has the same figures."""
    return Result(
        system="lpgnn",
        dataset="village",
        task="node classification",
        metric="accuracy (%)",
        settings={"epsilon_features": epsilon},
        seeds=tuple(range(len(values))),
        figures=Figures(values),
        controls={"structure": Figures(values, "structure", "the structure alone", "the private data")},
        guarantee=Guarantee.local(Unit.FEATURES, epsilon),
    )


def limits(figure: ReportFigure, axis: str) -> tuple[float, float]:
    """Draw a figure and return the ends of its x or y axis."""
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    figure.draw(axes)
    low, high = getattr(axes, f"get_{axis}lim")()
    return float(low), float(high)
