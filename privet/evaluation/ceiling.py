"""An honest ceiling: a stack of models of raw data, weighed by validation labels.

A system's own pipeline without noise need not be a ceiling: it may be a poor model of the raw data. This one depends on
the data and the split alone, so it is the same for every system. Three models look at the data from different sides,
and each is fitted in seconds: the structural prior (labels and topology), a linear model (all features, and neighbours'
mean), and a small network (the features' leading columns, neighbours' columns, and the prior).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax

from privet.data import Graph
from privet.errors import InvalidData
from privet.estimation.priors.fold_networks import FoldInputs, FoldNetworks
from privet.estimation.priors.structural_prior import calibrated, structural_prior
from privet.estimation.shared_weights import SharedWeights
from privet.estimation.sparse_regression import SparseRegression
from privet.evaluation.raw_columns import leading_columns, scaled_rows, with_neighbours
from privet.evaluation.results import Figures
from privet.graph.memory import topology_of
from privet.systems.controls import Control, DataAlone
from privet.systems.fitted import Fitted

__all__ = ["CEILING", "ceiling"]

Rows = NDArray[np.float64]

_PENALTY = 0.1  # of the linear model's squared weights
_COLUMNS = 96  # leading columns that the network reads
_PULL = 1.0  # towards equal parts in the stack
_FOLDS = 5


class _Model(NamedTuple):
    """One model of the raw data.

    Attributes:
        name: Its name.
        held: Everybody's class log-probabilities without the held-out people's own labels.
        final: The same, learned from all labels.
    """

    name: str
    held: Rows
    final: Rows


def ceiling(graph: Graph, seed: int | None) -> Fitted:
    """Fit all models on raw features and labels, and return the stack or the model that is best on held-out people.

    Models are fitted on training nodes; validation nodes decide how much each has to say, or that one alone is better;
    then they are fitted on both. Nothing about it is private. Where a graph has no validation nodes, a fifth of the
    training nodes is held out.

    Args:
        graph: A graph with features, labels, a schema and a split.
        seed: The seed of networks and folds.
    """
    if graph.features is None or graph.labels is None or graph.split is None or graph.schema is None:
        raise InvalidData("graph", "with features, labels, a schema and a split", "one without")
    known, classes = graph.labels >= 0, int(graph.schema.classes)
    fit, held = (np.flatnonzero(part & known) for part in (graph.split.train, graph.split.validation))
    if not len(held):
        order = np.random.default_rng(seed).permutation(fit)
        fit, held = order[len(order) // 5 :], order[: len(order) // 5]
    models = _models(graph, classes, fit, np.concatenate([fit, held]), seed or 0)
    truth = graph.labels[held]
    scores = {model.name: float((model.held[held].argmax(axis=1) == truth).mean()) for model in models}
    evidence, answers = np.stack([model.held[held] for model in models], axis=1), np.eye(classes)[truth]
    scores["stack"] = _held_out(evidence, answers)
    best = max(reversed(scores), key=lambda name: scores[name])  # the stack, if it is as good as one model
    if best == "stack":
        rows = _weights(evidence, answers).logits(np.stack([model.final for model in models], axis=1))
    else:
        rows = next(model.final for model in models if model.name == best)
    found = softmax(rows, axis=1).astype(np.float32)
    return Fitted("ceiling", None, found, settings={"model": best}, validation_score=scores[best])


def _models(graph: Graph, classes: int, fit: NDArray[np.int64], labelled: NDArray[np.int64], seed: int) -> list[_Model]:
    topology, seen = topology_of(graph).loaded(), np.full(graph.num_nodes, -1)
    seen[labelled] = np.asarray(graph.labels)[labelled]
    prior = calibrated(structural_prior(topology, seen, classes, seed=seed), seen)
    rows = scaled_rows(graph.features)
    linear = SparseRegression(rows, topology.mean_matrix, _PENALTY).log_probabilities(seen, classes, [fit, labelled])
    columns = with_neighbours(leading_columns(rows, _COLUMNS, seed), topology.mean())
    network = _network(np.concatenate([columns, prior], axis=1), seen, classes, [fit, labelled], seed)
    return [_Model("structure", prior, prior), _Model("linear", *linear), _Model("network", *network)]


def _network(
    columns: NDArray[np.float64], labels: NDArray[np.int64], classes: int, seen: Sequence[NDArray[np.int64]], seed: int
) -> list[Rows]:
    shared = torch.from_numpy(columns.astype(np.float32))
    heard = torch.eye(classes)[torch.from_numpy(np.maximum(labels, 0))]
    inputs = FoldInputs(shared, torch.zeros(len(seen), len(columns), 0))
    networks = FoldNetworks(inputs, heard, list(seen), seed)
    return [np.log(np.maximum(networks.probabilities(number, shared), 1e-9)) for number in range(len(seen))]


def _weights(evidence: Rows, truth: Rows) -> SharedWeights:
    return SharedWeights.fit(evidence, truth, [1 / evidence.shape[1]] * evidence.shape[1], _PULL)


def _held_out(evidence: Rows, truth: Rows) -> float:
    """Return the accuracy on people who had no part in the weights."""
    fold = np.arange(len(evidence)) % _FOLDS
    right = 0
    for number in range(_FOLDS):
        own = fold == number
        found = _weights(evidence[~own], truth[~own]).logits(evidence[own])
        right += int((found.argmax(axis=1) == truth[own].argmax(axis=1)).sum())
    return right / max(len(evidence), 1)


CEILING = Control(
    "ceiling",
    "ceiling",
    "the best of a few models on raw data, without privacy",
    lambda system, graph, seed: ceiling(graph, seed),
    subject=lambda system: DataAlone(system.model),
)


def only_if_highest(controls: Mapping[str, Figures], own: Figures) -> dict[str, Figures]:
    """Call the ceiling one only where nothing else that was measured beside it is higher.

    Args:
        controls: The figures of the controls.
        own: The figures of the system that they stand beside.
    """
    found = dict(controls)
    highest = max((each.mean for each in (own, *found.values())), default=0.0)
    if CEILING.key in found and found[CEILING.key].mean < highest:
        found[CEILING.key] = replace(
            found[CEILING.key], short="raw model", title="a model on raw data, without privacy"
        )
    return found
