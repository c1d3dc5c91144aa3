"""Controls: the figures that the same splits give without the private data, without the graph, or without privacy.

A private system is worth its budget only if it beats ``structure_only``, which runs the same pipeline on reports that
carry no information. A system names the controls that it is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from privet.data import Categories, Graph
from privet.errors import InvalidData
from privet.estimation.labels import report_loss
from privet.graph import LazyFeatures
from privet.graph.memory import topology_of
from privet.mechanisms import AffineFeatures, Bits, SeededBits
from privet.models import MLP, TrainingSettings, seeded, train
from privet.privacy import Guarantee
from privet.systems.base import LocalSystem
from privet.systems.central._base import CentralSystem
from privet.systems.collected import Collected
from privet.systems.fitted import Fitted

if TYPE_CHECKING:
    from privet.systems import System

__all__ = [
    "FEATURES_ONLY",
    "LABEL_PROPAGATION",
    "MAJORITY",
    "NON_PRIVATE",
    "OWN",
    "SAME_SETTINGS",
    "STRUCTURE",
    "STRUCTURE_ONLY",
    "Control",
    "DataAlone",
    "collect_raw",
    "features_only",
    "label_propagation",
    "majority",
    "non_private",
    "rival",
    "shuffled_reports",
    "simulate",
    "structure_only",
    "without_information",
]


@dataclass(frozen=True)
class Control:
    """A figure that stands beside a system's own, in an evaluation or in a column of a table.

    Attributes:
        key: The name in result files.
        short: The name in a narrow column.
        title: The name in words.
        fit: Trains it: ``fit(subject, graph, seed)`` returns a :class:`Fitted` model; the graph has a split. In a table
            whose figures are no scores of predictions, it returns the figure, and is also given the cell's protocol.
        question: The data whose worth the system's lead over this control shows, such as "the private features".
        spares: The data that need not be collected if this control does as well as the system.
        subject: The system that ``fit`` is given, made from the one that is compared. Systems that give equal
            subjects have equal figures, which are then measured once.
    """

    key: str
    short: str
    title: str
    fit: Callable[..., Any]
    question: str | None = None
    spares: str | None = None
    subject: Callable[[Any], Any] = lambda system: system

    def trained(self, system: System, graph: Graph, seed: int) -> Fitted:
        """Train this control of a system on a graph with a split."""
        fitted: Fitted = self.fit(self.subject(system), graph, seed)
        return fitted


@dataclass(frozen=True)
class DataAlone:
    """The subject of controls that data, split and seed decide alone, whatever system they stand beside.

    Attributes:
        model: The privacy model of that system, by which graphs without a split are split.
    """

    model: str
    name: ClassVar[str] = "data"

    def settings(self) -> dict[str, Any]:
        """Return nothing: there is no system."""
        return {}


def simulate(system: System, graph: Graph, seed: int) -> Fitted:
    """Train a system as a simulation: one program plays every device, or the trusted holder, from one seed."""
    chosen = replace(system, seed=seed)
    return chosen.fit(chosen.collect(graph)) if isinstance(chosen, LocalSystem) else chosen.fit(graph)


OWN = Control("private", "", "", simulate)
"""The system itself, as its first figure."""


def rival(kind: type[CentralSystem]) -> Control:
    """Make a control of another central system, which trains in the same way as the one that it is compared with.

    Noise for a target epsilon is calibrated for the rival's own process.
    """

    def subject(system: CentralSystem) -> CentralSystem:
        return kind(**system.shared())

    key, title = kind.name.replace("-", "_"), kind.baseline or kind.name
    return Control(key, kind.baseline_short, title, simulate, kind.baseline_question, subject=subject)


def majority(graph: Graph) -> Fitted:
    """Predict the most frequent class of the training labels for everybody."""
    if graph.labels is None or graph.split is None or graph.schema is None:
        raise InvalidData("The most frequent class needs a graph with labels, a schema and a split.")
    known = graph.labels[graph.split.train & (graph.labels >= 0)]
    counts = np.bincount(known, minlength=graph.schema.classes).astype(np.float32)
    shares = counts / max(counts.sum(), 1.0)
    return Fitted("majority", None, np.tile(shares, (graph.num_nodes, 1)))


def without_information(graph: Graph) -> Graph:
    """Return the same graph in which everybody has the same features, so that reports say nothing of anybody."""
    if graph.features is None:
        return graph
    return graph.replace(features=sp.csr_array(graph.features.shape, dtype=np.float32))


def structure_only(system: LocalSystem, graph: Graph, bits: Bits, *, progress: bool = False) -> Fitted:
    """Run the system's own pipeline on reports that carry no information (epsilon 0 for the features)."""
    return system.fit(system.collect(without_information(graph), bits), progress=progress)


