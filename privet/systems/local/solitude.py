"""Solitude (Lin, Li and Wang, TIFS 2022): the server knows neither the features nor the graph.

Every device sends multi-bit features and a randomised neighbour list. The server joins the lists to a noisy graph,
smooths the features over it (eq. 11), and trains a graph neural network on a calibrated graph, whose predictions are
smoothed in turn (eq. 12). The published calibration trains the edges' weights with the network (eq. 14); ours weighs
each reported edge by the probability that it is true.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.data import Graph
from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.estimation.lists.beliefs import Beliefs, propagate_beliefs
from privet.estimation.lists.closure import ReportedPairs, Symmetrise, closure_log_odds, estimated_degrees, noisy_graph
from privet.estimation.priors.adam import Adam
from privet.estimation.resistant import bounded_lists
from privet.graph import LazyFeatures, gcn_operator, kprop
from privet.mechanisms import AdjacencyResponse, DegreeResponse, MultiBit
from privet.models import GNN, NetworkSettings, TrainingResult, accuracy, seeded, train
from privet.release import Answer, LocalRelease, Question
from privet.release.asks.length import Length
from privet.release.asks.neighbours import Neighbours
from privet.systems.base import C, LocalSystem
from privet.systems.collected import Collected
from privet.systems.controls import FEATURES_ONLY, MAJORITY, NON_PRIVATE, STRUCTURE, STRUCTURE_ONLY, Control, simulate
from privet.systems.fitted import Fitted
from privet.systems.local._solitude_network import SolitudeNetwork

__all__ = ["Calibration", "Solitude", "count_noise"]

Calibration: TypeAlias = Literal["bayesian", "none", "published"]
SolitudeBackbone: TypeAlias = Literal["gcn", "sage"]
Degrees: TypeAlias = Literal["counted", "ignored", "reported"]

_NOISELESS = 25.0  # at this budget one bit in e^25 is changed


@dataclass(frozen=True, kw_only=True)
class Solitude(NetworkSettings, LocalSystem):
    """A network on a graph that the server never saw; labels of training and validation nodes are public.

    Attributes:
        epsilon_edges: The budget of one bit of a neighbour list; None if the topology is public.
        one_sided: True if only the endpoint of smaller id reports a pair.
        symmetrise: The graph that the reports are taken for: "posterior", "union", "intersection" or "directed".
        calibration: "published" trains the weights of reported edges, "bayesian" replaces them by posterior
            probabilities, "none" leaves them.
        degrees: The use of degrees in the posterior: "ignored", "counted" in the noisy graph, or "reported" for
            ``degree_share`` of the edge budget.
        degree_share: The share of the edge budget that the length of the list gets.
        average_beliefs: True to average the network's probabilities with the class beliefs behind the posterior.
        fidelity: lambda_1 of the published calibration.
        sparsity: lambda_2 of the published calibration.
        adjacency_learning_rate: The learning rate of the edges' weights.
        feature_hops: The number of steps over which features are smoothed.
        label_hops: The number of steps over which predictions are smoothed.
        backbone: The graph layers, "gcn" or "sage".
        batch_norm: True to normalise between layers.
        max_entries: The most expected flips; more are refused before anything is allocated.
    """

    name: ClassVar[str] = "solitude"
    smoothing: ClassVar[str | None] = "feature_hops"
    defences: ClassVar[tuple[str, ...]] = ("screen", "agree", "bound")
    search_space: ClassVar[dict[str, list[Any]]] = {
        "feature_hops": [0, 2, 4, 8],
        "label_hops": [0, 2, 4, 8],
        "learning_rate": [0.001, 0.01, 0.1],
        "weight_decay": [0.0, 0.0001, 0.001, 0.01],
        "dropout": [0.0, 0.25, 0.5],
    }
    epsilon_edges: float | None = 8.0
    one_sided: bool = True
    symmetrise: Symmetrise = "posterior"
    calibration: Calibration = "bayesian"
    degrees: Degrees = "ignored"
    degree_share: float = 0.1
    average_beliefs: bool = True
    fidelity: float = 1e-5
    sparsity: float = 1e-5
    adjacency_learning_rate: float = 0.01
    feature_hops: int = 8
    label_hops: int = 0
    backbone: SolitudeBackbone = "gcn"
    batch_norm: bool = True
    dropout: float = 0.5
    max_entries: int = 1 << 23

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_least(feature_hops=0, label_hops=0)
        if not 0 <= self.degree_share < 1:
            raise InvalidParameter("degree_share", "at least 0 and below 1", self.degree_share)
        for name in ("fidelity", "sparsity"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InvalidParameter(name, "a finite number of at least 0", getattr(self, name))
        if self.epsilon_labels is not None:
            raise InvalidParameter("epsilon_labels", "None: its labels are public", self.epsilon_labels)
        if self.one_sided and self.symmetrise == "directed":
            expected = "another than directed where each pair is reported once"
            raise InvalidParameter("symmetrise", expected, self.symmetrise)
        self._check_positive("adjacency_learning_rate", "max_entries")
        if self.degrees == "reported":
            self._check_positive("degree_share")
        if self.one_sided and "agree" in self.defence:
            raise InvalidParameter("defence", "without agree where one end reports a pair", "agree")

    def feature_mechanism(self, population: Population) -> MultiBit:
        """Return the multi-bit mechanism."""
        return MultiBit.declare(population, epsilon=self.epsilon_features)

    def questions(self, population: Population) -> tuple[Question, ...]:
        """Ask for the features and, where the topology is private, for the list and perhaps its length."""
        features = super().questions(population)
        if self.epsilon_edges is None:
            return features
        length = self.degree_share * self.epsilon_edges if self.degrees == "reported" else 0.0
        lists = AdjacencyResponse.declare(population, epsilon=self.epsilon_edges - length, one_sided=self.one_sided)
        lists.check_size(self.max_entries)
        asked = [*features, Question(Neighbours(), lists)]
        if length:
            counts = DegreeResponse.declare(population, epsilon=length, one_sided=self.one_sided)
            asked.append(Question(Length(), counts))
        return tuple(asked)

    @classmethod
    def decided_by(cls, release: LocalRelease) -> dict[str, Any]:
        """Return the release's budgets; that of the list's length is a share of the edges'."""
        decided = super().decided_by(release)
        if release.asks(Length.name):
            asked = (release.question(name).mechanism for name in (Neighbours.name, Length.name))
            lists, length = (mechanism.guarantee().epsilon for mechanism in asked)
            shared = {"epsilon_edges": lists + length, "degree_share": length / (lists + length)}
            decided |= {**shared, "degrees": "reported"}
        return decided

    @classmethod
    def preset_condition(cls, settings: Mapping[str, Any]) -> str | None:
        """Distinguish the published mode, in which both ends of a pair report it."""
        return None if settings.get("one_sided", True) else "two_sided"

    def controls(self) -> tuple[Control, ...]:
        """Compare with the paper's two baselines on the noisy graph, and with doing without edges or features."""

        def plain(system: Solitude, graph: Graph, seed: int) -> Fitted:
            return simulate(replace(system, calibration="none", feature_hops=0, label_hops=0), graph, seed)

        def smoothed(system: Solitude, graph: Graph, seed: int) -> Fitted:
            return simulate(replace(system, calibration="none", label_hops=0), graph, seed)

        return (
            Control("noisy_graph", "plain GNN", "the backbone alone on the noisy graph", plain),
            Control("lpgnn_noisy", "LPGNN", "LPGNN on the noisy graph, as the paper adapts it", smoothed),
            replace(FEATURES_ONLY, question="the reported edges"),
            STRUCTURE_ONLY,
            replace(
                STRUCTURE,
                title="the reported structure alone, by a strong model",
                question="the private features",
                spares="the private features",
            ),
            MAJORITY,
            NON_PRIVATE,
        )

    def without_privacy(self) -> Self:
        """Return the same system with lists that nothing is changed in, so that beliefs follow true edges."""
        calibration = "none" if self.calibration == "published" else self.calibration  # true edges need no learning
        exact: dict[str, Any] = {"epsilon_edges": _NOISELESS, "degrees": "ignored", "calibration": calibration}
        return replace(super().without_privacy(), **exact)

    def check(self, graph: Graph) -> None:
        """Refuse what every system refuses, and directed lists unless the graph is taken as it was sent."""
        super().check(graph)
        if graph.directed and self.epsilon_edges is not None and self.symmetrise != "directed":
            raise InvalidData(
                "Solitude joins the reports of both ends of a pair, and this graph is directed. Use "
                "symmetrise='directed' and one_sided=False, as in Solitude.as_published()."
            )

    def topology(self, collected: Collected) -> Graph:
        """Return the noisy graph that the reported lists make; the public one where edges are public."""
        pairs = _pairs(collected)
        if pairs is None:
            return collected.topology
        rule = "intersection" if "agree" in self.defence else self.symmetrise
        noisy = noisy_graph(pairs, collected.answers[Neighbours.name].reports, rule)
        return Graph(noisy, directed=rule == "directed")

    def defended(self, collected: C) -> C:
        """Leave out reports that honest devices hardly ever send, and thin out long lists, where that is asked for."""
        screened = super().defended(collected)
        lists = screened.answer(Neighbours.name)
        if lists is None or "bound" not in self.defence:
            return screened
        bounded = Answer(lists.users, bounded_lists(lists.reports, self.seed or 0))
        return replace(screened, answers=screened.answers.with_part(Neighbours.name, bounded))

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Smooth the features, calibrate the graph, train: only reports and public labels are read."""
        collected = self.defended(collected)
        labels, fit, held = map(torch.from_numpy, collected.supervised("Solitude"))
        pairs = _pairs(collected)
        adjacency = self.topology(collected).adjacency
        beliefs = None if pairs is None or self.calibration != "bayesian" else self._beliefs(collected, pairs)
        if pairs is not None and beliefs is not None:
            adjacency = _reweighted(adjacency, pairs.adjacency(beliefs.edges))
        rectified = LazyFeatures.from_affine(collected.estimate(adjacency))
        x = kprop(rectified, gcn_operator(adjacency, self_loops=False), self.feature_hops)
        x = x.planned(self.hidden_channels, self.max_epochs)
        with seeded(self.seed):
            network = SolitudeNetwork(
                GNN(
                    x.shape[1],
                    self.hidden_channels,
                    collected.schema.classes,
                    backbone=self.backbone,
                    num_layers=self.num_layers,
                    dropout=self.dropout,
                    batch_norm=self.batch_norm,
                ),
                adjacency,
                self.label_hops,
                trained=self.calibration == "published" and pairs is not None,
            )
        result = self._train(network, x, labels, fit, held, progress)
        with torch.no_grad():
            probabilities = network(x).exp()
            probabilities /= probabilities.sum(1, keepdim=True)
        if beliefs is not None and self.average_beliefs:
            probabilities = (probabilities + torch.from_numpy(beliefs.log_classes).float().softmax(1)) / 2
        return self.fitted(
            collected,
            probabilities.numpy(),
            weights={
                name: value.numpy() for name, value in network.gnn.state_dict().items() if value.is_floating_point()
            },
            best_epoch=result.best_epoch,
            validation_score=accuracy(probabilities[held], labels[held]),
            facts={} if pairs is None else {"reported_pairs": len(pairs), "expected_noise": pairs.expected_noise},
        )

    def _beliefs(self, collected: Collected, pairs: ReportedPairs) -> Beliefs:
        """Which reported pairs are edges, and which class is whose, given the reports and the training labels."""
        known = () if self.degrees == "ignored" else estimated_degrees(pairs, *_reported_lengths(collected))
        probabilities = pairs.posterior(closure_log_odds(pairs, *known))
        if "agree" in self.defence:
            probabilities = probabilities * pairs.unanimous
        labels = np.where(collected.train, collected.seen_labels(), -1)
        return propagate_beliefs(pairs, probabilities, labels, collected.schema.classes)

    def _train(
        self, network: SolitudeNetwork, x: LazyFeatures, labels: Tensor, fit: Tensor, held: Tensor, progress: bool
    ) -> TrainingResult:
        """Adam on the network's weights and, where the graph is trained, on the graph's in turn (eq. 14)."""

        def loss_on(nodes: Tensor, model: SolitudeNetwork) -> Tensor:
            return nn.functional.nll_loss(model(x)[nodes], labels[nodes])

        settings = self.training(self.seed, "min", progress=progress)
        graph = network.graph
        if graph is None:
            return train(network, partial(loss_on, fit), partial(loss_on, held), settings)

        def in_turn(model: SolitudeNetwork) -> Iterator[Tensor]:
            graph.requires_grad_(False)
            model.gnn.requires_grad_(True)
            yield loss_on(fit, model)
            graph.requires_grad_(True)
            model.gnn.requires_grad_(False)
            yield loss_on(fit, model) + graph.penalty(self.fidelity, self.sparsity)

        groups = [
            {"params": list(network.gnn.parameters())},
            {"params": list(graph.parameters()), "lr": self.adjacency_learning_rate, "weight_decay": 0.0},
        ]
        projected = partial(Adam, after=graph.project)
        return train(
            network, in_turn, partial(loss_on, held), replace(settings, optimizer=projected), parameters=groups
        )


def count_noise(graph: Graph, collected: Collected) -> int:
    """Count the reported pairs that are no edges: for a simulation, which has the graph that the server lacks."""
    pairs = _pairs(collected)
    if pairs is None:
        return 0
    reported = pairs.adjacency(np.ones(len(pairs)))
    return int(reported.nnz - reported.multiply(graph.adjacency).nnz) // 2


def _pairs(collected: Collected) -> ReportedPairs | None:
    lists = collected.answer(Neighbours.name)
    if lists is None:
        return None
    return ReportedPairs.from_reports(lists.reports, collected.mechanism(Neighbours.name), some=True)


def _reported_lengths(collected: Collected) -> tuple[NDArray[np.float64] | None, float]:
    """Return the lengths of lists that devices sent, and their variance."""
    lengths, counts = collected.answer(Length.name), collected.mechanism(Length.name)
    if lengths is None:
        return None, 0.0
    estimated = counts.estimate(lengths.reports).dense()[:, 0]
    return estimated, float(counts.variance(np.zeros(1, dtype=np.int64))[0, 0])


def _reweighted(support: sp.csr_array, weights: sp.csr_array) -> sp.csr_array:
    """The weights at the places of the support."""
    ones = sp.csr_array((np.ones_like(support.data), support.indices, support.indptr), shape=support.shape)
    return sp.csr_array(ones.multiply(weights))
