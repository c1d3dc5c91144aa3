"""Solitude as published against equations (11) to (14), written on dense matrices."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from privet import Solitude
from privet.data import Graph
from privet.mechanisms import SeededBits
from privet.models import GNN, seeded

HOPS, LABEL_HOPS, EPOCHS, HIDDEN, LAMBDA_1, LAMBDA_2 = 2, 2, 4, 4, 1e-3, 1e-2


def smoother(adjacency: Tensor) -> Tensor:
    """1 / sqrt(|N(i)| |N(j)|) at each edge, of equations (11) and (12)."""
    degrees = adjacency.sum(1)
    root = torch.where(degrees > 0, degrees.clamp_min(1e-12).rsqrt(), 0.0)
    return root[:, None] * adjacency * root[None, :]


def probabilities(x: Tensor, adjacency: Tensor, w: dict[str, Tensor]) -> Tensor:
    """A GCN of two layers with SELU, its predictions smoothed by equation (12) where somebody has neighbours."""
    looped = smoother(adjacency + torch.eye(len(adjacency)))
    h = torch.selu(looped @ x @ w["layers.0.lin.weight"].T + w["layers.0.bias"])
    p = (looped @ h @ w["layers.1.lin.weight"].T + w["layers.1.bias"]).softmax(1)
    for _ in range(LABEL_HOPS):
        smoothed = smoother(adjacency) @ p
        p = torch.where(smoothed.sum(1, keepdim=True) > 0, smoothed, p)
    return p


def trained(x: Tensor, noisy: Tensor, graph: Graph, first: dict[str, Tensor]) -> Tensor:
    """Minimise equation (14) in turn over the weights and the graph, which stays non-negative, with Adam."""
    parts = (graph.labels, graph.split.train, graph.split.validation)
    labels, train, held = (torch.from_numpy(each) for each in parts)
    w = {name: nn.Parameter(value.clone()) for name, value in first.items()}
    calibrated, support = nn.Parameter(noisy.clone()), noisy > 0  # an entry outside would have to be worth lambda_2
    network = torch.optim.Adam(w.values(), lr=0.01, weight_decay=0.01)
    structure = torch.optim.Adam([calibrated], lr=0.01)
    best, kept = float("inf"), torch.empty(0)

    def loss(nodes: Tensor) -> Tensor:
        p = probabilities(x, calibrated * support, w)
        return nn.functional.nll_loss(p.clamp_min(1e-12).log()[nodes], labels[nodes])

    for epoch in range(EPOCHS + 1):
        with torch.no_grad():
            p, value = probabilities(x, calibrated * support, w), float(loss(held))
        if value < best:
            best, kept = value, p / p.sum(1, keepdim=True)
        if epoch < EPOCHS:
            network.zero_grad()
            loss(train).backward()
            network.step()
            structure.zero_grad()
            distance = (calibrated - noisy).square()[support].sum()
            (loss(train) + LAMBDA_1 * distance + LAMBDA_2 * calibrated[support].abs().sum()).backward()
            structure.step()
            with torch.no_grad():
                calibrated.clamp_(min=0)
    return kept


@pytest.mark.parametrize("directed", [False, True])
def test_it_is_equation_14(lettered: Graph, directed: bool) -> None:
    graph = lettered
    if directed:
        one_way = lettered.adjacency.multiply(np.random.default_rng(0).random((90, 90)) < 0.6)
        one_way = sp.csr_array(one_way)
        one_way.eliminate_zeros()
        graph = lettered.replace(adjacency=one_way, directed=True)
    settings = {"feature_hops": HOPS, "label_hops": LABEL_HOPS, "hidden_channels": HIDDEN, "max_epochs": EPOCHS}
    settings |= {"fidelity": LAMBDA_1, "sparsity": LAMBDA_2, "dropout": 0.0, "epsilon_edges": 4.0, "seed": 0}
    system = Solitude.as_published(epsilon_features=1.0, **settings)
    collected = system.collect(graph, SeededBits(0))
    symbols = torch.from_numpy(collected.answers["features"].reports.to_sparse().toarray().astype(np.float32))
    noisy = torch.from_numpy(collected.answers["neighbours"].reports.to_sparse().toarray().astype(np.float32))
    x = symbols.shape[1] / 2 * (exp(1.0) + 1) / (exp(1.0) - 1) * symbols + 0.5
    for _ in range(HOPS):
        x = smoother(noisy) @ x
    with seeded(0):
        first = GNN(x.shape[1], HIDDEN, 3, backbone="gcn", num_layers=2, batch_norm=False).state_dict()
    expected = trained(x, noisy, graph, first)
    np.testing.assert_allclose(system.fit(collected).predict_proba(), expected.numpy(), atol=2e-5)
