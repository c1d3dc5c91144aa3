"""An honest ceiling: the best of a few well-trained models on raw data, chosen by validation labels.

A system's own pipeline without noise need not be a ceiling: it may be a poor model of the raw data. This one depends on
the data and the split alone, so it is the same for every system.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from privet.data import Graph
from privet.errors import InvalidData
from privet.graph import LazyFeatures
from privet.mechanisms import AffineFeatures
from privet.models import GNN, MLP, Propagation, TrainingSettings, accuracy, seeded, train
from privet.systems import LocalSystem, Structure
from privet.systems.controls import MAJORITY, Control
from privet.systems.fitted import Fitted

__all__ = ["CEILING", "Candidate", "ceiling"]


@dataclass(frozen=True)
class Candidate:
    """One model of the raw data.

    Attributes:
        backbone: The graph layers, or None for a perceptron that sees no edge.
        hidden_channels: The width of the hidden layer.
        dropout: The share of hidden units that a step leaves out.
        weight_decay: The penalty on large weights.
    """

    backbone: str | None
    hidden_channels: int = 64
    dropout: float = 0.5
    weight_decay: float = 5e-4


_DENSE = 0.25  # share of non-zero entries from which features count as dense
CANDIDATES = (
    Candidate("sage"),
    Candidate(None),
    Candidate("gcn"),
    Candidate("sage", weight_decay=5e-3),
)
_HALFWAY = 40  # epochs after which a candidate is compared with where the leader was at that time


def ceiling(graph: Graph, seed: int | None, candidates: tuple[Candidate, ...] = CANDIDATES) -> Fitted:
    """Train every candidate on raw features and labels, and return the one that is best on validation nodes.

    A candidate that is behind the leader of its time by more than a standard error after 40 epochs is given up. Nothing
    about it is private. Where a graph has no validation nodes, a fifth of the training nodes is held out.

    Args:
        graph: A graph with features, labels, a schema and a split.
        seed: The seed of initial weights and dropout.
        candidates: The models to choose from.
    """
    if graph.features is None or graph.labels is None or graph.split is None or graph.schema is None:
        raise InvalidData("graph", "with features, labels, a schema and a split", "one without")
    known = graph.labels >= 0
    fit, held = (np.flatnonzero(part & known) for part in (graph.split.train, graph.split.validation))
    if not len(held):
        order = np.random.default_rng(seed).permutation(fit)
        fit, held = order[len(order) // 5 :], order[: len(order) // 5]
    x = _inputs(graph)
    labels = torch.from_numpy(graph.labels)
    nodes, chosen = torch.from_numpy(fit), torch.from_numpy(held)
    found: list[_Trained] = []
    for each in candidates:
        least = _within_reach(max((trained.halfway for trained in found), default=0.0), len(held))
        found.append(_trained(each, x, graph, labels, nodes, chosen, seed, least))
    best = max(range(len(found)), key=lambda number: found[number].score)
    used = {"backbone": candidates[best].backbone or "none"}
    return Fitted("ceiling", None, found[best].probabilities, settings=used, validation_score=found[best].score)


class _Trained(NamedTuple):
    """A candidate's best validation accuracy, that of its first 40 epochs, and its class probabilities."""

    score: float
    halfway: float
    probabilities: np.ndarray


def _within_reach(leader: float, nodes: int) -> float:
    """Return the accuracy halfway from which a candidate may still become better than the leader of that time."""
    return leader - math.sqrt(leader * (1 - leader) / nodes)


def _trained(
    candidate: Candidate,
    x: LazyFeatures,
    graph: Graph,
    labels: Tensor,
    fit: Tensor,
    held: Tensor,
    seed: int | None,
    least: float,
) -> _Trained:
    classes = int(graph.schema.classes) if graph.schema is not None else 0
    sizes = (x.shape[1], candidate.hidden_channels, classes)
    with seeded(seed):
        network: MLP | GNN
        operators: tuple[Propagation, ...] = ()
        if candidate.backbone is None:
            network = MLP(*sizes, dropout=candidate.dropout)
        else:
            network = GNN(*sizes, backbone=candidate.backbone, activation="relu", dropout=candidate.dropout)
            operators = (network.operator(graph),)

    def loss(model: nn.Module) -> Tensor:
        return nn.functional.cross_entropy(model(x, *operators)[fit], labels[fit])

    def score(model: nn.Module) -> float:
        return accuracy(model(x, *operators)[held], labels[held])

    settings = TrainingSettings(
        max_epochs=200, learning_rate=0.01, weight_decay=candidate.weight_decay, patience=40, seed=seed
    )
    result = train(network, loss, score, settings, give_up=lambda epoch, best: epoch == _HALFWAY and best < least)
    with torch.no_grad():
        probabilities = network(x, *operators).softmax(dim=1).numpy()
    return _Trained(float(result.best_score), max(result.scores[: _HALFWAY + 1]), probabilities)


def _inputs(graph: Graph) -> LazyFeatures:
    """Scale sparse rows (bags of words) to norm 1, and the columns of dense features to mean 0 and deviation 1."""
    raw = sp.csr_array(graph.features).astype(np.float64)
    if raw.nnz < _DENSE * raw.shape[0] * raw.shape[1]:
        norms = np.sqrt(np.asarray(raw.multiply(raw).sum(axis=1)).ravel())
        rows = sp.csr_array(sp.diags_array(1.0 / np.maximum(norms, 1e-12), format="csr") @ raw)
        return LazyFeatures.from_affine(AffineFeatures(rows, np.ones(raw.shape[1]), np.zeros(raw.shape[1])))
    mean = np.asarray(raw.mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(np.asarray(raw.multiply(raw).mean(axis=0)).ravel() - mean**2, 0.0))
    scale = np.where(deviation > 0, 1.0 / np.maximum(deviation, 1e-12), 0.0)
    return LazyFeatures.from_affine(AffineFeatures(raw, scale, -mean * scale))


CEILING = Control(
    "ceiling",
    "ceiling",
    "the best of a few models on raw data, without privacy",
    lambda system, graph, seed: ceiling(graph, seed),
    subject=lambda system: Structure() if isinstance(system, LocalSystem) else MAJORITY.subject(system),
)
