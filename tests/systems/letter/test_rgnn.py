"""RGNN as published against its Algorithms 1 to 3, written on dense matrices from the paper's equations."""

from __future__ import annotations

from math import exp

import numpy as np
import torch
from torch import Tensor, nn

from privet import RGNN
from privet.data import Categories, Graph, Schema
from privet.graph import partition
from privet.mechanisms import SeededBits
from privet.models import GNN, seeded

SAMPLED, HOPS, LABEL_HOPS, CLUSTERS, EPOCHS, HIDDEN, ALPHA = 3, 2, 1, 4, 5, 4, 10.0
EPS_X, EPS_Y = 1.0, 2.0


def response(epsilon: float, size: int) -> tuple[float, float]:
    """Return p and q of generalised randomised response."""
    return exp(epsilon) / (exp(epsilon) + size - 1), 1 / (exp(epsilon) + size - 1)


def estimated(observed: Tensor, size: int) -> Tensor:
    """Equation (4), pi = P^-1 lambda, kept possible: the paper's KL needs shares above 0."""
    p, q = response(EPS_Y, size)
    transition = torch.full((size, size), q) + (p - q) * torch.eye(size)
    shares = (observed @ torch.linalg.inv(transition)).clamp_min(1e-3)
    return shares / shares.sum(1, keepdim=True)


def algorithm_1(
    codes: Tensor, reported: Tensor, graph: Graph, clusters: np.ndarray, first: dict[str, Tensor]
) -> Tensor:
    """Reconstruct features, labels and proportions; train GraphSAGE on cross-entropy and KL for all epochs."""
    adjacency = torch.from_numpy(graph.adjacency.toarray().astype(np.float32))
    around = adjacency + torch.eye(len(adjacency))
    mean, beside = around / around.sum(1, keepdim=True), adjacency / adjacency.sum(1, keepdim=True).clamp_min(1)
    d, columns = codes.shape[1], []
    for i, feature in enumerate(graph.schema.features):  # Algorithm 2
        size = feature.count
        shares = nn.functional.one_hot(codes[:, i], size).float()
        for _ in range(HOPS):
            shares = mean @ shares
        p, q = response(EPS_X, size)
        pi = d * shares / (SAMPLED * (p - q)) + (SAMPLED - d - SAMPLED * size * q) / (SAMPLED * size * (p - q))
        columns.append(pi[:, 1:] if size == 2 else nn.functional.one_hot(pi.argmax(1), size).float())
    x, classes = torch.cat(columns, dim=1), graph.schema.classes
    labelled = reported >= 0
    seen = nn.functional.one_hot(reported.clamp_min(0), classes).float() * labelled[:, None]
    propagated = torch.linalg.matrix_power(mean, LABEL_HOPS) @ seen  # Algorithm 3, masked
    targets = (propagated - propagated.sum(1, keepdim=True) * response(EPS_Y, classes)[1]).argmax(1)
    bags = [torch.from_numpy(clusters == each) & labelled for each in np.unique(clusters)]
    bags = [bag for bag in bags if bag.any()]
    true = estimated(torch.stack([seen[bag].mean(0) for bag in bags]), classes)
    w = {name: nn.Parameter(value.clone()) for name, value in first.items()}
    optimizer = torch.optim.Adam(w.values(), lr=0.01)

    def layer(h: Tensor, i: int) -> Tensor:
        own, others = w[f"layers.{i}.lin_r.weight"], w[f"layers.{i}.lin_l.weight"]
        return beside @ h @ others.T + h @ own.T + w[f"layers.{i}.lin_l.bias"]

    for _ in range(EPOCHS):
        likelihood = layer(torch.relu(layer(x, 0)), 1).log_softmax(1)
        predicted = torch.stack([likelihood[bag].exp().mean(0) for bag in bags])
        divergence = (predicted * (predicted.log() - true.log())).sum(1).mean()
        loss = nn.functional.nll_loss(likelihood[labelled], targets[labelled]) + ALPHA * divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return layer(torch.relu(layer(x, 0)), 1).softmax(1).detach()


def test_it_is_algorithm_1(lettered: Graph) -> None:
    features = lettered.features.toarray() > 0.5
    features = np.column_stack([features, features[:, 0].astype(int) + features[:, 1]]).astype(np.float32)
    schema = Schema((Categories(2),) * lettered.features.shape[1] + (Categories(3),), classes=3)
    graph = lettered.replace(features=features, schema=schema)
    changes = {"sample": SAMPLED, "hops": HOPS, "label_hops": LABEL_HOPS, "clusters": CLUSTERS, "alpha": ALPHA}
    sizes = {"hidden_channels": HIDDEN, "max_epochs": EPOCHS, "dropout": 0.0, "max_grad_norm": float("inf")}
    budgets = {"epsilon_features": SAMPLED * EPS_X, "epsilon_labels": EPS_Y}
    system = RGNN.as_published(**changes, **sizes, **budgets, seed=0)
    collected = system.collect(graph, SeededBits(0))
    codes = torch.from_numpy(collected.answers["features"].reports.symbols.astype(np.int64))
    reported = torch.from_numpy(np.where(collected.train, collected.seen_labels(), -1))
    with seeded(0):
        first = GNN(len(schema.features) + 2, HIDDEN, 3, backbone="sage", num_layers=2).state_dict()
    clusters = partition(collected.topology, CLUSTERS, seed=0)
    expected = algorithm_1(codes, reported, graph, clusters, first)
    np.testing.assert_allclose(system.fit(collected).predict_proba(), expected.numpy(), atol=2e-5)
