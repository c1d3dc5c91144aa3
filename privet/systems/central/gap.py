"""GAP (Sajadmanesh et al. 2023): one noisy aggregation, then DP-SGD on its rows, priced soundly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import nn

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.graph.subgraphs import poisson_sample
from privet.mechanisms import Bits
from privet.models.private_training import Batch
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes._base import is_count
from privet.privacy.accounting.processes.noisy_aggregation import NoisyAggregation
from privet.systems.central._base import CentralSystem, predicted
from privet.systems.central._training_view import TrainingView, dense_rows, standardised_dense, unit_sums
from privet.systems.fitted import Fitted

__all__ = ["GAP"]


@dataclass(frozen=True, kw_only=True)
class GAP(CentralSystem):
    """One noisy aggregation x_i / |x_i| + sum_j x_j / |x_j| of every training node, then DP-SGD on its rows.

    Both releases have the same ``noise_multiplier``, the first relative to its true sensitivity.

    Args:
        max_degree: The bound on neighbours and on listeners, kept by a public choice of edges (default 5).
    """

    name: ClassVar[str] = "gap"
    search_space: ClassVar[dict[str, list[Any]]] = {"max_degree": [2, 5, 10]}
    process_kind: ClassVar[type[Process]] = NoisyAggregation
    baseline: ClassVar[str | None] = "GAP with noise for its true sensitivity"
    baseline_short: ClassVar[str] = "GAP"
    max_degree: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_count(self.max_degree):
            raise InvalidParameter("max_degree", "an integer of at least 1", self.max_degree)

    def process(self, num_nodes: int) -> NoisyAggregation:
        """Return the aggregation and the steps after it."""
        rate, steps = self.rate(num_nodes), self.steps(num_nodes)
        return NoisyAggregation(rate=rate, steps=steps, num_nodes=num_nodes, max_degree=self.max_degree)

    def fit(self, graph: Graph, *, progress: bool = False) -> Fitted:
        """Aggregate once with noise, then train on own features beside the aggregate."""
        view, bits = self.view(graph), self.bits()
        noise = self.noise_multiplier_for(view.num_nodes) * self.process(view.num_nodes).sensitivity
        members = np.flatnonzero(view.members)
        place = np.cumsum(view.members) - 1
        exact = unit_sums(view.features, view.graph.adjacency, view.members, self.max_degree)
        aggregate = exact.with_noise(noise, bits, noise=self.noise)
        network = self.network(view.features.shape[1], view.classes)

        def batch() -> Batch:
            nodes = poisson_sample(members, self.rate(view.num_nodes), bits)
            return _beside(view.features[nodes], aggregate[place[nodes]]), view.labels[nodes]

        self.descend(network, batch, view.num_nodes, bits, progress=progress)
        return self.released(network, view, self.infer(network, view, bits))

    def input_width(self, features: int) -> int:
        """Return the width of own features beside the aggregate."""
        return 2 * features

    def infer(self, network: nn.Sequential, view: TrainingView, bits: Bits) -> NDArray[np.float32]:
        """Predict with the aggregate over unprotected neighbours, which needs no noise."""
        aggregate = unit_sums(view.features, view.among_unprotected(), view.unprotected_nodes, self.max_degree)
        return predicted(network, _beside(view.features[view.unprotected_nodes], aggregate.exact()))


def _beside(own: Any, aggregate: NDArray[np.floating]) -> NDArray[np.float32]:
    parts = dense_rows(own), aggregate.astype(np.float32)
    return np.concatenate([standardised_dense(part) for part in parts], axis=1)
