"""HeterPoisson (Xiang, Wang, Wang; 2024): node-level private GNNs by heterogeneous Poisson sampling of sub-graphs.

Algorithm 1: in each step every training node is the centre of a sub-graph with probability q; it picks each neighbour
with probability min(1, M / the neighbour's out-degree), and centres are removed where they are peripheral. Gradients
are clipped by sub-graph, summed and perturbed. Only the centre's prediction enters a sub-graph's loss.

Our noise is Gaussian by default, with an accountant that is proven; the paper's is ``noise="sml"``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch import nn

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.graph.subgraphs import SubgraphBatch, SubgraphSampler, few_neighbours
from privet.mechanisms import Bits
from privet.models.private_training import Batch
from privet.privacy.accounting import sml
from privet.systems.central._base import CentralSystem, predicted
from privet.systems.central._training_view import HeldGraph, dense_rows, standardised
from privet.systems.checks import check_choices
from privet.systems.fitted import Fitted

__all__ = ["HeterPoisson"]

Backbone: TypeAlias = Literal["gcn", "gin", "sage"]
Setting: TypeAlias = Literal["inductive", "transductive"]


@dataclass(frozen=True, kw_only=True)
class HeterPoisson(CentralSystem):
    """A perceptron over one aggregated vector a sub-graph, standardised over its own features:

        gin    (1 + lambda) x_u + sum_j x_j                      lambda = ``gin_lambda``, a constant
        sage   x_u + sum_j x_j / n_u                             n_u a public count, see below
        gcn    x_u / d_u + sum_j x_j / sqrt(d_u d_j)             d = public degree in the whole graph + 1

    A neighbour that is absent contributes nothing at all, not even to a denominator: in training n_u = max(1, o_u +
    min(M, d_u - 1 - o_u)) with o_u the number of u's open neighbours. ``multiplier`` is the paper's M. In the
    "transductive" setting sub-graphs also contain the open neighbours of their centre, those of validation and test,
    which need no protection and so no sampling; in the "inductive" one training does not know them. In both, a
    prediction aggregates from at most ``test_neighbours`` open neighbours (None: all) and from no training node.
    """

    name: ClassVar[str] = "heterpoisson"
    search_space: ClassVar[dict[str, list[Any]]] = {
        "multiplier": [0.0, 1.0, 2.0],
        "gin_lambda": [0.0, 1.0, 3.0],
        "learning_rate": [0.005, 0.01, 0.02],
        "test_neighbours": [4, 13],
    }
    multiplier: float = 1.0
    backbone: Backbone = "gin"
    setting: Setting = "transductive"
    gin_lambda: float = 0.0
    test_neighbours: int | None = 13

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choices(self, {"backbone": Backbone, "setting": Setting})
        finite = self.noise_multiplier == 0 or self.multiplier < math.inf
        if not (self.multiplier >= 0 and finite):
            expected = "at least 0, and finite where noise is added"
            raise InvalidParameter("multiplier", "HeterPoisson", expected, self.multiplier)
        if self.test_neighbours is not None and self.test_neighbours < 0:
            raise InvalidParameter("test_neighbours", "HeterPoisson", "None or at least 0", self.test_neighbours)

    @property
    def picks(self) -> float:
        """M."""
        return self.multiplier

    def public_facts(self) -> tuple[str, ...]:
        """Degrees, unless neither the sampler nor the aggregation asks for them."""
        asked = self.multiplier > 0 or self.backbone != "gin"
        return ("each node's degree in the whole graph",) if asked else ()

    def published_epsilon(self, noise_multiplier: float, num_nodes: int, delta: float) -> float | None:
        """The paper's Theorem 2 for its noise of the same standard deviation."""
        return sml.published_epsilon(noise_multiplier / 2, *self._process(num_nodes), delta, num_nodes)

    def published_noise_multiplier(self, target_epsilon: float, num_nodes: int) -> float:
        """The noise that the paper would add for this epsilon: to compare with, not to rely on."""
        process, delta = self._process(num_nodes), self.delta_for(num_nodes)

        def claims_more(sigma: float) -> bool:
            return sml.published_epsilon(sigma, *process, delta, num_nodes) > target_epsilon

        low, high = 0.0, 1.0
        while claims_more(high):
            low, high = high, 2 * high
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if claims_more(middle) else (low, middle)
        return 2 * high

    def fit(self, graph: Graph, *, progress: bool = False) -> Fitted:
        """Algorithm 1, then the private inference of Section 4.4."""
        held, bits = HeldGraph.of(graph, type(self).__name__), self.bits()
        sampler = self.sampler(held)
        network = self.network(held.features.shape[1], held.classes)

        def batch() -> Batch:
            drawn = sampler.draw(bits)
            return self.inputs(drawn, held), held.labels[drawn.central]

        self.descend(network, batch, held.num_nodes, bits, progress=progress)
        return self.released(network, held, self.infer(network, held, bits))

    def infer(self, network: nn.Sequential, held: HeldGraph, bits: Bits) -> NDArray[np.float32]:
        """Class probabilities of the open nodes, of which each aggregates from open nodes only (Section 4.4)."""
        nodes = np.flatnonzero(held.open_nodes)
        around = few_neighbours(held.among_open(), self.test_neighbours, bits)
        seen = SubgraphBatch(nodes, *_entries(around, nodes))
        return predicted(network, self.inputs(seen, held, training=False))

    def sampler(self, held: HeldGraph) -> SubgraphSampler:
        """Algorithms 2 and 3 over the training nodes."""
        visible = held.open_nodes if self.setting == "transductive" else None
        rate = self.rate(held.num_nodes)
        return SubgraphSampler(held.graph.adjacency, held.members, rate, self.multiplier, visible)

    def inputs(self, batch: SubgraphBatch, held: HeldGraph, *, training: bool = True) -> NDArray[np.float32]:
        """One aggregated vector a sub-graph; nothing in it depends on another sub-graph."""
        degrees = held.graph.degrees
        match self.backbone:
            case "gin":
                own, others = np.full(len(batch), 1.0 + self.gin_lambda), np.ones(len(batch.owner))
            case "sage":
                own, others = np.ones(len(batch)), 1.0 / self._counts(batch, held, training)[batch.owner]
            case "gcn":
                root = 1.0 / np.sqrt(degrees + 1.0)
                own, others = root[batch.central] ** 2, root[batch.central][batch.owner] * root[batch.peripheral]
        weights = batch.matrix(own, others, held.num_nodes)
        return standardised(dense_rows(weights @ held.features))

    def _counts(self, batch: SubgraphBatch, held: HeldGraph, training: bool) -> NDArray[np.float64]:
        """SAGE's n_u: how many neighbours count, without looking at which protected ones are there."""
        is_open = held.open_nodes[batch.peripheral]
        counts = np.bincount(batch.owner[is_open], minlength=len(batch)).astype(np.float64)
        if training:
            counts += np.minimum(self.picks, held.graph.degrees[batch.central] - counts)
        return np.maximum(counts, 1.0)


def _entries(adjacency: sp.csr_array, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries of some rows: the position of the row among ``nodes``, and the column."""
    rows = adjacency[nodes]
    owner = np.repeat(np.arange(len(nodes), dtype=np.int64), np.diff(rows.indptr))
    return owner, rows.indices.astype(np.int64)
