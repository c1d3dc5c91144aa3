"""RGNN (Bhaila, Huang, Wu, Wu; 2024): features, labels and cluster proportions reconstructed by frequency estimation.

Algorithm 1: every device sends randomised response on a sample of its categorical features, and on its label. The
server estimates the frequencies of values around each node (features, Algorithm 2), of classes around each labelled
node (labels, Algorithm 3) and of classes in each METIS cluster (label proportions), and trains a GNN on the three.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count, cycle
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor

from privet.data import Categories
from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.estimation.frequencies import (
    cross_fitted_shares,
    estimated_shares,
    reconstructed_features,
    reconstructed_labels,
)
from privet.estimation.labels import propagated_reports, report_loss
from privet.estimation.proportions import LabelProportions
from privet.estimation.resistant import bounded_influence, scaled_rows
from privet.graph import Operator, gcn_operator, mean_operator, partition
from privet.graph.csr import to_scipy
from privet.mechanisms import RandomizedResponse, SampledResponse
from privet.models import GNN, NetworkSettings, Propagation, accuracy, check_backbone, seeded, train
from privet.systems.base import LocalSystem
from privet.systems.collected import Collected
from privet.systems.fitted import Fitted

__all__ = ["RGNN"]

Fill: TypeAlias = Literal["uniform", "none"]
_FOLDS = 5


@dataclass(frozen=True, kw_only=True)
class RGNN(NetworkSettings, LocalSystem):
    """Reconstruct features and labels, then train a GNN on cross-entropy and on the label proportions of clusters.

    :meth:`as_published` is the paper's Algorithm 1: ``fill="uniform"``, one-hot targets, and neither ``standardise``
    nor ``input_label_hops``.

    Attributes:
        sample: m, the number of features that a device answers, each with :attr:`epsilon_per_feature`.
        fill: "none" reports these answers only, "uniform" fills the others with random ones.
        hops: K_x, the number of steps over which features are averaged.
        label_hops: K_y, the number of steps over which labels are averaged.
        input_label_hops: Above 0 the network also sees label reports propagated over so many hops; a fold of training
            nodes never sees its own reports while it is fitted.
        soft_labels: True to fit estimated shares of classes instead of the winning class.
        standardise: True to scale reconstructed features to mean 0 and deviation 1.
        clusters: The number of METIS clusters.
        alpha: The weight of the clusters' label proportions in the loss.
        backbone: The graph layers, by the name of a registered backbone.
        max_grad_norm: The bound on the norm of a step's gradient.
        keep_best: True to keep the epoch under which validation labels are most likely instead of the last one.
        validation_reports: True to train on the validation nodes' labels too.
    """

    name: ClassVar[str] = "rgnn"
    smoothing: ClassVar[str | None] = "hops"
    defences: ClassVar[tuple[str, ...]] = ("screen", "bound")
    search_space: ClassVar[dict[str, list[Any]]] = {
        "hops": [4, 8, 16, 32],
        "label_hops": [2, 4, 8, 16],
        "input_label_hops": [0, 4, 16, 32],
        "clusters": [16, 32, 64, 128],
        "alpha": [0.1, 1.0, 10.0],
        "dropout": [0.25, 0.5, 0.75],
        "weight_decay": [0.001, 0.003, 0.01],
        "validation_reports": [False],  # what is trained on cannot choose
    }
    sample: int = 10
    fill: Fill = "none"
    hops: int = 16
    label_hops: int = 2
    input_label_hops: int = 8
    soft_labels: bool = True
    standardise: bool = True
    clusters: int = 64
    alpha: float = 1.0
    backbone: str = "sage"
    dropout: float = 0.5
    weight_decay: float = 0.003
    max_grad_norm: float = 5.0
    max_epochs: int = 100
    patience: int | None = None
    keep_best: bool = False
    validation_reports: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_backbone(self.backbone)
        self._check_least(sample=1, hops=0, label_hops=0, input_label_hops=0, clusters=1)
        self._check_positive("max_grad_norm")
        if not 0 <= self.alpha < float("inf"):
            raise InvalidParameter("alpha", "a finite number of at least 0", self.alpha)
        if self.keep_best and self.validation_reports:
            raise InvalidParameter("keep_best", "False where validation reports are trained on", True)

    @property
    def epsilon_per_feature(self) -> float:
        """The paper's eps_x: the budget of one sampled feature."""
        return self.epsilon_features / self.sample

    def feature_mechanism(self, population: Population) -> SampledResponse:
        """GRR-FS with a true budget of ``epsilon_features``; all of a schema's features if it has fewer to sample."""
        population = Population.of(population)
        if not all(isinstance(feature, Categories) for feature in population.schema.features):
            raise InvalidData(
                "RGNN needs categorical features, and this schema declares intervals. Declare categories, or turn 0/1 "
                "columns into two categories each with 'group_columns', one column a group."
            )
        sample = min(self.sample, population.dimension)
        return SampledResponse.declare(population, epsilon=self.epsilon_features, sample=sample, fill=self.fill)

    @classmethod
    def preset_condition(cls, settings: Mapping[str, Any]) -> str | None:
        """Distinguish very noisy labels, which call for other settings."""
        budget = settings.get("epsilon_labels")
        return "noisy_labels" if budget is not None and budget <= 1 else None

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Algorithm 1 from line 3 on: cluster, reconstruct, train."""
        collected, mean = self.defended(collected), mean_operator(collected.topology, self_loops=True)
        categories, estimate = collected.schema.categories, collected.estimate()
        if "bound" in self.defence:
            estimate = scaled_rows(estimate, bounded_influence(to_scipy(mean.matrix), self.hops))
        features = reconstructed_features(estimate, categories, mean, self.hops)
        labels = _Labels.of(collected, train_on_validation=self.validation_reports)
        x, folds = self._inputs(features, labels, collected)
        targets = self._targets(labels, mean)
        bags = self._proportions(labels, collected)
        with seeded(self.seed):
            network = GNN(
                x.shape[1],
                self.hidden_channels,
                labels.classes,
                backbone=self.backbone,
                num_layers=self.num_layers,
                activation="relu",
                dropout=self.dropout,
            )
        operator = network.operator(collected.topology)
        turns = cycle(folds)

        def loss(network: GNN) -> Tensor:
            seen, nodes = next(turns)
            likelihood: Tensor = network(seen, operator).log_softmax(1)
            fit = -(targets[nodes] * likelihood[nodes]).sum(1).mean()
            return fit if bags is None else fit + self.alpha * bags.loss(likelihood.exp())

        result = train(
            network,
            loss,
            self._score(labels, x, operator),
            self.training(self.seed, "min", progress=progress, max_grad_norm=self.max_grad_norm),
        )
        with torch.no_grad():
            logits, embedding = network(x, operator), network.embed(x, operator)
        held = labels.validation
        return self.fitted(
            collected,
            logits.softmax(1).numpy(),
            embedding=embedding.numpy() if isinstance(embedding, Tensor) else None,
            weights={k: v.numpy() for k, v in network.state_dict().items() if v.is_floating_point()},
            best_epoch=result.best_epoch,
            validation_score=accuracy(logits[held], labels.seen[held]) if len(held) else None,
        )

    def _inputs(
        self, features: Tensor, labels: _Labels, collected: Collected
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """Return the network's input for predictions, and the input while each fold of training nodes is fitted."""
        x = _standardised(features, features) if self.standardise else features
        if self.input_label_hops == 0:
            return x, [(x, labels.fitted)]
        operator = gcn_operator(collected.topology, self_loops=True)
        whole, folds = cross_fitted_shares(
            labels.visible, labels.classes, operator, self.input_label_hops, folds=_FOLDS, seed=self.seed
        )
        inputs = [(torch.cat([x, _standardised(shares, whole)], dim=1), nodes) for shares, nodes in folds]
        return torch.cat([x, _standardised(whole, whole)], dim=1), inputs

    def _targets(self, labels: _Labels, mean: Operator) -> Tensor:
        """Algorithm 3; public labels are what they are and need no reconstruction."""
        hops = 0 if labels.response is None else self.label_hops
        propagated = propagated_reports(labels.visible, labels.classes, mean, hops)
        if labels.response is None or not self.soft_labels:
            return reconstructed_labels(propagated)
        return estimated_shares(propagated, labels.response)

    def _proportions(self, labels: _Labels, collected: Collected) -> LabelProportions | None:
        if self.alpha == 0:
            return None
        clusters = partition(collected.topology, min(self.clusters, collected.num_nodes), seed=self.seed)
        return LabelProportions.estimate(clusters, labels.visible.numpy(), labels.classes, labels.response)

    def _score(self, labels: _Labels, x: Tensor, operator: Propagation) -> Callable[[GNN], float | Tensor]:
        """The negative log-likelihood of validation reports, or ever smaller numbers to keep the last epoch."""
        if not self.keep_best:
            epochs = count()
            return lambda network: -next(epochs)
        if not len(labels.validation):
            raise InvalidData("RGNN found no validation node to choose the best epoch by. Use keep_best=False.")
        return lambda network: labels.validation_loss(network(x, operator))


