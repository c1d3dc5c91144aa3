"""LPGNN (Sajadmanesh and Gatica-Perez, CCS 2021; with private labels, the 2022 version): locally private GNN.

Algorithm 3: every device sends multi-bit features, the server rectifies them, averages the noise away over K hops
(KProp, Algorithm 2) and trains a graph neural network behind. If labels are private too, their reports are denoised by
propagation and the loss is corrected through the transition matrix of randomised response.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, Literal, TypeAlias, cast

import numpy as np
import torch
from torch import Tensor, nn

from privet.data import Graph
from privet.data.population import Population
from privet.errors import InvalidParameter
from privet.estimation.labels import (
    MajorityLabels,
    PosteriorLabels,
    Supervision,
    class_posterior,
    majority_label,
    propagated_reports,
)
from privet.estimation.resistant import bounded_influence, scaled_rows
from privet.graph import LazyFeatures, Operator, gcn_operator, kprop, mean_operator
from privet.graph.csr import to_scipy
from privet.mechanisms import AnalyticGaussian, Laplace, Mechanism, MixedResponse, MultiBit
from privet.models import (
    GNN,
    Dropout,
    NetworkSettings,
    Propagation,
    TrainingResult,
    accuracy,
    check_backbone,
    seeded,
    shared,
    train,
)
from privet.systems.collected import Collected
from privet.systems.fitted import Fitted
from privet.systems.local._lpgnn_projected import fit_projected
from privet.systems.local._projected import ProjectedSystem

__all__ = ["LPGNN", "KPropNetwork"]

FeatureMechanism: TypeAlias = Literal["multi-bit", "one-bit", "laplace", "analytic-gaussian", "mixed-response"]
Aggregator: TypeAlias = Literal["gcn", "mean"]
LabelDenoising: TypeAlias = Literal["majority", "posterior"]


@dataclass(frozen=True, kw_only=True)
class LPGNN(NetworkSettings, ProjectedSystem):
    """KProp, then the layers of a backbone; the network of least loss on validation nodes is kept.

    A network that agrees with private training labels more than the truth would is never kept.

    Attributes:
        mechanism: The randomiser of the features: "multi-bit" (the paper's), "one-bit", "laplace",
            "analytic-gaussian", or "mixed-response" for a mixed questionnaire.
        sample: The number of features in a report; None for the mechanism's best choice.
        delta: The delta of the analytic Gaussian mechanism; others have none.
        hops: K, the number of propagation steps before the network.
        aggregator: The average over neighbours: "gcn" or "mean".
        self_loops: True to count a node among its own neighbours in KProp.
        backbone: The graph layers behind KProp, by the name of a registered backbone; not used with a projection.
        batch_norm: True to normalise the output of the first layer.
        networks: The number of networks, with other initial weights, whose probabilities are averaged.
        label_denoising: With private labels: "majority" (published) fits training nodes to the winning class of the
            propagated reports through the transition matrix, "posterior" fits all nodes to the class posterior.
        label_hops: The number of steps over which private labels are propagated.
        label_evidence: The number of reports that a neighbourhood counts for in the posterior.
        validation_reports: True to propagate the validation nodes' reports too; nothing is then held out to choose by,
            and the last of ``max_epochs`` networks is kept.
    """

    name: ClassVar[str] = "lpgnn"
    least_layers: ClassVar[int] = 2
    smoothing: ClassVar[str | None] = "hops"
    defences: ClassVar[tuple[str, ...]] = ("screen", "bound")
    search_space: ClassVar[dict[str, list[Any]]] = {
        "hops": [2, 4, 8, 16, 32],
        "self_loops": [False, True],
        "learning_rate": [0.001, 0.003, 0.01, 0.03],
        "weight_decay": [0.0, 0.001, 0.01, 0.1],
        "dropout": [0.0, 0.25, 0.5, 0.75],
    }
    mechanism: FeatureMechanism = "multi-bit"
    sample: int | None = None
    delta: float = 1e-5
    hops: int = 8
    aggregator: Aggregator = "gcn"
    self_loops: bool = False
    backbone: str = "gcn"
    batch_norm: bool = True
    networks: int = 1
    label_denoising: LabelDenoising = "posterior"
    label_hops: int = 8
    label_evidence: float = 100.0
    validation_reports: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_backbone(self.backbone)
        self._check_least(hops=0, label_hops=0, networks=1)
        self._check_positive("label_evidence")
        if self.projection is not None and self.epsilon_labels is not None and self.label_denoising == "majority":
            expected = "posterior with a projection: the majority's loss propagates the network's output at every step"
            raise InvalidParameter("label_denoising", expected, self.label_denoising)

    def feature_mechanism(self, population: Population) -> Mechanism:
        """Return Algorithm 1's multi-bit mechanism, one that the paper compares it with, or ours for mixed answers."""
        budget: dict[str, Any] = {"epsilon": self.epsilon_features, "sample": self.sample}
        match self.mechanism:
            case "multi-bit":
                return MultiBit.declare(population, **budget)
            case "one-bit":
                return MultiBit.declare(population, **budget | {"sample": population.dimension})
            case "laplace":
                return Laplace.declare(population, **budget)
            case "analytic-gaussian":
                return AnalyticGaussian.declare(population, **budget, delta=self.delta)
            case "mixed-response":
                return MixedResponse.declare(population, **budget)

    @classmethod
    def preset_condition(cls, settings: Mapping[str, Any]) -> str | None:
        """Distinguish private labels and a projection, which call for other settings."""
        if settings.get("epsilon_labels") is not None:
            return "private_labels"
        return None if settings.get("projection") is None else "projected"

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Algorithm 3 from line 5 on: rectify, propagate, train."""
        collected, projection = self.defended(collected), self.projected(collected)
        if projection is not None:
            return fit_projected(self, collected, projection, progress)
        aggregation = self.aggregation(collected.topology)
        estimate = collected.estimate()
        if "bound" in self.defence:
            estimate = scaled_rows(estimate, bounded_influence(to_scipy(aggregation.matrix), self.hops))
        x = kprop(LazyFeatures.from_affine(estimate), aggregation, self.hops)
        x = x.planned(self.hidden_channels, self.max_epochs)
        labels = self._supervision(collected)
        members = [self._train(x, collected, labels, seed, progress) for seed in self.seeds()]
        operator = members[0][0].operator(collected.topology)
        with torch.no_grad():
            probabilities = torch.stack([network(x, operator).softmax(1) for network, _ in members]).mean(0)
            embedding = torch.cat([network.embed(x) for network, _ in members], dim=1)
        states = {f"{i}.{k}": v for i, (network, _) in enumerate(members) for k, v in network.state_dict().items()}
        return self.fitted(
            collected,
            probabilities.numpy(),
            embedding=embedding.numpy(),
            weights={name: value.numpy() for name, value in states.items() if value.is_floating_point()},
            best_epoch=max(result.best_epoch for _, result in members),
            validation_score=accuracy(probabilities[labels.validation], labels.seen[labels.validation]),
        )

    def _train(
        self, x: LazyFeatures, collected: Collected, labels: Supervision, seed: int | None, progress: bool
    ) -> tuple[KPropNetwork, TrainingResult]:
        """The loop of Algorithm 3, for one network."""
        with seeded(seed):
            network = KPropNetwork(
                x.shape[1],
                self.hidden_channels,
                collected.schema.classes,
                backbone=self.backbone,
                num_layers=self.num_layers,
                dropout=self.dropout,
                batch_norm=self.batch_norm,
            )
        operator = network.operator(collected.topology)
        nothing_held_out = collected.label_response is not None and self.validation_reports
        epochs = count()

        def score(model: KPropNetwork) -> float:
            loss = float(labels.validation_loss(model(x, operator)))
            return float(-next(epochs)) if nothing_held_out and math.isfinite(loss) else loss

        result = train(
            network, lambda model: labels.loss(model(x, operator)), score, self.training(seed, "min", progress=progress)
        )
        return network, result

    def seeds(self) -> list[int | None]:
        """Return one seed a network, the first of them the system's own."""
        others = np.random.SeedSequence(self.seed).generate_state(self.networks - 1)
        return [self.seed, *(int(other) for other in others)]

    def aggregation(self, graph: Graph) -> Operator:
        """Return the average over neighbours that KProp applies."""
        make = gcn_operator if self.aggregator == "gcn" else mean_operator
        return make(graph, self_loops=self.self_loops)

    def _supervision(self, collected: Collected) -> Supervision:
        seen, fit, choose = map(torch.from_numpy, collected.supervised("LPGNN"))
        response = collected.label_response
        if response is None:
            return Supervision(seen, fit, choose)
        reports = seen if self.validation_reports else seen.index_fill(0, choose, -1)
        operator = gcn_operator(collected.topology, self_loops=False)
        propagated = propagated_reports(reports, response.classes, operator, self.label_hops)
        if self.label_denoising == "majority":
            majority = majority_label(propagated, seen)
            return MajorityLabels(seen, fit, choose, response, operator, self.label_hops, majority)
        posterior = class_posterior(propagated, response.epsilon, self.label_evidence)
        return PosteriorLabels(seen, fit, choose, response, posterior)


class KPropNetwork(nn.Module):
    """Algorithm 2's UPDATE on features that were propagated already, then a GNN: SELU(norm(X W + b)), layers.

    ``x`` may be lazy: A^K X W is then computed as A^K (X W).
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        backbone: str = "gcn",
        num_layers: int = 2,
        dropout: float = 0.0,
        batch_norm: bool = True,
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(in_channels, hidden_channels)))
        self.bias = nn.Parameter(torch.zeros(hidden_channels))
        self.norm = nn.BatchNorm1d(hidden_channels) if batch_norm else nn.Identity()
        self.activation = nn.SELU()
        self.dropout = Dropout(dropout)
        self.layers = GNN(
            hidden_channels,
            hidden_channels,
            out_channels,
            backbone=backbone,
            num_layers=num_layers - 1,
            dropout=dropout,
        )

    def operator(self, graph: Graph) -> Propagation:
        """Return the operator of the layers behind KProp; make it once for each graph."""
        return self.layers.operator(graph)

    def forward(self, x: LazyFeatures, operator: Propagation) -> Tensor:
        return cast(Tensor, self.layers(self.embed(x), operator))

    def embed(self, x: LazyFeatures) -> Tensor:
        """The first layer's output."""
        return cast(Tensor, self.dropout(self.activation(self.norm(shared(self._update, x)))))

    def _update(self, x: LazyFeatures) -> Tensor:
        return x @ self.weight + self.bias
