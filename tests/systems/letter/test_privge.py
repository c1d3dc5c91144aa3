"""PrivGE as published against its Algorithms 1 to 3 and equation (21), written entry by entry."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet import PrivGE
from privet.data import Graph, split_edges
from privet.mechanisms import SeededBits
from privet.models import MLP, roc_auc, seeded

EPOCHS, HIDDEN, BATCH, ALPHA, R, R_MAX = 3, 5, 16, 0.2, 0.3, 1e-4


def backward_push(x: NDArray[np.float64], adjacency: NDArray[np.float64]) -> NDArray[np.float64]:
    """Algorithm 3, one push at a time; neighbours are divided by their own number of neighbours."""
    degrees = np.maximum(adjacency.sum(1), 1e-300)
    residue, reserve = degrees[:, None] ** -R * x, np.zeros_like(x)
    while (large := np.argwhere(np.abs(residue) > R_MAX)).size:
        for v, j in large:
            value, residue[v, j] = residue[v, j], 0.0
            reserve[v, j] += ALPHA * value
            for u in np.flatnonzero(adjacency[:, v]):
                residue[u, j] += (1 - ALPHA) * value / degrees[u]
    return degrees[:, None] ** R * reserve


def raw(symbols: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """Return x tilde: the reported value on [-1, 1], 0 where a feature was not sampled."""
    return symbols / steps


def embeddings(system: PrivGE, graph: Graph) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Return the reference's and the system's Z of the same reports."""
    collected = system.collect(graph, SeededBits(0))
    symbols = collected.answers["features"].reports.to_sparse().toarray().astype(np.float64)
    x = raw(symbols, collected.mechanism("features").steps)
    return backward_push(x, graph.adjacency.toarray().astype(np.float64)), system.embed(collected).dense().numpy()


def published(**changes: float) -> PrivGE:
    settings = {"alpha": ALPHA, "r": R, "push": R_MAX, "sample": 3, "hidden_channels": HIDDEN, "dropout": 0.0}
    return PrivGE.as_published(epsilon_features=2.0, **settings | {"max_epochs": EPOCHS, "seed": 0} | changes)


def connected(graph: Graph) -> NDArray[np.bool_]:
    return graph.adjacency.sum(axis=1) > 0


def test_the_output_shrinks_by_equation_8(lettered: Graph) -> None:
    d, k, z = 8, 3, exp(2.0 / 3)
    mechanism = published().feature_mechanism(lettered)
    b = (2.0 / 3 * z - z + 1) / (z * (z - 2.0 / 3 - 1))
    assert mechanism.window_ratio == pytest.approx(b)
    assert mechanism.shrinkage == pytest.approx(k / d * b * (z - 1) / (b * z + 1), rel=1e-3)  # b in whole steps


def test_the_embedding_is_algorithm_3(lettered: Graph) -> None:
    """Both stop with residues of at most r_max, in another order of pushes: so they differ by 2 d^r r_max."""
    expected, found = embeddings(published(), lettered)
    bound = 2 * R_MAX * np.maximum(lettered.adjacency.sum(axis=1), 1) ** R
    assert (np.abs(found - expected).max(axis=1)[connected(lettered)] <= bound[connected(lettered)]).all()
    assert np.abs(expected).max() > 100 * bound.max()


def test_nodes_are_classified_by_equation_21(lettered: Graph) -> None:
    """Mini-batch training of a perceptron on Z, the best of the epochs by validation accuracy."""
    system = published(batch_size=BATCH)
    collected = system.collect(lettered, SeededBits(0))
    z = system.embed(collected).dense()
    labels, held = torch.from_numpy(lettered.labels), torch.from_numpy(lettered.split.validation)
    with seeded(0):
        first = MLP(z.shape[1], HIDDEN, 3, num_layers=2, activation="relu", dropout=0.0).state_dict()
    w = [nn.Parameter(value.clone()) for value in first.values()]
    optimizer = torch.optim.Adam(w, lr=0.01, weight_decay=5e-4)
    fitted = torch.from_numpy(np.flatnonzero(lettered.split.train))

    def logits(x: Tensor) -> Tensor:
        return torch.relu(x @ w[0].T + w[1]) @ w[2].T + w[3]

    best, kept = -1.0, torch.empty(0)
    with seeded(0):
        for epoch in range(EPOCHS + 1):
            with torch.no_grad():
                right = float((logits(z)[held].argmax(1) == labels[held]).float().mean())
                if right > best:
                    best, kept = right, logits(z).softmax(1)
            if epoch < EPOCHS:
                for batch in torch.split(fitted[torch.randperm(len(fitted))], BATCH):
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(logits(z[batch]), labels[batch]).backward()
                    optimizer.step()
    np.testing.assert_allclose(system.fit(collected).predict_proba(), kept.numpy(), atol=2e-5)


def test_links_are_hadamard_products_of_the_embeddings(lettered: Graph) -> None:
    """Logistic regression on z_u * z_v for the training edges and as many non-edges, all edges in one fold."""
    links = split_edges(lettered, 0.1, 0.2, seed=0)
    system = published()
    collected = system.collect(links.graph, SeededBits(0))
    fitted = system.fit_links(collected, links.train, links.validation)
    z = system.embed(collected).dense()
    scorer = {name.removeprefix("scorer."): torch.from_numpy(value) for name, value in fitted.weights.items()}
    assert scorer["weight"].numel() == z.shape[1]
    pairs = torch.from_numpy(links.test.edges)
    expected = (z[pairs[0]] * z[pairs[1]]) @ scorer["weight"].flatten() + scorer["bias"]
    np.testing.assert_allclose(fitted.score_links(links.test.edges), expected.numpy(), rtol=1e-4, atol=1e-5)
    edges, others = (torch.from_numpy(fitted.score_links(each)) for each in (links.test.edges, links.test.non_edges))
    assert roc_auc(edges, others) == fitted.auc(links.test)
