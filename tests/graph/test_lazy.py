"""Lazy features equal the dense matrix that they stand for, in value and in gradient, in every form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import InvalidData, InvalidParameter
from privet.graph import LazyFeatures, gcn_operator, mean_operator, spmm
from privet.mechanisms.core.affine import AffineFeatures

SEEDS = st.integers(0, 2**32 - 1)
RandomAdjacency = Callable[..., sp.csr_array]


def reports(nodes: int, rng: np.random.Generator, columns: int = 6) -> AffineFeatures:
    symbols = sp.csr_array(rng.integers(-1, 2, (nodes, columns)).astype(np.int8))
    return AffineFeatures(symbols, rng.uniform(0.5, 4.0, columns), rng.normal(size=columns))


def forms(lazy: LazyFeatures) -> list[LazyFeatures]:
    return [lazy, lazy.materialise(dense=True), lazy.materialise(dense=False)]


@given(seed=SEEDS, hops=st.integers(0, 4), directed=st.booleans(), again=st.booleans())
def test_equal_to_the_dense_matrix_in_value_and_gradient(
    random_adjacency: RandomAdjacency, seed: int, hops: int, directed: bool, again: bool
) -> None:
    adjacency = random_adjacency(seed, directed=directed)
    rng = np.random.default_rng(seed)
    affine = reports(adjacency.shape[0], rng)
    first, second = mean_operator(adjacency, self_loops=False), gcn_operator(adjacency, self_loops=True)
    lazy = LazyFeatures.from_affine(affine).propagate(first, hops)
    exact = np.linalg.matrix_power(first.matrix.to_dense().double().numpy(), hops) @ affine.dense()
    if again:
        weights = [0.3, 0.0, 0.7]
        lazy = lazy.filter(second, weights)
        powers = [np.linalg.matrix_power(second.matrix.to_dense().double().numpy(), k) for k in range(3)]
        exact = sum(weight * power for weight, power in zip(weights, powers, strict=True)) @ exact
    dense = torch.from_numpy(exact).float()
    W = torch.from_numpy(rng.normal(size=(affine.shape[1], 3))).float().requires_grad_()
    upstream = torch.from_numpy(rng.normal(size=(affine.shape[0], 3))).float()
    expected = torch.autograd.grad((dense @ W * upstream).sum(), W)[0]
    index = rng.integers(0, affine.shape[0], 5)
    for form in forms(lazy):
        assert form.shape == affine.shape
        torch.testing.assert_close(form @ W, dense @ W, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(form.dense(), dense, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(
            torch.autograd.grad((form @ W * upstream).sum(), W)[0], expected, rtol=1e-4, atol=1e-4
        )
        some = form.rows(index)
        assert some.shape == (5, affine.shape[1])
        torch.testing.assert_close(some @ W, (dense @ W)[index], rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(some.rows([3, 1]).dense(), dense[index[[3, 1]]], rtol=1e-4, atol=1e-4)
        for selected in forms(some):
            torch.testing.assert_close(selected.dense(), dense[index], rtol=1e-4, atol=1e-4)


def test_transposed_weights_as_layers_pass_them() -> None:
    affine = reports(7, np.random.default_rng(0))
    layer = torch.nn.Linear(6, 4, bias=False)
    dense = torch.from_numpy(affine.dense()).float()
    torch.testing.assert_close(LazyFeatures.from_affine(affine) @ layer.weight.T, layer(dense))


def test_plain_sparse_and_dense_features() -> None:
    matrix = sp.random_array((9, 5), density=0.4, rng=np.random.default_rng(0), format="csr")
    dense = torch.from_numpy(matrix.toarray()).float()
    operator = gcn_operator(sp.csr_array(np.ones((9, 9))), self_loops=False)
    W = torch.randn(5, 2)
    for lazy in (LazyFeatures.from_sparse(matrix), LazyFeatures.from_dense(dense)):
        torch.testing.assert_close(lazy.propagate(operator, 2) @ W, operator @ (operator @ (dense @ W)))
        torch.testing.assert_close(lazy.dense(), dense)
    lazy.dense().zero_()
    assert dense.any()  # what dense() gives is the caller's own


def test_the_offset_is_propagated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    widths = []

    def counting(matrix: torch.Tensor, x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        widths.append(x.shape[1])
        return spmm(matrix, x, out)

    monkeypatch.setattr("privet.graph.filter.spmm", counting)
    operator = gcn_operator(sp.csr_array(np.ones((4, 4))), self_loops=False)
    lazy = LazyFeatures.from_affine(reports(4, np.random.default_rng(0))).propagate(operator, 3)
    for _ in range(5):
        lazy @ torch.ones(6, 2)
    assert (widths.count(1), widths.count(2)) == (3, 15)


def test_no_dense_matrix_is_made() -> None:
    nodes, columns = 1_000_000, 1_000_000  # dense: 4 terabytes
    symbols = sp.csr_array((np.ones(nodes, np.int8), np.arange(nodes), np.arange(nodes + 1)), shape=(nodes, columns))
    offset = np.where(np.arange(columns) < 1000, 1e-3, 0.0)
    affine = AffineFeatures(symbols, np.full(columns, 2.0), offset)
    ring = sp.csr_array((np.ones(nodes), ((np.arange(nodes) + 1) % nodes), np.arange(nodes + 1)), shape=(nodes, nodes))
    W = torch.ones(columns, 1, requires_grad=True)
    result = LazyFeatures.from_affine(affine).propagate(mean_operator(ring, self_loops=False), 2) @ W
    torch.testing.assert_close(result, torch.full((nodes, 1), 3.0), rtol=1e-4, atol=1e-4)
    result.sum().backward()
    assert W.grad is not None
    torch.testing.assert_close(W.grad, 2.0 + nodes * torch.from_numpy(offset).float().unsqueeze(1))


def test_an_evaluation_first_does_not_hinder_training() -> None:
    lazy = LazyFeatures.from_affine(reports(4, np.random.default_rng(0)))
    with torch.inference_mode():
        lazy @ torch.ones(6, 2)
    W = torch.ones(6, 2, requires_grad=True)
    (lazy @ W).sum().backward()
    assert W.grad is not None


def test_planned_takes_the_cheaper_form() -> None:
    operator = gcn_operator(sp.csr_array(np.ones((200, 200))), self_loops=False)
    symbols = sp.csr_array((np.ones(200), np.arange(200), np.arange(201)), shape=(200, 2000))
    wide = LazyFeatures.from_affine(AffineFeatures(symbols, np.ones(2000), np.ones(2000)))
    assert wide.propagate(operator, 2).planned(hidden=4, epochs=1).filters
    narrow = LazyFeatures.from_dense(torch.randn(200, 4)).propagate(operator, 2)
    planned = narrow.planned(hidden=64, epochs=100)
    assert not planned.filters
    torch.testing.assert_close(planned.dense(), narrow.dense())


def test_errors_say_what_and_where() -> None:
    lazy = LazyFeatures.from_affine(reports(4, np.random.default_rng(0)))
    operator = gcn_operator(sp.csr_array(np.ones((4, 4))), self_loops=False)
    with pytest.raises(InvalidParameter, match=r"a matrix of 6 rows, not \(5, 2\)"):
        lazy @ torch.ones(5, 2)
    with pytest.raises(InvalidParameter, match="over 4 nodes"):
        lazy.propagate(gcn_operator(sp.csr_array((5, 5)), self_loops=False), 1)
    for hops in (-1, 1.5, True):
        with pytest.raises(InvalidParameter, match="hops must be"):
            lazy.propagate(operator, hops)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"index\[1\] .* a node from 0 to 3, not 4"):
        lazy.rows([0, 4, 1])  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="Propagate first, then select rows"):
        lazy.propagate(operator, 1).rows(np.array([0, 1, 2, 3])).propagate(operator, 1)
    with pytest.raises(InvalidData, match=r"column 1 must be finite, not inf"):
        LazyFeatures.from_affine(AffineFeatures(sp.csr_array((4, 2)), np.array([1.0, np.inf]), np.ones(2)))


def test_rows_take_ids_or_a_mask_and_nothing_else() -> None:
    features = LazyFeatures.from_dense(torch.arange(10.0).reshape(5, 2))
    mask = torch.tensor([False, False, False, True, True])
    assert torch.equal(features.rows(mask).dense(), features.dense()[mask])
    assert torch.equal(features.rows(mask.numpy()).dense(), features.dense()[mask])
    for wrong in (torch.tensor([2.7]), torch.tensor([True, False]), torch.tensor([[1]])):
        with pytest.raises(InvalidParameter, match="ids or a mask over 5 rows"):
            features.rows(wrong)
    assert repr(features) == "LazyFeatures(5 x 2)"
