"""Weights laid out by columns have the same values, shape, gradients and state."""

from __future__ import annotations

import scipy.sparse as sp
import torch
from torch import nn

from privet.graph import LazyFeatures
from privet.models import GNN, MLP, seeded
from privet.models.layout import columns_first


def test_only_the_order_in_memory_changes() -> None:
    with seeded(0):
        plain = nn.Linear(5, 3)
    with seeded(0):
        turned = nn.Linear(5, 3)
    columns_first(turned)
    assert turned.weight.T.is_contiguous()
    assert not plain.weight.T.is_contiguous()
    x = torch.randn(4, 5)
    plain(x).square().sum().backward()
    turned(x).square().sum().backward()
    torch.testing.assert_close(turned.weight, plain.weight)
    torch.testing.assert_close(turned.weight.grad, plain.weight.grad)
    plain.load_state_dict(turned.state_dict())
    torch.testing.assert_close(plain.weight, turned.weight)


def test_first_layers_of_sparse_input_keep_the_layout_through_a_step() -> None:
    x = LazyFeatures.from_sparse(sp.random_array((6, 9), density=0.5, format="csr", rng=0))
    graph = sp.csr_array(sp.eye_array(6))
    for network in (MLP(9, 4, 2), *(GNN(9, 4, 2, backbone=name) for name in ("gcn", "sage", "gin", "gat"))):
        operators = (network.operator(graph),) if isinstance(network, GNN) else ()
        network(x, *operators).sum().backward()
        wide = [each for each in network.parameters() if each.shape[1:] == (9,)]
        assert wide
        for weight in wide:
            assert weight.T.is_contiguous()
            assert weight.grad is not None
            assert weight.grad.T.is_contiguous()