@dataclass(frozen=True, eq=False)
class _Labels:
    """The classes that the server sees (-1: none), the nodes to fit and those to choose by.

    ``visible`` is ``seen`` without the validation nodes, unless they are fitted too.
    """

    seen: Tensor
    visible: Tensor
    fitted: Tensor
    validation: Tensor
    classes: int
    response: RandomizedResponse | None

    @classmethod
    def of(cls, collected: Collected, *, train_on_validation: bool) -> _Labels:
        seen = collected.seen_labels()
        fit = (collected.train | collected.validation) if train_on_validation else collected.train
        visible = np.where(fit, seen, -1)
        fitted = np.flatnonzero(visible >= 0)
        if not len(fitted):
            raise InvalidData("RGNN found no training node whose class is known. Give the graph labels.")
        held = np.flatnonzero(collected.validation & (seen >= 0))
        arrays = (seen, visible, fitted, held)
        known = dict(zip(("seen", "visible", "fitted", "validation"), map(torch.from_numpy, arrays), strict=True))
        return cls(**known, classes=collected.schema.classes, response=collected.label_response)

    def validation_loss(self, logits: Tensor) -> Tensor:
        """-log (P T)[report], mean over validation nodes: the forward-corrected likelihood."""
        return report_loss(logits[self.validation], self.seen[self.validation], self.response)


def _standardised(x: Tensor, reference: Tensor) -> Tensor:
    """(x - mean) / deviation by the columns of ``reference``; a constant column is only moved."""
    deviation = reference.std(0, correction=0)
    return (x - reference.mean(0)) / torch.where(deviation > 0, deviation, 1.0)
