"""GAT's layer equals PyG's with one and several heads, lazily and densely, and survives extreme scores."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from backbone_suite import IN, OUT, adjacencies, check_equals_pyg, check_lazy_equals_dense, pyg, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.models import Edges
from privet.models.backbones.gat import GAT, GATLayer


@pytest.mark.parametrize("options", [{}, {"heads": 3}, {"heads": 2, "concat": False, "negative_slope": 0.5}])
@given(adjacency=adjacencies(), seed=seeds)
def test_equals_pyg(options: dict[str, float], adjacency: sp.csr_array, seed: int) -> None:
    ours, theirs = GATLayer(IN, OUT, **options), pyg.GATConv(IN, OUT, **options)
    check_equals_pyg(ours, theirs, GAT.operator(adjacency), adjacency, seed)


@given(adjacency=adjacencies(), hops=st.integers(0, 2), seed=seeds)
@settings(max_examples=15)
def test_lazy_first_layer_equals_dense(adjacency: sp.csr_array, hops: int, seed: int) -> None:
    check_lazy_equals_dense("gat", adjacency, hops, seed)


def test_attention_survives_huge_scores() -> None:
    layer = GATLayer(1, 1).double()
    with torch.no_grad():
        for weight in layer.parameters():
            weight.fill_(1.0)
    x = torch.tensor([[-3e5], [0.0], [4e5]], dtype=torch.float64, requires_grad=True)
    triangle = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    found = layer(x, GAT.operator(triangle))
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
