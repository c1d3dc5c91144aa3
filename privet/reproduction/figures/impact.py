"""Change of a graph network's gradient by one node, by the number of its listeners: HeterPoisson's figure 1."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter
from privet.models import GNN, seeded
from privet.reproduction.measures import Measurement
from privet.systems import CentralSystem, HeterPoisson

__all__ = ["measure_impact"]

_EDGE_PROBABILITY = 0.1
_HIDDEN = 16


def measure_impact(kind: str, system: CentralSystem, graph: Graph, seed: int, share: float = 0.5) -> Measurement:
    """Measure |g' - g|, the gradients with and without a new node that ``share`` of the others listen to.

    Steps 1 to 4 of Section 4.1: a random graph with standard normal features and uniform classes, a random network,
    the gradient of the mean loss (over the nodes of the smaller graph). Of ``graph`` only sizes are read.
    """
    if not isinstance(system, HeterPoisson):
        raise InvalidParameter("system", "heterpoisson", system.name)
    if graph.schema is None:
        raise InvalidData("graph given to measure_impact", "with a schema", "none")
    nodes, features, classes = graph.num_nodes, graph.schema.dimension, graph.schema.classes
    generator = np.random.default_rng(seed)
    adjacency = np.zeros((nodes + 1, nodes + 1), dtype=np.float32)  # the new node comes last
    upper = np.triu(generator.random((nodes, nodes)) < _EDGE_PROBABILITY, 1)
    adjacency[:-1, :-1] = upper | upper.T
    x = torch.from_numpy(generator.standard_normal((nodes + 1, features)).astype(np.float32))
    labels = torch.from_numpy(generator.integers(classes, size=nodes + 1))
    listeners = generator.permutation(nodes)[: round(share * nodes)]
    with seeded(seed):
        network = GNN(features, _HIDDEN, classes, backbone=system.backbone, num_layers=2)
    without = _gradient(network, adjacency[:-1, :-1], x[:-1], labels[:-1], nodes)
    adjacency[listeners, -1] = 1.0
    return {"test": float(torch.linalg.vector_norm(_gradient(network, adjacency, x, labels, nodes) - without))}


def _gradient(
    network: GNN, adjacency: np.ndarray[tuple[int, int], np.dtype[np.float32]], x: torch.Tensor, labels: torch.Tensor,
    nodes: int,
) -> torch.Tensor:  # fmt: skip
    operator = network.operator(sp.csr_array(adjacency))
    loss = torch.nn.functional.cross_entropy(network(x, operator), labels, reduction="sum") / nodes
    return torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(network.parameters()))])
