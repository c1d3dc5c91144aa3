"""The trained adjacency against the dense form of eq. 14."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from privet.graph import gcn_operator, mean_operator
from privet.models import CalibratedAdjacency

NODES = 12


def noisy(seed: int, density: float = 0.25) -> sp.csr_array:
    """Directed, with a node that names nobody."""
    rng = np.random.default_rng(seed)
    dense = (rng.random((NODES, NODES)) < density) * rng.uniform(0.5, 1.0, (NODES, NODES))
    np.fill_diagonal(dense, 0)
    dense[3] = 0
    return sp.csr_array(dense)


def dense_operator(adjacency: Tensor, normalisation: str) -> Tensor:
    if normalisation == "gcn":
        adjacency = adjacency + torch.eye(NODES)
    degrees = adjacency.sum(1)
    power = 1.0 if normalisation == "mean" else 0.5
    scale = torch.where(degrees > 0, torch.where(degrees > 0, degrees, 1.0) ** -power, 0.0)
    return scale[:, None] * adjacency * (1.0 if normalisation == "mean" else scale[None, :])


@given(st.integers(0, 100), st.sampled_from(["gcn", "mean", "symmetric"]))
def test_operators_and_their_gradients_are_those_of_the_dense_form(seed: int, normalisation: str) -> None:
    matrix = noisy(seed)
    graph = CalibratedAdjacency(matrix)
    dense = torch.tensor(matrix.toarray(), dtype=torch.float32, requires_grad=True)
    x = torch.randn(NODES, 3, generator=torch.Generator().manual_seed(seed))
    sparse_result = graph.operator(normalisation) @ x
    dense_result = dense_operator(dense, normalisation) @ x
    assert torch.allclose(sparse_result, dense_result, atol=1e-5)
    sparse_result.square().sum().backward()
    dense_result.square().sum().backward()
    on_support = dense.grad[graph.edges.rows.long(), graph.edges.columns.long()]
    assert torch.allclose(graph.values.grad, on_support, atol=1e-4)


def test_operators_start_as_the_fixed_ones() -> None:
    matrix = noisy(1)
    graph, x = CalibratedAdjacency(matrix), torch.eye(NODES)
    fixed = {
        "gcn": gcn_operator(matrix, self_loops=True),
        "mean": mean_operator(matrix, self_loops=False),
        "symmetric": gcn_operator(matrix, self_loops=False),
    }
    for normalisation, operator in fixed.items():
        assert torch.allclose(graph.operator(normalisation) @ x, operator @ x, atol=1e-6)


def objective(operator: Tensor, x: Tensor, weight: Tensor, labels: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(operator @ (x @ weight), labels)


@pytest.mark.parametrize(("sparsity", "equal"), [(2.0, True), (0.0, False)])
def test_training_is_dense_training_while_no_other_entry_would_move(sparsity: float, equal: bool) -> None:
    """Adam on all N x N entries of eq. 14 against Adam on the reported ones.

    An entry outside the support stays 0 as long as its slope in the loss is smaller than ``sparsity``; without a
    sparsity penalty the dense form invents edges that fit the training labels.
    """
    matrix, generator = noisy(2), torch.Generator().manual_seed(0)
    x, weight = torch.randn(NODES, 4, generator=generator), torch.randn(4, 3, generator=generator)
    labels = torch.randint(3, (NODES,), generator=generator)
    graph = CalibratedAdjacency(matrix)
    start = torch.tensor(matrix.toarray(), dtype=torch.float32)
    dense = start.clone().requires_grad_()
    sparse_adam, dense_adam = torch.optim.Adam([graph.values], lr=0.05), torch.optim.Adam([dense], lr=0.05)
    sparse_adam.register_step_post_hook(lambda *_: graph.project())
    off_diagonal = 1 - torch.eye(NODES)
    for _ in range(30):
        sparse_adam.zero_grad()
        sparse_loss = objective(graph.operator("gcn") @ torch.eye(NODES), x, weight, labels)
        (sparse_loss + graph.penalty(0.5, sparsity)).backward()
        sparse_adam.step()
        dense_adam.zero_grad()
        masked = dense * off_diagonal
        penalty = 0.5 * (masked - start).square().sum() + sparsity * masked.sum()
        (objective(dense_operator(masked, "gcn"), x, weight, labels) + penalty).backward()
        dense_adam.step()
        with torch.no_grad():
            dense.clamp_(min=0)
    rows, columns = graph.edges.rows.long(), graph.edges.columns.long()
    inside = torch.zeros(NODES, NODES, dtype=torch.bool)
    inside[rows, columns] = True
    outside = (dense.detach() * off_diagonal)[~inside]
    assert not torch.equal(graph.values.detach(), graph.noisy)
    assert (outside == 0).all() == equal
    assert torch.allclose(dense.detach()[rows, columns], graph.values.detach(), atol=1e-4) == equal


def test_the_penalty_is_that_of_the_dense_matrices() -> None:
    graph = CalibratedAdjacency(noisy(3))
    with torch.no_grad():
        graph.values.mul_(0.5)
    expected = 2.0 * (0.25 * graph.noisy.square()).sum() + 3.0 * 0.5 * graph.noisy.sum()
    assert torch.allclose(graph.penalty(2.0, 3.0), expected)


def test_projection_removes_negative_values_only() -> None:
    graph = CalibratedAdjacency(noisy(4))
    with torch.no_grad():
        graph.values[0] = -1.0
    kept = graph.values.detach()[1:].clone()
    graph.project()
    assert graph.values[0] == 0
    assert torch.equal(graph.values.detach()[1:], kept)
