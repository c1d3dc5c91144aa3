"""An honest ceiling: a stack of models of raw data, weighed by validation labels.

A system's own pipeline without noise need not be a ceiling: it may be a poor model of the raw data. This one depends on
the data and the split alone, so it is the same for every system. Three models look at the data from different sides,
and each is fitted in seconds: the structural prior (labels and topology), a linear model (all features, and neighbours'
mean), and a small network (the features' leading columns, neighbours' columns, and the prior).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from scipy.special import softmax

from privet.data import Graph
from privet.errors import InvalidData
from privet.estimation.priors.fold_networks import FoldInputs, FoldNetworks
from privet.estimation.priors.structural_prior import calibrated, structural_prior
from privet.estimation.shared_weights import SharedWeights
from privet.estimation.sparse_regression import SparseRegression
from privet.evaluation.results import Figures
from privet.graph.coordinates import standardised
from privet.graph.memory import topology_of
from privet.graph.topology import Aggregation
from privet.systems.controls import Control, DataAlone
from privet.systems.fitted import Fitted

__all__ = ["CEILING", "ceiling", "only_if_highest"]

Rows = NDArray[np.float64]

_PENALTY = 0.1  # of the linear model's squared weights
_COLUMNS = 96  # leading columns that the network reads
_PULL = 1.0  # towards equal parts in the stack
_FOLDS = 5
_DENSE = 0.25  # share of non-zero entries from which features count as dense
_FAR = 3.0  # deviations from 0 beyond which a column's mean would hide how it differs
_MORE = 16  # columns that are looked at beside those that are kept


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
        raise InvalidData("A ceiling needs a graph with features, labels, a schema and a split.")
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


def scaled_rows(features: Any) -> sp.csr_array:
    """Scale sparse rows (bags of words) to norm 1, and columns of dense features to one deviation.

    Args:
        features: Dense or sparse features, one row a person.
    """
    raw = sp.csr_array(features).astype(np.float64)
    people, width = raw.shape
    squares = raw.multiply(raw)
    if raw.nnz < _DENSE * people * width:
        norms = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(1 / np.maximum(norms, 1e-12), format="csr") @ raw).astype(np.float32)
    mean = np.asarray(raw.mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(np.asarray(squares.mean(axis=0)).ravel() - mean**2, 0))
    scale = np.where(deviation > 0, 1 / np.maximum(deviation, 1e-12), 0) / np.sqrt(width)
    shift = np.where(np.abs(mean) > _FAR * deviation, mean, 0)
    moved = sp.csr_array(raw.toarray() - shift) if shift.any() else raw  # others keep their zeros
    return sp.csr_array(moved @ sp.diags_array(scale, format="csr")).astype(np.float32)


def leading_columns(rows: sp.csr_array, width: int, seed: int) -> NDArray[np.float32]:
    """Return the features in the directions in which they differ most, each column with mean 0 and deviation 1.

    It is a truncated singular value decomposition by random columns (Halko, Martinsson and Tropp): no matrix as wide
    as the features is dense.

    Args:
        rows: The features.
        width: The number of columns; features that have no more are returned as they are, but standardised.
        seed: The seed of the random columns.
    """
    if rows.shape[1] <= width:
        return standardised(rows.toarray())
    columns = np.random.default_rng(seed).standard_normal((rows.shape[1], width + _MORE), dtype=np.float32)
    back = sp.csr_array(rows.T)
    basis = np.linalg.qr(rows @ columns)[0]
    basis = np.linalg.qr(rows @ (back @ basis))[0]
    turned, values, _ = np.linalg.svd((back @ basis).T, full_matrices=False)
    return standardised((basis @ turned)[:, :width] * values[:width])


def with_neighbours(columns: NDArray[np.float32], mean: Aggregation) -> NDArray[np.float32]:
    """Return columns, their means over neighbours, and the means of those over neighbours, side by side.

    Args:
        columns: One row a person.
        mean: The mean over neighbours.
    """
    once = mean @ columns
    return np.concatenate([columns, standardised(once), standardised(mean @ once)], axis=1)


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