def shuffled_reports(collected: Collected, seed: int | None, question: str = "features") -> Collected:
    """Deal the reports to a question to the respondents at random, so that they say nothing of whom they are about.

    This stands for ``structure_only`` where nobody has the raw data. All other reports and who answered stay.
    """
    reports = collected.answers[question]
    order = np.random.default_rng(seed).permutation(len(reports))
    return replace(collected, answers=collected.answers.with_part(question, reports.dealt(order)))


def label_propagation(collected: Collected, topology: Graph | None = None) -> Fitted:
    """Iterate F <- a P F + (1 - a) Y with P the GCN operator, from the training labels that the server sees.

    The number of hops and a are chosen by the validation labels that the server sees (noisy ones if they are private).
    """
    labels = collected.seen_labels()
    classes = collected.schema.classes
    smoothing = topology_of(collected.topology if topology is None else topology).gcn(self_loops=True)
    start = torch.zeros(len(labels), classes)
    known = np.flatnonzero(collected.train & (labels >= 0))
    start[known, labels[known]] = 1.0
    held_out = collected.validation & (labels >= 0)
    target = torch.from_numpy(labels[held_out])
    best_score, best_scores, best_choice = -1.0, start, {"hops": 0, "weight": 0.0}
    for weight in (0.5, 0.8, 0.95, 1.0):
        scores = start
        for hop in range(1, 33):
            scores = weight * torch.from_numpy(smoothing @ scores.numpy()) + (1 - weight) * start
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
    """Train a perceptron on the reports without the graph; private labels enter through their transition matrix.

    It is trained on respondents. All others are alike to it and get the prediction for the respondents' mean.
    """
    reported = collected.reported()
    features = LazyFeatures.from_affine(reported)
    chosen = collected.answers["features"].users
    labels = torch.from_numpy(collected.seen_labels()[chosen])
    parts = [torch.from_numpy(part[chosen]) & (labels >= 0) for part in (collected.train, collected.validation)]
    classes = collected.schema.classes
    response = collected.label_response
    with seeded(seed):
        model = MLP(features.shape[1], hidden_channels, classes, dropout=0.5)

    def negative_likelihood(model: MLP, part: torch.Tensor) -> torch.Tensor:
        return report_loss(model(features)[part], labels[part], response)

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


def non_private(
    system: LocalSystem,
    graph: Graph,
    bits: Bits,
    *,
    variants: Callable[[LocalSystem], Sequence[LocalSystem]] = LocalSystem.on_raw_data,
    progress: bool = False,
) -> Fitted:
    """Run the system's own pipeline on raw features, labels and edges, which protects nobody.

    Settings that were chosen for noise would make it a poor model of raw data, so that the best of a few variants on
    validation nodes is returned.

    Args:
        graph: The graph, with a split.
        bits: The randomness of the devices that are played.
        variants: Returns what to choose among (default: :meth:`LocalSystem.on_raw_data`).
        progress: Show a bar on a terminal (default False).
    """
    if graph.schema is not None:
        graph = graph.replace(schema=replace(graph.schema, private_edges=False))
    public = system.without_privacy()
    collected = collect_raw(public, graph, bits)
    found = [variant.fit(collected, progress=progress) for variant in variants(public)]
    return max(found, key=lambda each: each.validation_score or 0.0)


def collect_raw(system: LocalSystem, graph: Graph, bits: Bits) -> Collected:
    """Return what a server would hold that simply asked for the features: for comparisons, without a guarantee."""
    collected = system.collect(without_information(graph), bits)
    known = {field.name: getattr(collected, field.name) for field in fields(Collected)}
    return _Raw(**known, raw=_raw_features(graph, collected.reported().shape[1]))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Raw(Collected):
    """Collected without privacy: the estimate is the truth, and there is no guarantee."""

    raw: AffineFeatures

    def reported(self) -> AffineFeatures:
        return self.raw

    def guarantee(self) -> Guarantee | None:
        return None


def _raw_features(graph: Graph, width: int) -> AffineFeatures:
    """The features as they are or, where the mechanism estimates one column a category, one-hot."""
    matrix = sp.csr_array(graph.features)
    if graph.schema is not None and matrix.shape[1] != width:
        counts = [each.count for each in graph.schema.features if isinstance(each, Categories)]
        matrix = _one_hot(matrix.toarray().astype(np.int64), np.array(counts))
    return AffineFeatures(matrix, np.ones(width), np.zeros(width))


