"""Honest controls: what the same splits give without the private features, without the graph, or without privacy.

A private system is worth its budget only if it beats ``structure_only``, which runs the same pipeline on reports that
carry no information.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from privet.data import Graph
from privet.graph import LazyFeatures, gcn_operator
from privet.mechanisms import AffineFeatures, Bits, SampledResponse
from privet.models import MLP, TrainingSettings, seeded, train
from privet.privacy import Guarantee
from privet.systems.base import LocalSystem as System
from privet.systems.collected import Collected
from privet.systems.fitted import Fitted

__all__ = [
    "collect_raw",
    "features_only",
    "label_propagation",
    "non_private",
    "shuffled_reports",
    "structure_only",
    "without_information",
]


def without_information(graph: Graph) -> Graph:
    """The same graph, in which everybody has the same features: reports about them say nothing of anybody."""
    if graph.features is None:
        return graph
    return graph.replace(features=sp.csr_array(graph.features.shape, dtype=np.float32))


def structure_only(system: System, graph: Graph, bits: Bits, *, progress: bool = False) -> Fitted:
    """The system's own pipeline on reports that carry no information (epsilon 0 for the features)."""
    return system.fit(system.collect(without_information(graph), bits), progress=progress)


def shuffled_reports(collected: Collected, seed: int | None) -> Collected:
    """The same feature reports, dealt to the respondents at random: what the server holds if they say nothing of whom.

    It stands for ``structure_only`` where nobody has the raw data. Labels, lists and who answered stay as they are.
    """
    features = collected.answers["features"]
    order = np.random.default_rng(seed).permutation(len(features))
    return replace(collected, answers=collected.answers.with_part("features", features.dealt(order)))


def label_propagation(collected: Collected, topology: Graph | None = None) -> Fitted:
    """F <- a P F + (1 - a) Y with P the GCN operator, from the training labels that the server sees.

    The number of hops and a are chosen by the validation labels that the server sees (noisy ones if they are private).
    """
    labels = collected.seen_labels()
    classes = collected.schema.classes
    operator = gcn_operator(collected.topology if topology is None else topology, self_loops=True)
    start = torch.zeros(len(labels), classes)
    known = np.flatnonzero(collected.train & (labels >= 0))
    start[known, labels[known]] = 1.0
    held_out = collected.validation & (labels >= 0)
    target = torch.from_numpy(labels[held_out])
    best_score, best_scores, best_choice = -1.0, start, {"hops": 0, "weight": 0.0}
    for weight in (0.5, 0.8, 0.95, 1.0):
        scores = start
        for hop in range(1, 33):
            scores = weight * (operator @ scores) + (1 - weight) * start
            if hop & (hop - 1):
                continue  # powers of two are enough to choose from
            found = float((scores[torch.from_numpy(held_out)].argmax(1) == target).float().mean())
            if found > best_score:
                best_score, best_scores, best_choice = found, scores, {"hops": hop, "weight": weight}
    shares = best_scores / best_scores.sum(dim=1, keepdim=True).clamp_min(1e-12)
    guarantee = None if collected.label_response is None else collected.label_response.guarantee()
    return Fitted("label_propagation", guarantee, shares.numpy(), settings=best_choice, validation_score=best_score)


def features_only(
    collected: Collected, *, seed: int | None = 0, hidden_channels: int = 16, max_epochs: int = 200
) -> Fitted:
    """A perceptron on the reports without the graph; private labels through the transition matrix (forward loss).

    It is trained on respondents; to it all others are alike, and get the prediction for the respondents' mean.
    """
    reported = collected.reported()
    features = LazyFeatures.from_affine(reported)
    chosen = collected.answers["features"].users
    labels = torch.from_numpy(collected.seen_labels()[chosen])
    parts = [torch.from_numpy(part[chosen]) & (labels >= 0) for part in (collected.train, collected.validation)]
    classes = collected.schema.classes
    response = collected.label_response
    transition = torch.eye(classes) if response is None else torch.from_numpy(response.transition).float()
    with seeded(seed):
        model = MLP(features.shape[1], hidden_channels, classes, dropout=0.5)

    def negative_likelihood(model: MLP, part: torch.Tensor) -> torch.Tensor:
        chances = model(features)[part].softmax(dim=1) @ transition
        return torch.nn.functional.nll_loss(chances.clamp_min(1e-12).log(), labels[part])

    settings = TrainingSettings(
        max_epochs=max_epochs, learning_rate=0.01, weight_decay=1e-3, direction="min", patience=50, seed=seed
    )
    result = train(
        model, lambda m: negative_likelihood(m, parts[0]), lambda m: negative_likelihood(m, parts[1]), settings
    )
    with torch.no_grad():
        probabilities = model(features).softmax(dim=1)
        if len(chosen) < collected.num_nodes:
            mean = LazyFeatures.from_dense(torch.from_numpy(reported.mean()[None]).float())
            everybody = model(mean).softmax(dim=1).repeat(collected.num_nodes, 1)
            probabilities = everybody.index_copy(0, torch.from_numpy(chosen), probabilities)
    used = {"hidden_channels": hidden_channels, "max_epochs": max_epochs}
    return Fitted(
        "features_only", collected.guarantee(), probabilities.numpy(), settings=used, best_epoch=result.best_epoch
    )


def non_private(system: System, graph: Graph, bits: Bits, *, progress: bool = False) -> Fitted:
    """The system's own pipeline on raw features and labels: an upper bound that protects nobody."""
    public_labels = replace(system, epsilon_labels=None)
    return public_labels.fit(collect_raw(public_labels, graph, bits), progress=progress)


def collect_raw(system: System, graph: Graph, bits: Bits) -> Collected:
    """What a server would hold that simply asked for the features: for upper bounds only, and without a guarantee."""
    collected = system.collect(without_information(graph), bits)
    known = {field.name: getattr(collected, field.name) for field in fields(Collected)}
    return _Raw(**known, raw=_raw_features(graph, collected))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Raw(Collected):
    """Collected without privacy: the estimate is the truth, and there is no guarantee."""

    raw: AffineFeatures

    def reported(self) -> AffineFeatures:
        return self.raw

    def guarantee(self) -> Guarantee | None:
        return None


def _raw_features(graph: Graph, collected: Collected) -> AffineFeatures:
    matrix = sp.csr_array(graph.features)
    if isinstance(collected.mechanism("features"), SampledResponse):
        matrix = _one_hot(matrix.toarray().astype(np.int64), np.array(collected.schema.categories))
    width = matrix.shape[1]
    return AffineFeatures(matrix, np.ones(width), np.zeros(width))


def _one_hot(codes: NDArray[np.int64], counts: NDArray[np.int64]) -> sp.csr_array:
    starts = np.concatenate([[0], np.cumsum(counts)])
    users, features = codes.shape
    ones = np.ones(codes.size, dtype=np.float32)
    return sp.csr_array(
        (ones, (starts[:-1] + codes).ravel(), np.arange(users + 1) * features), shape=(users, int(starts[-1]))
    )
