"""Clipped sums on the grid against torch.func's per-example gradients."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import thorough
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from privet.errors import InvalidParameter
from privet.models.clipping import clipped_gradient, perceptron, stable_block, summed_gradient
from privet.models.clipping import gradients as clipping
from privet.models.clipping.aggregated import AggregatedRows, FeatureTable
from privet.models.clipping.rows import SparseRows


def aggregated_rows(seed: int, rows: int, columns: int, size: float = 1.0) -> AggregatedRows:
    """Sums over about three of 30 nodes, with features of which a fifth is not zero."""
    rng = np.random.default_rng(seed)
    features = sp.csr_array(sp.random_array((30, columns), density=0.2, format="csr", rng=rng) * size)
    weights = sp.csr_array(sp.random_array((rows, 30), density=0.1, format="csr", rng=rng, dtype=np.float32))
    return AggregatedRows.standardised(weights, FeatureTable.of(features, np.ones(30, dtype=np.bool_)))


def reference(network: nn.Module, x: Tensor, y: Tensor, bound: float) -> tuple[np.ndarray, np.ndarray]:
    """Per-example gradients, one by one in memory, clipped and summed."""

    def loss(parameters: dict[str, Tensor], row: Tensor, target: Tensor) -> Tensor:
        return nn.functional.cross_entropy(functional_call(network, parameters, (row[None],)), target[None])

    parameters = {name: value.detach() for name, value in network.named_parameters()}
    each = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
    flat = torch.cat([value.flatten(1) for value in each.values()], dim=1)
    norms = flat.norm(dim=1)
    return ((bound / norms).clamp(max=1.0) @ flat).numpy(), norms.numpy()


@given(
    st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 6), st.integers(1, 7), st.integers(1, 3),
    st.sampled_from([1e-3, 0.5, 100.0]), st.sampled_from([0.1, 1.0, 30.0]), st.sampled_from([1, 4, 256]),
)  # fmt: skip
@settings(max_examples=60)
def test_equal_to_per_example_gradients(
    seed: int, rows: int, columns: int, hidden: int, layers: int, bound: float, scale: float, block: int
) -> None:
    torch.manual_seed(seed)
    network = perceptron(columns, hidden, 3, layers).double()
    x, y = scale * torch.randn(rows, columns, dtype=torch.float64), torch.randint(3, (rows,))
    expected, norms = reference(network, x, y, bound)
    found = clipped_gradient(network, x, y, bound, block=block)
    # Rounding to the grid is at most 2^-14 of the bound in each entry, and clipping leaves 2^-8 of a gradient for it.
    largest = 2.0**-8 * np.minimum(norms, bound).sum() + 2.0**-13 * bound * rows
    np.testing.assert_allclose(found.exact(), expected, rtol=0, atol=largest)
    plain = summed_gradient(network, x, y, bound)  # norms are computed with 24 bits and a little too large
    np.testing.assert_allclose(plain, expected, rtol=0, atol=4e-6 * np.minimum(norms, bound).sum() + 1e-9)


@thorough
@given(st.integers(0, 2**31), st.sampled_from([1e-4, 0.5, 10.0]), st.sampled_from([1.0, 1e4]), st.booleans())
def test_no_single_gradient_exceeds_the_bound(seed: int, bound: float, scale: float, sparse: bool) -> None:
    """Checked in integers: the squared norm in units is at most 2^74."""
    torch.manual_seed(seed)
    network = perceptron(20, 16, 4)
    x, y = scale * torch.randn(1, 20), torch.randint(4, (1,))
    rows = SparseRows(sp.csr_array(x.numpy()), np.full(1, 0.3)) if sparse else x
    found = clipped_gradient(network, rows, y, bound)
    assert sum(value * value for value in found.values.tolist()) <= 2**74
    assert found.unit == bound * 2.0**-37


@thorough
@given(st.integers(0, 2**31), st.integers(2, 40))
def test_leaving_one_example_out_moves_the_sum_by_its_own_integers_and_nothing_else(seed: int, rows: int) -> None:
    torch.manual_seed(seed)
    network = perceptron(9, 8, 3)
    x, y = torch.randn(rows, 9), torch.randint(3, (rows,))
    kept = [row for row in range(rows) if row != seed % rows]
    block = stable_block(network, x)
    whole, others, alone = (
        clipped_gradient(network, x[chosen], y[chosen], 0.5, block=block).values
        for chosen in (list(range(rows)), kept, [seed % rows])
    )
    assert np.array_equal(whole - others, alone)


def test_sparse_rows_give_the_sum_of_dense_ones() -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    values = sp.csr_array(sp.random_array((70, 50), density=0.1, format="csr", rng=rng, dtype=np.float32))
    rows = SparseRows(values, rng.normal(size=70))
    network, y = perceptron(50, 16, 3), torch.randint(3, (70,))
    for bound in (1e-2, 10.0):
        found = clipped_gradient(network, rows, y, bound)
        dense = clipped_gradient(network, torch.from_numpy(rows.dense()), y, bound)
        np.testing.assert_allclose(found.exact(), dense.exact(), rtol=0, atol=2.0**-13 * bound * 70)
    np.testing.assert_allclose(
        summed_gradient(network, rows, y), summed_gradient(network, torch.from_numpy(rows.dense()), y), atol=1e-3
    )


@given(st.integers(0, 2**31), st.integers(1, 60), st.integers(1, 3), st.sampled_from([1e-3, 0.5, 100.0]))
def test_aggregated_rows_give_the_sum_of_dense_ones(seed: int, rows: int, layers: int, bound: float) -> None:
    torch.manual_seed(seed)
    x = aggregated_rows(seed, rows, 40)
    network, y = perceptron(40, 8, 3, layers), torch.randint(3, (rows,))
    found = clipped_gradient(network, x, y, bound, block=16)
    dense = clipped_gradient(network, torch.from_numpy(x.dense()), y, bound, block=16)
    np.testing.assert_allclose(found.exact(), dense.exact(), rtol=0, atol=2.0**-12 * bound * rows)
    plain = summed_gradient(network, torch.from_numpy(x.dense()), y)
    np.testing.assert_allclose(summed_gradient(network, x, y), plain, atol=1e-3)


@thorough
@given(st.integers(0, 2**31), st.sampled_from([1e-4, 0.5, 10.0]), st.sampled_from([1e-9, 1.0, 1e9]))
def test_no_aggregated_gradient_exceeds_the_bound(seed: int, bound: float, size: float) -> None:
    """Checked in integers: the squared norm in units of C 2^-41 is at most 2^82."""
    torch.manual_seed(seed)
    network, y = perceptron(20, 16, 4), torch.randint(4, (1,))
    found = clipped_gradient(network, aggregated_rows(seed, 1, 20, size), y, bound)
    assert sum(value * value for value in found.values.tolist()) <= 2**82
    assert found.unit == bound * 2.0**-41


@thorough
@given(st.integers(0, 2**31), st.integers(2, 40))
def test_leaving_one_aggregated_example_out_moves_the_sum_by_its_own_integers(seed: int, rows: int) -> None:
    torch.manual_seed(seed)
    network, x, y = perceptron(25, 8, 3), aggregated_rows(seed, rows, 25), torch.randint(3, (rows,))
    block = stable_block(network, x)
    chosen = np.arange(rows), np.delete(np.arange(rows), seed % rows), np.array([seed % rows])
    whole, others, alone = (clipped_gradient(network, x[each], y[each], 0.5, block=block).values for each in chosen)
    assert np.array_equal(whole - others, alone)


@pytest.mark.parametrize("aggregated", [False, True])
def test_an_example_that_is_too_long_after_all_counts_as_zero(
    aggregated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if clipping left a hundredth too much."""
    torch.manual_seed(0)
    x, y = aggregated_rows(0, 12, 25), torch.randint(3, (12,))
    monkeypatch.setattr(clipping, "_share", lambda _: 1.01)
    found = clipped_gradient(perceptron(25, 8, 3), x if aggregated else torch.from_numpy(x.dense()), y, 1e-3)
    assert not found.values.any()


