from __future__ import annotations

import torch
from privet_three_point.backbone import Mean

from privet.data import social_graph, split_nodes
from privet.models import BACKBONES
from privet.systems import LPGNN
from privet.testing import check_local_system


def test_privet_finds_it() -> None:
    assert BACKBONES["mean"] is Mean


def test_a_layer_is_an_average_and_a_linear_map() -> None:
    graph = social_graph(30, features=4, seed=0)
    layer, x = Mean.layer(4, 2), torch.randn(30, 4)
    dense = torch.from_numpy(graph.adjacency.toarray()) + torch.eye(30)
    expected = dense / dense.sum(1, keepdim=True) @ x @ layer.weight + layer.bias
    torch.testing.assert_close(layer(x, Mean.operator(graph)), expected, rtol=1e-4, atol=1e-5)


def test_a_system_of_privet_learns_with_it() -> None:
    graph = social_graph(120, classes=3, features=6, seed=0)
    graph = graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
    check_local_system(LPGNN(backbone="mean", hops=2, max_epochs=3), graph)
