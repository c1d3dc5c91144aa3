"""The two products over edge values against dense matrices, with gradients, duplicates and empty rows."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from privet.errors import InvalidData
from privet.models import Edges, WeightedEdges
from privet.models.backbones.gcn import GCNLayer

NODES = 6
pair_lists = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=20)


def as_tensor(pairs: list[tuple[int, int]]) -> Tensor:
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T


def normal(*shape: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True)


@given(pair_lists)
def test_edges_are_sorted_and_rank_restores_the_given_order(pairs: list[tuple[int, int]]) -> None:
    edges = Edges.from_pairs(as_tensor(pairs), NODES)
    assert edges.num_nodes == NODES
    assert edges.num_edges == len(pairs)
    assert edges.rows.tolist() == sorted(row for row, _ in pairs)
    restored = torch.stack([edges.rows, edges.columns])[:, edges.rank.long()]
    assert torch.equal(restored.long(), as_tensor(pairs))


@given(pair_lists)
def test_weighted_sum_is_the_dense_product(pairs: list[tuple[int, int]]) -> None:
    edges = Edges.from_pairs(as_tensor(pairs), NODES)
    values, x = normal(len(pairs), seed=0), normal(NODES, 3, seed=1)
    direction = normal(NODES, 3, seed=2).detach()
    places = edges.rows.long(), edges.columns.long()
    dense = torch.zeros(NODES, NODES, dtype=torch.float64).index_put(places, values, accumulate=True)
    found, expected = edges.weighted_sum(values, x), dense @ x
    torch.testing.assert_close(found, expected)
    by_ours = torch.autograd.grad((found * direction).sum(), [values, x])
    by_dense = torch.autograd.grad((expected * direction).sum(), [values, x])
    torch.testing.assert_close(by_ours, by_dense)


@given(pair_lists)
def test_dot_is_the_inner_product_of_each_pair(pairs: list[tuple[int, int]]) -> None:
    edges = Edges.from_pairs(as_tensor(pairs), NODES)
    left, right = normal(NODES, 3, seed=0), normal(NODES, 3, seed=1)
    direction = normal(len(pairs), seed=2).detach()
    found, expected = edges.dot(left, right), (left[edges.rows.long()] * right[edges.columns.long()]).sum(1)
    torch.testing.assert_close(found, expected)
    by_ours = torch.autograd.grad((found * direction).sum(), [left, right])
    by_dense = torch.autograd.grad((expected * direction).sum(), [left, right])
    torch.testing.assert_close(by_ours, by_dense)


@given(pair_lists)
def test_endpoint_sum_adds_what_the_two_nodes_have(pairs: list[tuple[int, int]]) -> None:
    edges = Edges.from_pairs(as_tensor(pairs), NODES)
    left, right = normal(NODES, seed=0), normal(NODES, seed=1)
    direction = normal(len(pairs), seed=2).detach()
    found, expected = edges.endpoint_sum(left, right), left[edges.rows.long()] + right[edges.columns.long()]
    assert torch.equal(found, expected)
    by_ours = torch.autograd.grad((found * direction).sum(), [left, right])
    by_dense = torch.autograd.grad((expected * direction).sum(), [left, right])
    torch.testing.assert_close(by_ours, by_dense)


@given(pair_lists)
def test_max_over_neighbours(pairs: list[tuple[int, int]]) -> None:
    x = normal(NODES, 2, seed=0).detach() - 9  # all below 0, so that a maximum with 0 would show
    found = Edges.from_pairs(as_tensor(pairs), NODES).max(x)
    for node in range(NODES):
        neighbours = [column for row, column in pairs if row == node]
        expected = x[neighbours].amax(0) if neighbours else torch.zeros(2, dtype=torch.float64)
        assert torch.equal(found[node], expected)


def test_trained_edges_serve_a_layer_and_get_a_gradient() -> None:
    pairs = torch.tensor([[0, 1, 3, 5], [1, 0, 2, 5]])
    edges, values, x = Edges.from_pairs(pairs, NODES), normal(4, seed=0), normal(NODES, 3, seed=1)
    layer = GCNLayer(3, 2).double()
    dense = torch.zeros(NODES, NODES, dtype=torch.float64).index_put(tuple(pairs), values)
    found, expected = layer(x, WeightedEdges(edges, values)), dense @ x @ layer.lin.weight.T + layer.bias
    torch.testing.assert_close(found, expected)
    inputs = [values, x, layer.lin.weight]
    by_ours = torch.autograd.grad(found.square().sum(), inputs)
    torch.testing.assert_close(by_ours, torch.autograd.grad(expected.square().sum(), inputs))


def test_transposed_inputs_are_accepted() -> None:
    edges = Edges.from_pairs(torch.tensor([[0, 1], [1, 0]]), 2)
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).T
    torch.testing.assert_close(edges.weighted_sum(torch.ones(2), x), x.flip(0))
    torch.testing.assert_close(edges.dot(x, x), torch.tensor([14.0, 14.0]))


def test_bad_pairs_name_the_offender() -> None:
    with pytest.raises(InvalidData, match=r"node pair 1 must be numbers from 0 to 2, not \[2, 3\]"):
        Edges.from_pairs(torch.tensor([[0, 2], [1, 3]]), 3)
    with pytest.raises(InvalidData, match=r"node pair 0 must be numbers from 0 to 2, not \[0, -1\]"):
        Edges.from_pairs(torch.tensor([[0], [-1]]), 3)
    with pytest.raises(InvalidData, match="int64 tensor of 2 x E"):
        Edges.from_pairs(torch.zeros(3, 2, dtype=torch.int64), 3)
    with pytest.raises(InvalidData, match="int64 tensor of 2 x E"):
        Edges.from_pairs(torch.zeros(2, 3), 3)