@pytest.mark.parametrize("columns", [100, 40_000])
def test_wide_inputs_lose_little_to_the_room_for_rounding(columns: int) -> None:
    torch.manual_seed(0)
    network, x, y = perceptron(columns, 4, 2), torch.randn(2, columns), torch.tensor([0, 1])
    expected, norms = reference(network, x, y, 1e-2)
    assert (norms > 1e-2).all()
    found = clipped_gradient(network, x, y, 1e-2)
    assert 0.98 < np.linalg.norm(found.exact()) / np.linalg.norm(expected) <= 1
    alone = clipped_gradient(network, x[:1], y[:1], 1e-2)
    assert 0.98 * 2.0**37 < np.linalg.norm(alone.values.astype(float)) <= 2.0**37


@pytest.mark.parametrize("spoilt", [np.inf, np.nan, 3e38])
def test_a_sparse_example_that_is_not_finite_moves_nothing(spoilt: float) -> None:
    rows = sp.csr_array(np.array([[1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0], [spoilt, 0, 0, 0, 0, 0]], np.float32))
    with np.errstate(all="ignore"):
        values = sp.csr_array(rows * np.float32(2))
        examples = SparseRows(values, np.array([0.1, 0.2, values.data[-1]]))
    network, labels = perceptron(6, 4, 2), torch.tensor([0, 1, 1])
    found = clipped_gradient(network, examples, labels, 0.5)
    without = clipped_gradient(network, examples[:2], labels[:2], 0.5)
    assert (found.values == without.values).all()