def _one_hot(codes: NDArray[np.int64], counts: NDArray[np.int64]) -> sp.csr_array:
    starts = np.concatenate([[0], np.cumsum(counts)])
    users, features = codes.shape
    ones = np.ones(codes.size, dtype=np.float32)
    return sp.csr_array(
        (ones, (starts[:-1] + codes).ravel(), np.arange(users + 1) * features), shape=(users, int(starts[-1]))
    )


def _structure(system: LocalSystem, graph: Graph, seed: int) -> Fitted:
    return structure_only(replace(system, seed=seed), graph, SeededBits(seed))


def _strong_structure(system: LocalSystem, graph: Graph, seed: int) -> Fitted:
    """Train the strong structural model on the graph that the server sees: the public one, or the reported one."""
    from privet.systems.local.structure import Structure

    if isinstance(system, Structure):
        return simulate(system, graph, seed)
    chosen = replace(system, seed=seed)
    collected = chosen.collect(graph)
    return replace(Structure(seed=seed).fit_on(collected, chosen.topology(collected)), guarantee=collected.guarantee())


def _structure_subject(system: LocalSystem) -> LocalSystem:
    """Systems with a public graph share one figure, whatever else they ask."""
    from privet.systems.local.structure import Structure

    if getattr(system, "epsilon_edges", None) is not None:
        return _any_feature_budget(system)
    return Structure(epsilon_labels=system.epsilon_labels)


def _labels(system: LocalSystem, graph: Graph, seed: int) -> Fitted:
    chosen = replace(system, seed=seed)
    collected = chosen.collect(graph)
    return label_propagation(collected, chosen.topology(collected))


def _features(system: LocalSystem, graph: Graph, seed: int) -> Fitted:
    return features_only(replace(system, seed=seed).collect(graph), seed=seed)


def _without_noise(system: System, graph: Graph, seed: int) -> Fitted:
    if isinstance(system, LocalSystem):
        return non_private(replace(system, seed=seed), graph, SeededBits(seed))
    return simulate(system, graph, seed)


def _same_settings(system: LocalSystem, graph: Graph, seed: int) -> Fitted:
    return non_private(replace(system, seed=seed), graph, SeededBits(seed), variants=lambda public: (public,))


def _any_feature_budget(system: LocalSystem) -> LocalSystem:
    """Reports without information are the same noise at every budget, up to its scale."""
    return system if system.epsilon_features is None else replace(system, epsilon_features=1.0)


def _labels_subject(system: LocalSystem) -> LocalSystem:
    """Public labels on a public graph do not depend on the system; reported ones follow its order of draws."""
    from privet.systems.local.structure import Structure

    if system.epsilon_labels is not None:
        return system
    return _any_feature_budget(system) if getattr(system, "epsilon_edges", None) is not None else Structure()


def _without_privacy(system: System) -> System:
    public = system.without_privacy()
    return _any_feature_budget(public) if isinstance(public, LocalSystem) else public


STRUCTURE_ONLY = Control(
    "structure_only",
    "no info",
    "structure only (reports without information)",
    _structure,
    question="the private features",
    subject=_any_feature_budget,
)
STRUCTURE = Control(
    "structure",
    "structure",
    "the structure alone, by a strong model (no private data)",
    _strong_structure,
    question="the private data",
    spares="the private data",
    subject=_structure_subject,
)
LABEL_PROPAGATION = Control(
    "label_propagation",
    "labels",
    "label propagation (no features)",
    _labels,
    question="the private features",
    spares="the features",
    subject=_labels_subject,
)
FEATURES_ONLY = Control("features_only", "no graph", "features without the graph", _features)
NON_PRIVATE = Control(
    "non_private", "raw", "the same pipeline without privacy", _without_noise, subject=_without_privacy
)
SAME_SETTINGS = Control(
    "same_settings",
    "raw, same",
    "the same settings on raw data, without privacy",
    _same_settings,
    subject=_without_privacy,
)
"""For the papers' curves over a setting, such as the number of hops: nothing is chosen again."""
MAJORITY = Control(
    "majority",
    "majority",
    "the most frequent class for everybody",
    lambda system, graph, seed: majority(graph),
    question="the private data",
    subject=lambda system: DataAlone(system.model),
)
