"""ProGAP (Sajadmanesh and Gatica-Perez 2024): stages of private training and noisy aggregation, priced soundly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.graph.subgraphs import poisson_sample
from privet.mechanisms import Bits
from privet.models import seeded
from privet.models.clipping import perceptron
from privet.models.private_training import Batch
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes.progressive_aggregation import ProgressiveAggregation
from privet.privacy.accounting.program import MOST_DRAWS
from privet.systems.central._base import CentralSystem, predicted
from privet.systems.central._training_view import TrainingView, beside_aggregates, unit_sums
from privet.systems.fitted import Fitted

__all__ = ["ProGAP"]

Rows = NDArray[np.float32]

_BLOCK = 1_024  # nodes that go through a network at once


@dataclass(frozen=True, kw_only=True)
class ProGAP(CentralSystem):
    """Train a perceptron, aggregate its embeddings with noise, train again with the aggregate beside the features.

    Stage s reads own features and s aggregates, and starts from the weights of the stage before. Its embeddings, the
    values of its last hidden layer, are scaled to norm 1, summed over neighbours and perturbed for the next stage.
    Every release has the same ``noise_multiplier``, relative to its true sensitivity. At least two layers are used.

    Args:
        max_degree: The bound on neighbours and on listeners, kept by a public choice of edges (default 5).
        depth: The number of aggregations; there is one stage more (default 1).
    """

    name: ClassVar[str] = "progap"
    search_space: ClassVar[dict[str, list[Any]]] = {"max_degree": [2, 5, 10], "depth": [1, 2]}
    process_kind: ClassVar[type[Process]] = ProgressiveAggregation
    baseline: ClassVar[str | None] = "ProGAP with noise for its true sensitivity"
    baseline_short: ClassVar[str] = "ProGAP"
    max_degree: int = 5
    depth: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_counts("max_degree", "depth")

    def network(self, features: int, classes: int) -> nn.Sequential:
        """Return the perceptrons of all stages, one after another; they are used one at a time."""
        hidden, layers = self.hidden_channels, max(2, self.num_layers)
        with seeded(self.seed):
            stages = [perceptron(features + n * hidden, hidden, classes, layers) for n in range(self.depth + 1)]
        return nn.Sequential(*(layer for stage in stages for layer in stage))

    def fit(self, graph: Graph, *, progress: bool = False) -> Fitted:
        """Go through the stages, each on own features beside the aggregates so far."""
        view, bits = self.view(graph), self.bits()
        noise = self.release_noise(view.num_nodes)
        members = np.flatnonzero(view.members)
        network = self.network(view.features.shape[1], view.classes)
        draws = self.steps(view.num_nodes) * sum(parameter.numel() for parameter in network.parameters())
        if noise and max(draws, self.depth * view.num_nodes * self.hidden_channels) > MOST_DRAWS:
            raise InvalidParameter("depth", "so small that at most 2^32 noise values are drawn", self.depth)
        aggregates: list[Rows] = []
        for stage in range(self.depth + 1):
            if stage:
                embeddings = self._embeddings(network, stage - 1, view, aggregates, view.members)
                exact = unit_sums(embeddings, view.graph.adjacency, view.members, self.max_degree)
                aggregates.append(_spread(exact.with_noise(noise, bits, noise=self.noise), view.members))
                _continue(self._stage(network, stage - 1), self._stage(network, stage))

            def batch() -> Batch:
                nodes = poisson_sample(members, self.rate(view.num_nodes), bits)
                return beside_aggregates(view.features[nodes], [each[nodes] for each in aggregates]), view.labels[nodes]

            self.descend(self._stage(network, stage), batch, view.num_nodes, bits, progress=progress)
        return self.released(network, view, self.infer(network, view, bits))

    def infer(self, network: nn.Sequential, view: TrainingView, bits: Bits) -> NDArray[np.float32]:
        """Predict with aggregates over unprotected neighbours, which need no noise."""
        aggregates: list[Rows] = []
        nodes, around = view.unprotected_nodes, view.among_unprotected()
        for stage in range(self.depth):
            embeddings = self._embeddings(network, stage, view, aggregates, nodes)
            aggregates.append(_spread(unit_sums(embeddings, around, nodes, self.max_degree).exact(), nodes))
        rows = beside_aggregates(view.features[nodes], [each[nodes] for each in aggregates])
        return predicted(self._stage(network, self.depth), rows)

    def _stage(self, network: nn.Sequential, stage: int) -> nn.Sequential:
        """Return the perceptron of one stage; it shares its weights with the whole."""
        size = 2 * max(2, self.num_layers) - 1
        return nn.Sequential(*list(network)[stage * size : (stage + 1) * size])

    def _embeddings(
        self, network: nn.Sequential, stage: int, view: TrainingView, aggregates: list[Rows], nodes: NDArray[np.bool_]
    ) -> Rows:
        """Return the last hidden layer of all N nodes, zero but for some ``nodes``.

        Every node has its place in a block whoever takes part, so that nobody's numbers depend on others.
        """
        encoder, found = self._stage(network, stage)[:-1], []
        for start in range(0, view.num_nodes, _BLOCK):
            block = slice(start, start + _BLOCK)
            rows = beside_aggregates(view.features[block], [each[block] for each in aggregates])
            with torch.no_grad():
                hidden = encoder(torch.from_numpy(np.where(nodes[block, None], rows, np.float32(0)))).numpy()
            found.append(np.where(nodes[block, None], hidden, np.float32(0)))
        return np.concatenate(found)


def _spread(rows: NDArray[np.float64], nodes: NDArray[np.bool_]) -> Rows:
    """Put the rows of some nodes in their places among all."""
    whole = np.zeros((len(nodes), rows.shape[1]), dtype=np.float32)
    whole[nodes] = rows
    return whole


def _continue(before: nn.Sequential, after: nn.Sequential) -> None:
    """Start a stage from the weights of the one before; the weights of its new columns stay as they are."""
    with torch.no_grad():
        for old, new in zip(before.parameters(), after.parameters(), strict=True):
            new[tuple(slice(size) for size in old.shape)] = old