def test_an_infinite_bound_does_not_clip() -> None:
    torch.manual_seed(0)
    network, x, y = perceptron(5, 4, 3), torch.randn(6, 5), torch.randint(3, (6,))
    plain = torch.autograd.grad(nn.functional.cross_entropy(network(x), y, reduction="sum"), list(network.parameters()))
    expected = torch.cat([part.flatten() for part in plain]).numpy()
    np.testing.assert_allclose(summed_gradient(network, x, y), expected, rtol=1e-4, atol=1e-6)


def test_an_example_without_a_finite_gradient_counts_as_zero() -> None:
    torch.manual_seed(0)
    network, x, y = perceptron(5, 4, 3), torch.randn(4, 5), torch.randint(3, (4,))
    spoilt, labels = torch.cat([x, torch.full((1, 5), torch.inf)]), torch.cat([y, y[:1]])
    expected = clipped_gradient(network, x, y, 0.5)
    assert np.array_equal(clipped_gradient(network, spoilt, labels, 0.5).values, expected.values)
    assert np.isfinite(summed_gradient(network, spoilt, labels)).all()


def test_an_empty_batch_is_a_zero_gradient() -> None:
    network = perceptron(5, 4, 3)
    found = clipped_gradient(network, torch.zeros(0, 5), torch.zeros(0, dtype=torch.int64), 0.5)
    assert not found.values.any()
    assert found.values.size == sum(parameter.numel() for parameter in network.parameters())


def test_networks_that_mix_examples_are_refused() -> None:
    mixing = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
    y = torch.zeros(2, dtype=torch.int64)
    with pytest.raises(InvalidParameter, match=r"treat each example alone, not BatchNorm1d"):
        clipped_gradient(mixing, torch.zeros(2, 3), y, 1.0)
    with pytest.raises(InvalidParameter, match="ending in a linear layer"):
        clipped_gradient(nn.Sequential(nn.Linear(3, 3), nn.ELU()), torch.zeros(2, 3), y, 1.0)
    for bound in (np.nan, 0.0, np.inf):
        with pytest.raises(InvalidParameter, match="max_grad_norm must be"):
            clipped_gradient(perceptron(3, 3, 2), torch.zeros(2, 3), y, bound)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_network_of_too_few_bits_is_refused(dtype: torch.dtype) -> None:
    """Rounding of norms and scales would let a gradient have 1.0025 C."""
    with pytest.raises(InvalidParameter, match="float32 or float64"):
        clipped_gradient(perceptron(4, 4, 2).to(dtype), torch.ones(1, 4, dtype=dtype), torch.zeros(1).long(), 1.0)
