"""What HeterPoisson's figures and its table 3 measure beside accuracy."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from privet.auditing.central.canary import CanaryGame
from privet.auditing.central.lower_bound import advantage, epsilon_lower_bound, largest_advantage
from privet.data import Graph, public_projection
from privet.errors import InvalidData, InvalidParameter
from privet.graph.subgraphs import SubgraphSampler
from privet.mechanisms import SeededBits
from privet.mechanisms.analytic_gaussian import analytic_sigma
from privet.models import GNN, MLP, TrainingSettings, seeded, train
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes.overlapping_poisson import OverlappingPoisson
from privet.systems import GAP, CentralSystem, HeterPoisson
from privet.systems.central._training_view import TrainingView, unit_sums
from privet.systems.controls import Control, rival, simulate
from privet.systems.fitted import Fitted

__all__ = [
    "BOUND",
    "EMBEDDING",
    "OVERLAP",
    "OverlappingHeterPoisson",
    "embedding_bound",
    "embeddings",
    "fit_embeddings",
    "macro_precision",
    "measure_canaries",
    "measure_impact",
]

_SML_DIMENSION = 32
_EDGE_PROBABILITY = 0.1
_HIDDEN = 16
_EPOCHS = 100


@dataclass(frozen=True, kw_only=True)
class OverlappingHeterPoisson(HeterPoisson):
    """HeterPoisson without lines 15 to 22 of its Algorithm 2: centres stay in the sub-graphs of others (figure 6).

    It has an accountant of its own, and needs more noise.
    """

    process_kind: ClassVar[type[Process]] = OverlappingPoisson

    def sampler(self, view: TrainingView) -> SubgraphSampler:
        """Return the sampler of Algorithm 2 without its last loop."""
        return replace(super().sampler(view), keep_central=True)


def measure_impact(kind: str, system: CentralSystem, graph: Graph, seed: int, share: float = 0.5) -> float:
    """Measure |g' - g|, the gradients with and without a new node that ``share`` of the others listen to.

    Steps 1 to 4 of Section 4.1: a random graph with standard normal features and uniform classes, a random network,
    the gradient of the mean loss (over the nodes of the smaller graph). Of ``graph`` only sizes are read.
    """
    if not isinstance(system, HeterPoisson):
        raise InvalidParameter("system", "heterpoisson", system.name)
    if graph.schema is None:
        raise InvalidData("The impact of a node is measured for a graph with a schema.")
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
    return float(torch.linalg.vector_norm(_gradient(network, adjacency, x, labels, nodes) - without))


def _gradient(
    network: GNN, adjacency: np.ndarray[tuple[int, int], np.dtype[np.float32]], x: torch.Tensor, labels: torch.Tensor,
    nodes: int,
) -> torch.Tensor:  # fmt: skip
    operator = network.operator(sp.csr_array(adjacency))
    loss = torch.nn.functional.cross_entropy(network(x, operator), labels, reduction="sum") / nodes
    return torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(network.parameters()))])


def measure_canaries(
    kind: str, system: CentralSystem, graph: Graph, seed: int, what: str = "audit", runs: int = 20_000
) -> float:
    """Measure an epsilon that an audit finds necessary, or the per cent of right guesses of a membership attack.

    Args:
        kind: "private" is Gaussian noise for the system's epsilon; "sml" the paper's noise for the same epsilon by its
            claim, seen whole; "sml_projection" the same, seen along the canary only as in the paper's own audit;
            "claim" what that epsilon allows.
        system: HeterPoisson with a target epsilon.
        graph: A graph of which only the number of nodes is read.
        seed: The seed of the games.
        what: "audit" or "attack" (default "audit").
        runs: The number of training runs in each world (default 20,000).
    """
    if not isinstance(system, HeterPoisson) or system.target_epsilon is None:
        raise InvalidParameter("system", "heterpoisson with a target epsilon", system.name)
    release = system.release(graph)
    if kind == "claim":
        most = largest_advantage(system.target_epsilon, release.delta)
        return 50 * (1 + most) if what == "attack" else system.target_epsilon
    if kind == "private":
        game = CanaryGame(release.process, release.noise_multiplier, dimension=2)
    else:
        noise_multiplier = system.published_noise_multiplier(system.target_epsilon, graph.num_nodes)
        game = CanaryGame(release.process, noise_multiplier, "sml", _SML_DIMENSION)
    worlds = _played(game, runs, seed)["projection" if kind == "sml_projection" else "full"]
    return 50 * (1 + advantage(*worlds)) if what == "attack" else epsilon_lower_bound(*worlds, release.delta)


@lru_cache(maxsize=64)  # audit and attack look at the same games
def _played(game: CanaryGame, runs: int, seed: int) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    return game.play(runs, SeededBits(seed))


def macro_precision(predicted: NDArray[np.int64], labels: NDArray[np.int64], classes: int) -> float:
    """Return the mean over classes of the share of right predictions; 0 for a class that is never predicted.

    >>> macro_precision(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=3)
    0.5
    """
    made = np.bincount(predicted, minlength=classes)
    right = np.bincount(predicted[predicted == labels], minlength=classes)
    return float((right / np.maximum(made, 1)).mean())


def embedding_bound(epsilon: float, delta: float, classes: int) -> float:
    """Return Theorem 3's bound (e^eps + delta (C - 1)) / (C - 1 + e^eps) of a class's precision.

    It holds where each node's embedding is released privately and the classifier predicts the class as often as it
    occurs.

    >>> round(embedding_bound(2.0, 1e-5, 10), 3)
    0.451
    """
    odds = math.exp(epsilon)
    return (odds + delta * (classes - 1)) / (classes - 1 + odds)


def embeddings(system: GAP, graph: Graph, bits: SeededBits) -> NDArray[np.float32]:
    """Return x_i / |x_i| + sum_j x_j / |x_j| over at most D neighbours, plus Gaussian noise, for every node.

    Formal guarantee: node i's row is (epsilon, delta)-private with respect to everything about node i, its neighbours
    included: two sums of D + 1 unit vectors are at most 2 (D + 1) apart.
    """
    if graph.features is None:
        raise InvalidData("Embeddings are made of features, and this graph has none.")
    if system.target_epsilon is None:
        raise InvalidParameter("Private embeddings need a system with a target epsilon.")
    everybody = np.ones(graph.num_nodes, dtype=np.bool_)
    if 0 < system.axes < graph.features.shape[1]:  # nobody is unprotected here, so that no axes are public
        graph = public_projection(graph, system.axes)
    exact = unit_sums(graph.features, graph.adjacency, everybody, system.max_degree)
    apart = 2 * (system.max_degree + 1)
    sigma = apart * analytic_sigma(system.target_epsilon, system.delta_for(graph.num_nodes))
    return exact.with_noise(sigma, bits).astype(np.float32)


def fit_embeddings(system: GAP, graph: Graph, seed: int) -> Fitted:
    """Predict classes with a perceptron that is trained on the embeddings without privacy: Theorem 3 bounds it."""
    if graph.labels is None or graph.schema is None or graph.split is None:
        raise InvalidData("A classifier of embeddings needs a graph with labels, a schema and a split.")
    x = torch.from_numpy(embeddings(system, graph, SeededBits(seed)))
    x = x / x.std()
    fitted = torch.from_numpy(np.flatnonzero(graph.split.train))
    labels = torch.from_numpy(graph.labels)
    with seeded(seed):
        network = MLP(x.shape[1], system.hidden_channels, graph.schema.classes, dropout=0.5)
    last = itertools.count()
    settings = TrainingSettings(max_epochs=_EPOCHS, learning_rate=0.01, direction="max", patience=None, seed=seed)

    def loss(model: MLP) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(model(x)[fitted], labels[fitted])

    train(network, loss, lambda model: float(next(last)), settings)
    with torch.no_grad():
        return Fitted("private embeddings", None, network(x).softmax(dim=1).numpy())


def _bound(system: CentralSystem, graph: Graph, seed: int) -> float:
    if graph.schema is None or system.target_epsilon is None:
        raise InvalidParameter("Theorem 3's bound is for a system with a target epsilon.")
    return embedding_bound(system.target_epsilon, system.delta_for(graph.num_nodes), graph.schema.classes)


OVERLAP = Control(
    "overlap",
    "kept",
    "centres kept in the sub-graphs of others, with the noise that this needs",
    simulate,
    subject=lambda system: OverlappingHeterPoisson(**system.settings()),
)
EMBEDDING = Control(
    "private_embedding",
    "embedding",
    "any classifier on private embeddings of the nodes themselves",
    fit_embeddings,
    subject=rival(GAP).subject,
)
BOUND = Control("embedding_bound", "bound", "Theorem 3's bound for private embeddings", _bound)
