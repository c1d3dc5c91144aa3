"""Operators equal their dense definitions, isolated nodes included, and differentiate by their transposes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter
from privet.graph import Operator, gcn_operator, mean_operator, pagerank_operator, sum_operator
from privet.graph.csr import csr_tensor

SEEDS = st.integers(0, 2**32 - 1)
RandomAdjacency = Callable[..., sp.csr_array]


def powered(degrees: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    return np.diag([degree**exponent if degree > 0 else 0.0 for degree in degrees])


def looped(dense: NDArray[np.float64], self_loops: bool) -> NDArray[np.float64]:
    """A loop of weight 1 where there is none, or no loop."""
    result = dense.copy()
    for node in range(len(dense)):
        result[node, node] = (dense[node, node] or 1.0) if self_loops else 0.0
    return result


@given(seed=SEEDS, directed=st.booleans(), loops=st.booleans(), weighted=st.booleans(), self_loops=st.booleans())
def test_normalisations_equal_their_equations(
    random_adjacency: RandomAdjacency, seed: int, directed: bool, loops: bool, weighted: bool, self_loops: bool
) -> None:
    adjacency = random_adjacency(seed, directed=directed, loops=loops, weighted=weighted)
    before = adjacency.toarray()
    plain, with_loops = adjacency.toarray(), looped(adjacency.toarray(), self_loops)
    degrees, loop_degrees = plain.sum(1), with_loops.sum(1)
    expected = {
        "gcn": powered(loop_degrees, -0.5) @ with_loops @ powered(loop_degrees, -0.5),
        "mean": powered(loop_degrees, -1.0) @ with_loops,
        "sum": plain,
        "pagerank": powered(degrees, -0.7) @ plain @ powered(degrees, -0.3),
    }
    made = {
        "gcn": gcn_operator(adjacency, self_loops=self_loops, dtype=torch.float64),
        "mean": mean_operator(adjacency, self_loops=self_loops, dtype=torch.float64),
        "sum": sum_operator(adjacency, dtype=torch.float64),
        "pagerank": pagerank_operator(adjacency, 0.3, dtype=torch.float64),
    }
    x = torch.randn(len(plain), 3, dtype=torch.float64)
    for name, operator in made.items():
        np.testing.assert_allclose((operator @ x).numpy(), expected[name] @ x.numpy(), atol=1e-12, err_msg=name)
        np.testing.assert_allclose((operator @ x[:, 0]).numpy(), expected[name] @ x[:, 0].numpy(), atol=1e-12)
        np.testing.assert_allclose(operator.transpose.to_dense().numpy(), expected[name].T, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(adjacency.toarray(), before)


@given(seed=SEEDS, directed=st.booleans())
def test_gradients_to_second_order(random_adjacency: RandomAdjacency, seed: int, directed: bool) -> None:
    operator = mean_operator(random_adjacency(seed, directed=directed), self_loops=True, dtype=torch.float64)
    x = torch.randn(operator.num_nodes, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: operator @ x, x)
    assert torch.autograd.gradgradcheck(lambda x: (operator @ x) ** 2, x)


def test_gradient_of_a_sum_is_the_columns_sums() -> None:
    operator = mean_operator(sp.csr_array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), self_loops=False)
    x = torch.zeros(3, 2, requires_grad=True)
    (operator @ x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[2.0, 2.0], [0.5, 0.5], [0.5, 0.5]]


def test_row_i_aggregates_from_row_i() -> None:
    listens = sp.csr_array([[0.0, 1.0], [0.0, 0.0]])  # node 0 listens to node 1
    assert (mean_operator(listens, self_loops=False) @ torch.tensor([10.0, 20.0])).tolist() == [20.0, 0.0]


def test_symmetric_operators_are_their_own_transpose_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    upper = sp.random_array((300, 300), density=0.05, rng=rng, format="csr")
    adjacency = sp.csr_array(upper + upper.T)
    assert (operator := gcn_operator(adjacency, self_loops=True)).transpose is operator.matrix
    assert (operator := pagerank_operator(adjacency, 0.5)).transpose is operator.matrix
    assert (operator := sum_operator(adjacency)).transpose is operator.matrix
    mean = mean_operator(adjacency, self_loops=False)
    assert mean.transpose is not mean.matrix
    assert mean.transpose.col_indices().data_ptr() == mean.matrix.col_indices().data_ptr()


def test_a_directed_cycle_is_not_taken_for_symmetric() -> None:
    cycle = sp.csr_array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # its transpose has the same row lengths
    operator = gcn_operator(cycle, self_loops=False)
    assert operator.transpose.to_dense().tolist() == cycle.toarray().T.tolist()


def test_indices_are_32_bit_and_the_64_bit_path_agrees() -> None:
    adjacency = sp.random_array((50, 50), density=0.2, rng=np.random.default_rng(1), format="csr")
    operator = sum_operator(adjacency)
    assert operator.matrix.col_indices().dtype == torch.int32
    matrix = operator.matrix
    wide = csr_tensor(matrix.crow_indices().long(), matrix.col_indices().long(), matrix.values(), matrix.shape)
    x = torch.randn(50, 4)
    torch.testing.assert_close(Operator(wide) @ x, operator @ x)


def test_large_results_have_their_own_memory() -> None:
    nodes = 600_000
    ring = sp.csr_array((np.ones(nodes), (np.arange(nodes), (np.arange(nodes) + 1) % nodes)), shape=(nodes, nodes))
    operator = sum_operator(ring)
    x = torch.randn(nodes, 16)
    first, second = operator @ x, operator @ (2 * x)  # each of 38 MB: on huge pages where there are some
    torch.testing.assert_close(first, x.roll(-1, 0))
    torch.testing.assert_close(second, 2 * first)


def test_graphs_and_matrices_give_the_same_operator() -> None:
    graph = Graph.from_edges([[0, 1], [1, 2]], num_nodes=4)
    x = torch.randn(4, 2)
    expected = gcn_operator(graph.adjacency, self_loops=True) @ x
    torch.testing.assert_close(gcn_operator(graph, self_loops=True) @ x, expected)
    torch.testing.assert_close(gcn_operator(graph.adjacency.tocoo(), self_loops=True) @ x, expected)


def test_sizes_and_empty_graphs() -> None:
    operator = gcn_operator(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]), self_loops=True)
    assert (operator.num_nodes, operator.nnz, operator.shape) == (2, 4, (2, 2))
    assert (gcn_operator(sp.csr_array((3, 3)), self_loops=False) @ torch.ones(3, 2)).tolist() == [[0.0, 0.0]] * 3
    assert (gcn_operator(sp.csr_array((0, 0)), self_loops=True) @ torch.ones(0, 2)).shape == (0, 2)


def test_errors_say_what_and_where() -> None:
    operator = sum_operator(sp.csr_array((3, 3)))
    with pytest.raises(InvalidParameter, match=r"3 rows and torch.float32, not \(2, 1\)"):
        operator @ torch.ones(2, 1)
    with pytest.raises(InvalidParameter, match=r"torch.float64"):
        operator @ torch.ones(3, 1, dtype=torch.float64)
    with pytest.raises(InvalidData, match=r"square, not shape \(2, 3\)"):
        sum_operator(sp.csr_array((2, 3)))
    with pytest.raises(InvalidData, match=r"adjacency at \(1, 0\) must be finite"):
        sum_operator(sp.csr_array([[0.0, 1.0], [np.nan, 0.0]]))
    with pytest.raises(InvalidParameter, match=r"a Graph or a sparse matrix, not ndarray"):
        sum_operator(np.eye(2))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"r must be a number in \[0, 1\]"):
        pagerank_operator(sp.csr_array((3, 3)), 1.5)


def test_who_lists_somebody_listens_to_them() -> None:
    listed = Graph.from_edges(np.array([[0], [1]]), 2, directed=True)  # 0 lists 1
    heard = mean_operator(listed, self_loops=False) @ torch.tensor([[3.0], [5.0]])
    assert heard.tolist() == [[5.0], [0.0]]
