"""LPGNN as published against Algorithm 3, written step by step on dense matrices from the paper's equations."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from privet import LPGNN
from privet.data import Graph
from privet.mechanisms import SeededBits
from privet.models import seeded
from privet.systems.local.lpgnn import KPropNetwork

HOPS, EPOCHS, HIDDEN = 3, 6, 4


class Algorithm3(nn.Module):
    """KProp as the first layer, then equation (2) with the GCN aggregator; H = Â(...) are dense products."""

    def __init__(self, first: dict[str, Tensor]) -> None:
        super().__init__()
        self.w1, self.b1 = nn.Parameter(first["weight"].clone()), nn.Parameter(first["bias"].clone())
        self.w2 = nn.Parameter(first["layers.layers.0.lin.weight"].clone())
        self.b2 = nn.Parameter(first["layers.layers.0.bias"].clone())
        self.norm = nn.BatchNorm1d(HIDDEN) if "norm.weight" in first else nn.Identity()
        self.load_state_dict({k: first[k] for k in first if k.startswith("norm")}, strict=False)

    def forward(self, h: Tensor, looped: Tensor) -> Tensor:
        h1 = torch.selu(self.norm(h @ self.w1 + self.b1))  # UPDATE of Algorithm 2
        return looped @ (h1 @ self.w2.T) + self.b2


def normalised(adjacency: Tensor) -> Tensor:
    """D^-1/2 A D^-1/2."""
    root = adjacency.sum(1).clamp_min(1e-12).rsqrt() * (adjacency.sum(1) > 0)
    return root[:, None] * adjacency * root[None, :]


def aggregated(symbols: Tensor, epsilon: float, sampled: int, adjacency: Tensor) -> Tensor:
    """Rectify by equation (4) and aggregate K times, without self-loops."""
    d, odds = symbols.shape[1], exp(epsilon / sampled)
    x = d / (2 * sampled) * (odds + 1) / (odds - 1) * symbols + 0.5  # alpha 0, beta 1
    for _ in range(HOPS):
        x = normalised(adjacency) @ x
    return x


def trained(x: Tensor, looped: Tensor, graph: Graph, first: dict[str, Tensor]) -> Tensor:
    """Train on the cross-entropy with Adam and keep the network of the least validation loss."""
    parts = (graph.labels, graph.split.train, graph.split.validation)
    labels, train, held = (torch.from_numpy(each) for each in parts)
    model = Algorithm3(first)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=0.01)
    best, kept = float("inf"), torch.empty(0)
    for epoch in range(EPOCHS + 1):
        with torch.no_grad():
            logits = model.eval()(x, looped)
            loss = float(nn.functional.cross_entropy(logits[held], labels[held]))
        if loss < best:
            best, kept = loss, logits.softmax(1)
        if epoch < EPOCHS:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model.train()(x, looped)[train], labels[train]).backward()
            optimizer.step()
    return kept


@pytest.mark.parametrize("epsilon", [1.0, 5.0])
@pytest.mark.parametrize("batch_norm", [True, False])
def test_it_is_algorithm_3(lettered: Graph, epsilon: float, batch_norm: bool) -> None:
    """Whole training without batch normalisation; with it the network that came out.

    A bias before a batch normalisation has no gradient but rounding errors, which Adam makes as large as any other.
    """
    changes = {"hops": HOPS, "hidden_channels": HIDDEN, "max_epochs": EPOCHS, "batch_norm": batch_norm, "seed": 0}
    system = LPGNN.as_published(epsilon_features=epsilon, **changes)
    collected = system.collect(lettered, SeededBits(0))
    fitted = system.fit(collected)
    symbols = torch.from_numpy(collected.answers["features"].reports.to_sparse().toarray().astype(np.float32))
    adjacency = torch.from_numpy(lettered.adjacency.toarray().astype(np.float32))
    x = aggregated(symbols, epsilon, max(1, int(epsilon / 2.18)), adjacency)
    looped = normalised(adjacency + torch.eye(len(adjacency)))
    if batch_norm:
        own = {name.removeprefix("0."): torch.from_numpy(value) for name, value in fitted.weights.items()}
        with torch.no_grad():
            expected = Algorithm3(own).eval()(x, looped).softmax(1)
    else:
        with seeded(0):
            first = KPropNetwork(x.shape[1], HIDDEN, 3, num_layers=2, batch_norm=False).state_dict()
        expected = trained(x, looped, lettered, first)
    np.testing.assert_allclose(fitted.predict_proba(), expected.numpy(), atol=2e-5)
