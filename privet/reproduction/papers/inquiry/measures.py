"""What Inquiry's tables measure beside its accuracy: the worth of an answer, and networks that see everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.data import Graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.estimation.answers.answer_models import KnownAccuracy
from privet.estimation.answers.answer_stability import false_classes_to_turn
from privet.graph import LazyFeatures
from privet.mechanisms import AffineFeatures, OfferedResponse
from privet.models import GNN, TrainingSettings, accuracy, seeded, train
from privet.release.asks.person import Person
from privet.release.log_shares import published_weights
from privet.systems import Inquiry, LocalSystem
from privet.systems.controls import Control
from privet.systems.fitted import Fitted
from privet.systems.local.structure import Structure

__all__ = [
    "PRIORS",
    "RAW_GRAPH",
    "RAW_NETWORK",
    "STANDING",
    "answer_worth",
    "measure_stability",
    "measure_worth",
    "raw_network",
]

PRIORS: Mapping[str, tuple[float, ...]] = {"flat": (1 / 8,) * 8, "sharp": (0.45, 0.4, *(0.025,) * 6)}
"""What the server believes of a person's class before it asks: nothing, or that it is one of two."""

STANDING: Mapping[str, tuple[str, str]] = {
    "two": ("stand 2", "answers that stand against two false published classes of friends"),
    "three": ("stand 3", "answers that stand against three"),
}
"""The columns beside the share of answers that stand against one false published class of a friend."""

_BACKBONES = ("gcn", "sage")
_SETTINGS: dict[str, Any] = {"max_epochs": 200, "learning_rate": 0.01, "weight_decay": 5e-4, "patience": 40}


def measure_worth(
    kind: str, system: LocalSystem, graph: Graph, seed: int, prior: str = "flat", options: int = 2
) -> float:
    """Return the bits of an answer at the system's budget; graph and seed are not used.

    Args:
        kind: Not used: there is one figure.
        system: Inquiry, with a budget of the feature question.
        graph: Not used.
        seed: Not used.
        prior: A name in ``PRIORS`` (default "flat").
        options: The number of likeliest classes that are offered (default 2).
    """
    if not isinstance(system, Inquiry):
        raise InvalidParameter("system", "inquiry", system.name)
    return answer_worth(np.array(PRIORS[prior]), options, system.epsilon_features or 0.0)


def answer_worth(prior: NDArray[np.float64], options: int, epsilon: float, accuracy: float = 0.9) -> float:
    """Return the mutual information, in bits, of a person's class and the randomised answer.

    Args:
        prior: The probability of each class before the question, the largest first.
        options: The number of likeliest classes that are offered.
        epsilon: The privacy budget of the answer.
        accuracy: The probability that the true answer is the class, where the class is offered (default 0.9).
    """
    response = OfferedResponse(epsilon=epsilon, most=len(prior))
    keep, flip = response.keep[options - 2], response.flip[options - 2]
    truth = KnownAccuracy(accuracy, len(prior)).confusion(tuple(range(options)))
    told = flip + (keep - flip) * truth  # P(randomised answer | class)
    answers = prior @ told
    return float(prior @ (told * np.log2(told)).sum(axis=1) - answers @ np.log2(answers))


def measure_stability(kind: str, system: LocalSystem, graph: Graph, seed: int) -> float:
    """Return the share of unlabelled people whose true answer stands against so many false classes of friends.

    Args:
        kind: One of :data:`STANDING`, or "private" for one false class.
        system: Inquiry, with a budget of the person question in one wave.
        graph: People with features, friends and classes.
        seed: The seed of the split and of the simulation.
    """
    if not isinstance(system, Inquiry) or system.epsilon_person is None:
        raise InvalidParameter("system", "inquiry with epsilon_person", system.name)
    people = graph.replace(split=split_nodes(graph, seed=seed))
    collected = replace(system, seed=seed).collect(people)
    ask = cast(Person, collected.release.question(Person.name).ask)
    users = np.intersect1d(collected.answers[Person.name].users, np.flatnonzero(collected.split.test))
    weights = published_weights(sp.csr_array(graph.adjacency[users]), ask.attachment("table"))
    features = None if graph.features is None else sp.csr_array(graph.features)[users]
    false = {"two": 2, "three": 3}.get(kind, 1)
    needed = false_classes_to_turn(ask, features if ask.reads_features else None, weights, users, most=false)
    return float((needed > false).mean())


def raw_network(graph: Graph, seed: int | None) -> Fitted:
    """Train a GCN and a GraphSAGE on raw data, and return the one that is better on validation nodes.

    Args:
        graph: A graph with features, labels, a schema and a split.
        seed: The seed of initial weights and dropout.
    """
    if graph.features is None or graph.labels is None or graph.split is None or graph.schema is None:
        raise InvalidData("A network on raw data needs features, labels, a schema and a split.")
    labels = torch.from_numpy(graph.labels)
    fit, held = (torch.from_numpy(part & (graph.labels >= 0)) for part in (graph.split.train, graph.split.validation))
    rows = sp.csr_array(graph.features).astype(np.float64)
    x = LazyFeatures.from_affine(AffineFeatures(rows, np.ones(rows.shape[1]), np.zeros(rows.shape[1])))
    found = []
    for backbone in _BACKBONES:
        with seeded(seed):
            network = GNN(x.shape[1], 64, graph.schema.classes, backbone=backbone, activation="relu", dropout=0.5)
        operator = network.operator(graph)

        def loss(model: nn.Module, operator: Any = operator) -> Tensor:
            return nn.functional.cross_entropy(model(x, operator)[fit], labels[fit])

        def score(model: nn.Module, operator: Any = operator) -> float:
            return accuracy(model(x, operator)[held], labels[held])

        result = train(network, loss, score, TrainingSettings(**_SETTINGS, seed=seed))
        with torch.no_grad():
            found.append((float(result.best_score), network(x, operator).softmax(dim=1).numpy()))
    best = max(range(len(found)), key=lambda number: found[number][0])
    used = {"backbone": _BACKBONES[best]}
    return Fitted("raw network", None, found[best][1], settings=used, validation_score=found[best][0])


RAW_NETWORK = Control(
    "raw_network",
    "GNN, raw data",
    "a graph network on the raw graph and raw features, without privacy",
    lambda system, graph, seed: raw_network(graph, seed),
    subject=lambda system: Structure(),
)
RAW_GRAPH = Control(
    "raw_graph",
    "raw graph",
    "the structural model on the raw graph, without privacy",
    lambda system, graph, seed: Structure(seed=seed).fit(Structure(seed=seed).collect(graph)),
    subject=lambda system: Structure(),
)
