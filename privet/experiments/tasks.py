"""What can be measured of a system: one description a task, which tables and runs share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from privet.data import Graph
from privet.experiments.estimation_error import ESTIMATION_KINDS, measure_estimation
from privet.experiments.links import LINK_KINDS, measure_links
from privet.experiments.measure import KINDS, Measurement, measure, seeded_split
from privet.systems import System

__all__ = ["KIND_TITLES", "TASKS", "Task"]

KIND_TITLES = {
    "structure_only": ("no info", "structure only (reports without information)"),
    "label_propagation": ("labels", "label propagation (no features)"),
    "features_only": ("no graph", "features without the graph"),
    "non_private": ("raw", "non-private upper bound"),
    "one_bit": ("1-bit", "the 1-bit mechanism"),
    "analytic_gaussian": ("Gaussian", "the analytic Gaussian mechanism"),
    "mean_aggregator": ("mean agg.", "the mean aggregator instead of GCN's"),
}
"""What a figure beside the system's own is called: in a narrow column, and in words."""


@dataclass(frozen=True)
class Task:
    """Its name and metric, the ``kinds`` of figure (the system itself first, then what it is compared with), one
    ``measure(kind, system, graph, seed)`` for all of them, and the ``factor`` at which figures are printed."""

    title: str
    metric: str
    kinds: tuple[str, ...]
    measure: Callable[[str, System, Graph, int], Measurement]
    factor: float = 100.0

    def printed(self, figure: float) -> str:
        """A figure as tables show it: tenths of a per cent, or three digits."""
        return f"{figure:.1f}" if self.factor == 100 else f"{figure:.3g}"


def _nodes(kind: str, system: System, graph: Graph, seed: int) -> Measurement:
    return measure(kind, system, seeded_split(graph, seed), seed)


TASKS = {
    "nodes": Task("node classification", "accuracy (%)", KINDS, _nodes),
    "links": Task("link prediction", "AUC (%)", LINK_KINDS, measure_links),
    "estimation": Task(
        "estimation of neighbourhood aggregates", "mean absolute error", ESTIMATION_KINDS, measure_estimation, 1.0
    ),
}
