"""Accuracy of any classifier on private embeddings of the very nodes that it classifies: Theorem 3 of HeterPoisson.

GAP's aggregation with noise for its true sensitivity, of every node, those to be classified included. The systems of
privet promise nothing to the nodes that they predict, which is why Theorem 3 does not bound them; here it does.
"""

from __future__ import annotations

import itertools

import numpy as np
import torch
from numpy.typing import NDArray

from privet.data import Graph, public_projection, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import SeededBits
from privet.mechanisms.analytic_gaussian import analytic_sigma
from privet.models import MLP, TrainingSettings, seeded, train
from privet.systems import GAP
from privet.systems.central._training_view import unit_sums

__all__ = ["embeddings", "predict_from_embeddings"]

_EPOCHS = 100


def embeddings(system: GAP, graph: Graph, bits: SeededBits) -> NDArray[np.float32]:
    """Return x_i / |x_i| + sum_j x_j / |x_j| over at most D neighbours, plus Gaussian noise, for every node.

    Formal guarantee: node i's row is (epsilon, delta)-private with respect to everything about node i, its neighbours
    included: two sums of D + 1 unit vectors are at most 2 (D + 1) apart.
    """
    if graph.features is None:
        raise InvalidData("graph given to embeddings", "with features", "none")
    if system.target_epsilon is None:
        raise InvalidParameter("system", "one with a target epsilon", system.target_epsilon)
    everybody = np.ones(graph.num_nodes, dtype=np.bool_)
    if 0 < system.axes < graph.features.shape[1]:  # nobody is unprotected here, so that no axes are public
        graph = public_projection(graph, system.axes)
    exact = unit_sums(graph.features, graph.adjacency, everybody, system.max_degree)
    apart = 2 * (system.max_degree + 1)
    sigma = apart * analytic_sigma(system.target_epsilon, system.delta_for(graph.num_nodes))
    return exact.with_noise(sigma, bits).astype(np.float32)


def predict_from_embeddings(system: GAP, graph: Graph, seed: int) -> NDArray[np.int64]:
    """Predict classes with a perceptron that is trained on the embeddings without privacy."""
    if graph.labels is None or graph.schema is None:
        raise InvalidData("graph given to predict_from_embeddings", "with labels and a schema", "none")
    x = torch.from_numpy(embeddings(system, graph, SeededBits(seed)))
    x = x / x.std()
    fitted = torch.from_numpy(np.flatnonzero(split_nodes(graph, 0.8, 0.0, seed=seed).train))
    labels = torch.from_numpy(graph.labels)
    with seeded(seed):
        network = MLP(x.shape[1], system.hidden_channels, graph.schema.classes, dropout=0.5)
    last = itertools.count()
    settings = TrainingSettings(max_epochs=_EPOCHS, learning_rate=0.01, direction="max", patience=None, seed=seed)

    def loss(model: MLP) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(model(x)[fitted], labels[fitted])

    train(network, loss, lambda model: float(next(last)), settings)
    with torch.no_grad():
        return np.asarray(network(x).argmax(1).numpy(), dtype=np.int64)
