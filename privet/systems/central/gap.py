"""GAP (Sajadmanesh et al. 2023): one noisy aggregation, then DP-SGD on its rows, priced soundly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import nn

from privet.graph.subgraphs import poisson_sample
from privet.mechanisms import Bits
from privet.models.private_training import Batch
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes.noisy_aggregation import NoisyAggregation
from privet.systems.central._base import CentralSystem, predicted
from privet.systems.central._training_view import TrainingView, beside_aggregates, unit_sums

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
        self.require_counts("max_degree")

    def batches(self, view: TrainingView, bits: Bits) -> Callable[[], Batch]:
        """Aggregate once with noise; examples are own features beside the aggregate."""
        members = np.flatnonzero(view.members)
        place = np.cumsum(view.members) - 1
        exact = unit_sums(view.features, view.graph.adjacency, view.members, self.max_degree)
        aggregate = exact.with_noise(self.release_noise(view.num_nodes), bits, noise=self.noise)

        def batch() -> Batch:
            nodes = poisson_sample(members, self.rate(view.num_nodes), bits)
            return beside_aggregates(view.features[nodes], [aggregate[place[nodes]]]), view.labels[nodes]

        return batch

    def input_width(self, features: int) -> int:
        """Return the width of own features beside the aggregate."""
        return 2 * features

    def infer(self, network: nn.Sequential, view: TrainingView, bits: Bits) -> NDArray[np.float32]:
        """Predict with the aggregate over unprotected neighbours, which needs no noise."""
        aggregate = unit_sums(view.features, view.among_unprotected(), view.unprotected_nodes, self.max_degree)
        return predicted(network, beside_aggregates(view.features[view.unprotected_nodes], [aggregate.exact()]))
