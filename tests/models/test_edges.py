"""The two products over edge values against dense matrices, with gradients, duplicates and empty rows."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from privet.errors import InvalidData
from privet.models import Edges

NODES = 6
pair_lists = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=20)


def as_tensor(pairs: list[tuple[int, int]]) -> Tensor:
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T


def normal(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True)


@given(pair_lists)
@settings(deadline=None)
def test_edges_are_sorted_and_rank_restores_the_given_order(pairs: list[tuple[int, int]]) -> None:
    edges = Edges.from_pairs(as_tensor(pairs), NODES)
    assert edges.num_nodes == NODES
    assert edges.num_edges == len(pairs)
    assert edges.rows.tolist() == sorted(row for row, _ in pairs)
    restored = torch.stack([edges.rows, edges.columns])[:, edges.rank.long()]
    assert torch.equal(restored.long(), as_tensor(pairs))


@given(pair_lists)
@settings(deadline=None)
def test_weighted_sum_is_the_dense_product(pairs: list[tuple[int, int]]) -> None:
    edges = Edges.from_pairs(as_tensor(pairs), NODES)
    values, x, direction = normal(len(pairs)), normal(NODES, 3), normal(NODES, 3).detach()
    places = edges.rows.long(), edges.columns.long()
    dense = torch.zeros(NODES, NODES, dtype=torch.float64).index_put(places, values, accumulate=True)
    found, expected = edges.weighted_sum(values, x), dense @ x
    torch.testing.assert_close(found, expected)
    by_ours = torch.autograd.grad((found * direction).sum(), [values, x])
    by_dense = torch.autograd.grad((expected * direction).sum(), [values, x])
    torch.testing.assert_close(by_ours, by_dense)


@given(pair_lists)
@settings(deadline=None)
def test_dot_is_the_inner_product_of_each_pair(pairs: list[tuple[int, int]]) -> None:
    edges = Edges.from_pairs(as_tensor(pairs), NODES)
    left, right, direction = normal(NODES, 3), normal(NODES, 3), normal(len(pairs)).detach()
    found, expected = edges.dot(left, right), (left[edges.rows.long()] * right[edges.columns.long()]).sum(1)
    torch.testing.assert_close(found, expected)
    by_ours = torch.autograd.grad((found * direction).sum(), [left, right])
    by_dense = torch.autograd.grad((expected * direction).sum(), [left, right])
    torch.testing.assert_close(by_ours, by_dense)


@given(pair_lists)
@settings(deadline=None)
def test_max_over_neighbours(pairs: list[tuple[int, int]]) -> None:
    x = normal(NODES, 2).detach() - 3  # all below 0, so that a maximum with 0 would show
    found = Edges.from_pairs(as_tensor(pairs), NODES).max(x)
    for node in range(NODES):
        neighbours = [column for row, column in pairs if row == node]
        expected = x[neighbours].amax(0) if neighbours else torch.zeros(2, dtype=torch.float64)
        assert torch.equal(found[node], expected)


def test_transposed_inputs_are_accepted() -> None:
    edges = Edges.from_pairs(torch.tensor([[0, 1], [1, 0]]), 2)
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).T
    torch.testing.assert_close(edges.weighted_sum(torch.ones(2), x), x.flip(0))
    torch.testing.assert_close(edges.dot(x, x), torch.tensor([14.0, 14.0]))


def test_bad_pairs_name_the_offender() -> None:
    with pytest.raises(InvalidData, match=r"node pair 1 must be numbers from 0 to 2\. Got \[2, 3\]"):
        Edges.from_pairs(torch.tensor([[0, 2], [1, 3]]), 3)
    with pytest.raises(InvalidData, match=r"node pair 0 must be numbers from 0 to 2\. Got \[0, -1\]"):
        Edges.from_pairs(torch.tensor([[0], [-1]]), 3)
    with pytest.raises(InvalidData, match="int64 tensor of 2 x E"):
        Edges.from_pairs(torch.zeros(3, 2, dtype=torch.int64), 3)
    with pytest.raises(InvalidData, match="int64 tensor of 2 x E"):
        Edges.from_pairs(torch.zeros(2, 3), 3)
