"""Every layer equals PyG's on the same weights, and a lazy first layer equals a dense one; forward and backward."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from privet.graph import LazyFeatures, gcn_operator, mean_operator, sum_operator
from privet.mechanisms.core.affine import AffineFeatures
from privet.models import Backbone, Edges, GATLayer, GCNLayer, GINLayer, SAGELayer, backbone_operator, seeded

with warnings.catch_warnings():  # PyG compiles a class with torch.jit when it is imported, which torch deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    import torch_geometric.nn as pyg

IN, OUT = 5, 3


@st.composite
def adjacencies(draw: st.DrawFn) -> sp.csr_array:
    """A 0/1 adjacency without self-loops, directed or not, in which the last node is isolated."""
    nodes = draw(st.integers(2, 12))
    density = draw(st.sampled_from([0.0, 0.1, 0.3, 0.8]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dense = rng.random((nodes, nodes)) < density
    if draw(st.booleans()):
        dense |= dense.T
    dense[-1] = dense[:, -1] = False
    np.fill_diagonal(dense, False)
    return sp.csr_array(dense.astype(np.float64))


def edge_index(adjacency: sp.csr_array) -> Tensor:
    """PyG's edges: the entry (i, j), by which i listens to j, is the edge from j to i."""
    rows, columns = adjacency.tocoo().coords
    return torch.tensor(np.stack([columns, rows]), dtype=torch.int64)


def perceptron() -> nn.Sequential:
    return nn.Sequential(nn.Linear(IN, OUT), nn.ReLU(), nn.Linear(OUT, OUT))


Pair = tuple[nn.Module, nn.Module, Callable[[sp.csr_array], object]]
PAIRS: dict[str, Callable[[], Pair]] = {
    "gcn": lambda: (
        GCNLayer(IN, OUT),
        pyg.GCNConv(IN, OUT),
        lambda a: gcn_operator(a, self_loops=True, dtype=torch.float64),
    ),
    "sage": lambda: (
        SAGELayer(IN, OUT),
        pyg.SAGEConv(IN, OUT),
        lambda a: mean_operator(a, self_loops=False, dtype=torch.float64),
    ),
    "gin": lambda: (
        GINLayer(IN, OUT, eps=0.3),
        pyg.GINConv(perceptron(), eps=0.3),
        lambda a: sum_operator(a, dtype=torch.float64),
    ),
    "gin, trained eps": lambda: (
        GINLayer(IN, OUT, train_eps=True),
        pyg.GINConv(perceptron(), train_eps=True),
        lambda a: sum_operator(a, dtype=torch.float64),
    ),
    "gat": lambda: (GATLayer(IN, OUT), pyg.GATConv(IN, OUT), looped_edges),
    "gat, 3 heads": lambda: (GATLayer(IN, OUT, heads=3), pyg.GATConv(IN, OUT, heads=3), looped_edges),
    "gat, mean of 2 heads": lambda: (
        GATLayer(IN, OUT, heads=2, concat=False, negative_slope=0.5),
        pyg.GATConv(IN, OUT, heads=2, concat=False, negative_slope=0.5),
        looped_edges,
    ),
}


def looped_edges(adjacency: sp.csr_array) -> Edges:
    return Edges.from_csr(mean_operator(adjacency, self_loops=True).matrix)


def gradients(output: Tensor, x: Tensor, layer: nn.Module, direction: Tensor) -> dict[str, Tensor]:
    named = {"x": x, **dict(layer.named_parameters())}
    found = torch.autograd.grad((output * direction).sum(), list(named.values()))
    return dict(zip(named, found, strict=True))


@pytest.mark.parametrize("name", PAIRS)
@given(adjacency=adjacencies(), seed=st.integers(0, 2**31))
@settings(deadline=None, max_examples=25)
def test_equals_pyg(name: str, adjacency: sp.csr_array, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    ours, theirs, make_operator = PAIRS[name]()
    ours, theirs = ours.double(), theirs.double()
    for parameter in theirs.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(adjacency.shape[0], IN, generator=generator, dtype=torch.float64, requires_grad=True)

    found, expected = ours(x, make_operator(adjacency)), theirs(x, edge_index(adjacency))
    torch.testing.assert_close(found, expected)
    direction = torch.randn(expected.shape, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(gradients(found, x, ours, direction), gradients(expected, x, theirs, direction))


@pytest.mark.parametrize(
    ("backbone", "kind"), [("gcn", GCNLayer), ("sage", SAGELayer), ("gin", GINLayer), ("gat", GATLayer)]
)
@given(adjacency=adjacencies(), hops=st.integers(0, 2), seed=st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=15)
def test_lazy_first_layer_equals_dense(
    backbone: Backbone, kind: type[nn.Module], adjacency: sp.csr_array, hops: int, seed: int
) -> None:
    with seeded(seed):
        layer = kind(IN, OUT)
    rng = np.random.default_rng(seed)
    symbols = sp.random_array((adjacency.shape[0], IN), density=0.4, rng=rng, format="csr")
    affine = AffineFeatures(sp.csr_array(symbols), rng.normal(size=IN), rng.normal(size=IN))
    lazy = LazyFeatures.from_affine(affine).propagate(gcn_operator(adjacency, self_loops=False), hops)
    operator = backbone_operator(adjacency, backbone)
    weights = list(layer.parameters())

    from_lazy, from_dense = layer(lazy, operator), layer(lazy.dense(), operator)
    torch.testing.assert_close(from_lazy, from_dense, rtol=1e-4, atol=1e-5)
    direction = torch.from_numpy(rng.normal(size=from_dense.shape)).float()
    by_lazy = torch.autograd.grad((from_lazy * direction).sum(), weights)
    by_dense = torch.autograd.grad((from_dense * direction).sum(), weights)
    torch.testing.assert_close(by_lazy, by_dense, rtol=1e-3, atol=1e-4)


def test_attention_survives_huge_scores() -> None:
    layer = GATLayer(1, 1).double()
    with torch.no_grad():
        for weight in layer.parameters():
            weight.fill_(1.0)
    x = torch.tensor([[-3e5], [0.0], [4e5]], dtype=torch.float64, requires_grad=True)
    triangle = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    found = layer(x, looped_edges(triangle))
    # Scores differ by more than 1e4 in every row, so each node attends to node 2 alone; the bias is 1.
    torch.testing.assert_close(found, torch.full((3, 1), 4e5 + 1, dtype=torch.float64))
    found.sum().backward()
    assert torch.isfinite(x.grad).all()


def test_attention_of_a_node_without_edges_is_the_bias() -> None:
    layer = GATLayer(2, 3)
    with torch.no_grad():
        layer.bias.copy_(torch.tensor([1.0, 2.0, 3.0]))
    edges = Edges.from_pairs(torch.tensor([[0], [1]]), num_nodes=2)
    found = layer(torch.randn(2, 2), edges)
    torch.testing.assert_close(found[1], layer.bias)
