"""What can be measured of a system: one description a task, which tables and runs share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from privet.data import Graph
from privet.evaluation.central import (
    BASELINE_KINDS,
    CENTRAL_KINDS,
    PRECISION_KINDS,
    central_subject,
    measure_central,
    measure_precision,
)
from privet.evaluation.links import LINK_KINDS, measure_links
from privet.evaluation.measure import EDGE_KINDS, KINDS, Measurement, measure, seeded_split
from privet.reproduction.figures.canaries import CANARY_KINDS, measure_canaries
from privet.reproduction.figures.estimation_error import ESTIMATION_KINDS, measure_estimation
from privet.reproduction.figures.impact import measure_impact
from privet.reproduction.figures.variance import VARIANCE_KINDS, measure_variance
from privet.systems import CENTRAL_SYSTEMS, AnySystem, HeterPoisson, System

__all__ = ["KIND_TITLES", "TASKS", "Task", "task_of"]

KIND_TITLES = {
    "structure_only": ("no info", "structure only (reports without information)"),
    "label_propagation": ("labels", "label propagation (no features)"),
    "features_only": ("no graph", "features without the graph"),
    "non_private": ("raw", "non-private upper bound"),
    "private_mlp": ("DP-MLP", "DP-SGD on an MLP without the graph"),
    "smoothed_mlp": ("smoothed", "the private MLP, its predictions smoothed over unprotected edges"),
    "sml": ("SML", "the paper's SML noise at its claimed epsilon, which does not hold"),
    "gap": ("GAP", "GAP with noise for its true sensitivity"),
    "ndp": ("NDP", "NDP, the bounded-degree private GNN"),
    "noisy_graph": ("plain GNN", "the backbone alone on the noisy graph"),
    "lpgnn_noisy": ("LPGNN", "LPGNN on the noisy graph, as the paper adapts it"),
    "one_bit": ("1-bit", "the 1-bit mechanism"),
    "analytic_gaussian": ("Gaussian", "the analytic Gaussian mechanism"),
    "mean_aggregator": ("mean agg.", "the mean aggregator instead of GCN's"),
    "square_wave_unbiased": ("SW unbiased", "the square wave's output made unbiased"),
    "piecewise": ("piecewise", "the piecewise mechanism"),
    "multi_bit": ("multi-bit", "the multi-bit mechanism"),
    "laplace": ("Laplace", "the Laplace mechanism"),
    "overlap": ("kept", "centres kept in the sub-graphs of others, with the noise that this needs"),
    "private_embedding": ("embedding", "any classifier on private embeddings of the nodes themselves"),
    "embedding_bound": ("bound", "Theorem 3's bound for private embeddings"),
    "claim": ("claim", "what the claimed epsilon allows"),
    "sml_projection": ("SML, paper's", "SML noise seen along the canary only, as the paper audits it"),
}
"""What a figure beside the system's own is called: in a narrow column, and in words."""


@dataclass(frozen=True)
class Task:
    """Its name and metric, the ``kinds`` of figure (the system itself first, then what it is compared with), one
    ``measure(kind, system, graph, seed, **protocol)`` for all of them, the ``questions`` that a run answers (which kind
    it is compared with, and whose worth that shows), the ``subject`` whose settings decide a figure (so that equal ones
    are measured once), and the ``factor`` at which figures are printed."""

    title: str
    metric: str
    kinds: tuple[str, ...]
    measure: Callable[..., Measurement]
    questions: tuple[tuple[str, str], ...] = ()
    subject: Callable[[str, Any], AnySystem] = lambda kind, system: system
    factor: float = 100.0

    def printed(self, figure: float) -> str:
        """A figure as tables show it: tenths of a per cent, or three digits."""
        return f"{figure:.1f}" if self.factor == 100 else f"{figure:.3g}"


def _local_subject(kind: str, system: System) -> System:
    """Reports without information are the same noise at any budget, up to its scale: one figure serves a whole row."""
    return replace(system, epsilon_features=1.0) if kind in ("structure_only", "non_private") else system


def _nodes(kind: str, system: System, graph: Graph, seed: int, label_rate: float = 0.5) -> Measurement:
    return measure(kind, system, seeded_split(graph, seed, label_rate), seed)


_FEATURES = ("structure_only", "the private features")

TASKS = {
    "nodes": Task("node classification", "accuracy (%)", KINDS, _nodes, (_FEATURES,), _local_subject),
    "node-level": Task(
        "node classification, central model",
        "accuracy (%)",
        CENTRAL_KINDS,
        measure_central,
        (("private_mlp", "the private edges"),),
        central_subject,
    ),
    "node-level-noise": Task(
        "node classification, central model", "accuracy (%)", ("private", "sml"), measure_central, (), central_subject
    ),
    "node-level-overlap": Task(
        "node classification, central model",
        "accuracy (%)",
        ("private", "overlap"),
        measure_central,
        (),
        central_subject,
    ),
    "node-level-precision": Task(
        "node classification, central model",
        "precision (%)",
        PRECISION_KINDS,
        measure_precision,
        (),
        central_subject,
    ),
    "node-level-baseline": Task(
        "node classification, central model",
        "accuracy (%)",
        BASELINE_KINDS,
        measure_central,
        (("private_mlp", "the edges"),),
        central_subject,
    ),
    "private-edges": Task(
        "node classification, private topology",
        "accuracy (%)",
        EDGE_KINDS,
        _nodes,
        (("features_only", "the reported edges"), _FEATURES),
        _local_subject,
    ),
    "links": Task("link prediction", "AUC (%)", LINK_KINDS, measure_links, (_FEATURES,), _local_subject),
    "estimation": Task(
        "estimation of neighbourhood aggregates",
        "mean absolute error",
        ESTIMATION_KINDS,
        measure_estimation,
        factor=1.0,
    ),
    "variance": Task("estimation of one feature", "worst-case variance", VARIANCE_KINDS, measure_variance, factor=1.0),
    "impact": Task("gradients", "change of the gradient", ("private",), measure_impact, factor=1.0),
    "canaries": Task(
        "audit and attack, central model", "epsilon, or accuracy (%)", CANARY_KINDS, measure_canaries, factor=1.0
    ),
}


def task_of(system: str) -> str:
    """What `privet run` measures of a system."""
    if system in CENTRAL_SYSTEMS:
        return "node-level" if CENTRAL_SYSTEMS[system] is HeterPoisson else "node-level-baseline"
    return "private-edges" if system == "solitude" else "nodes"
