"""Our own system: a private perceptron that never sees an edge, smoothed over edges that nobody asked to protect.

DP-SGD on the training nodes' own features and labels needs neither public degrees nor a bound on them: a node is in
its own example and no other. Predictions are then propagated along the edges among validation and test nodes, which
is post-processing of the model with data that the guarantee does not cover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch import nn

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.graph.subgraphs import poisson_sample
from privet.mechanisms import Bits
from privet.models.private_training import Batch
from privet.systems.central._base import CentralSystem, predicted
from privet.systems.central._training_view import HeldGraph, dense_rows, standardised
from privet.systems.fitted import Fitted

__all__ = ["PrivateMLP", "SmoothedMLP", "smoothed"]


@dataclass(frozen=True, kw_only=True)
class PrivateMLP(CentralSystem):
    """DP-SGD on an MLP without the graph: the control that every private GNN has to beat."""

    name: ClassVar[str] = "private-mlp"
    search_space: ClassVar[dict[str, list[Any]]] = {"learning_rate": [0.005, 0.01, 0.02], "num_layers": [1, 2]}

    @property
    def adjacency_words(self) -> str:
        """No degree needs to be public: no edge is read."""
        return "add or remove one training node with its features, label and edges"

    def fit(self, graph: Graph, *, progress: bool = False) -> Fitted:
        """Poisson-sampled DP-SGD over the training nodes' rows."""
        held, bits = HeldGraph.of(graph, type(self).__name__), self.bits()
        candidates = np.flatnonzero(held.members)
        network = self.network(held.features.shape[1], held.classes)

        def batch() -> Batch:
            nodes = poisson_sample(candidates, self.rate(held.num_nodes), bits)
            return standardised(dense_rows(held.features[nodes])), held.labels[nodes]

        self.descend(network, batch, held.num_nodes, bits, progress=progress)
        return self.released(network, held, self.infer(network, held, bits))

    def infer(self, network: nn.Sequential, held: HeldGraph, bits: Bits) -> NDArray[np.float32]:
        """From each open node's own features."""
        return predicted(network, standardised(dense_rows(held.features[held.open_nodes])))


@dataclass(frozen=True, kw_only=True)
class SmoothedMLP(PrivateMLP):
    """The private perceptron with its predictions smoothed ``hops`` times with ``weight`` on the neighbours' mean."""

    name: ClassVar[str] = "smoothed-mlp"
    weight: float = 0.5
    hops: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.weight <= 1:
            raise InvalidParameter("weight", "SmoothedMLP", "from 0 to 1", self.weight)
        if self.hops < 0:
            raise InvalidParameter("hops", "SmoothedMLP", "an integer of at least 0", self.hops)

    def infer(self, network: nn.Sequential, held: HeldGraph, bits: Bits) -> NDArray[np.float32]:
        """The perceptron's predictions, smoothed over the edges among open nodes."""
        probabilities = super().infer(network, held, bits)
        nodes = np.flatnonzero(held.open_nodes)
        return smoothed(probabilities, sp.csr_array(held.among_open()[nodes][:, nodes]), self.weight, self.hops)


def smoothed(
    probabilities: NDArray[np.float32], adjacency: sp.csr_array, weight: float, hops: int
) -> NDArray[np.float32]:
    """Z <- (1 - w) P + w mean of the neighbours' Z, from Z = P; a node without neighbours keeps its P.

    >>> pair = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> smoothed(np.array([[1.0, 0.0], [0.5, 0.5]], dtype=np.float32), pair, 0.5, 1).tolist()
    [[0.75, 0.25], [0.75, 0.25]]
    """
    degrees = np.diff(adjacency.indptr)
    mean = sp.diags_array(1.0 / np.maximum(degrees, 1), format="csr") @ adjacency.astype(bool).astype(np.float64)
    alone = (degrees == 0)[:, None]
    current = probabilities.astype(np.float64)
    for _ in range(hops):
        current = (1 - weight) * probabilities + weight * np.where(alone, probabilities, mean @ current)
    return np.asarray(current, dtype=np.float32)
