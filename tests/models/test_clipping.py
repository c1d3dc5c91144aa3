"""Ghost norms and clipped sums against torch.func's per-example gradients."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from privet.errors import InvalidParameter
from privet.models.clipping import clipped_gradient, perceptron


def reference(network: nn.Module, x: Tensor, y: Tensor, bound: float) -> tuple[list[Tensor], Tensor]:
    """Per-example gradients, one by one in memory, clipped and summed."""

    def loss(parameters: dict[str, Tensor], row: Tensor, target: Tensor) -> Tensor:
        return nn.functional.cross_entropy(functional_call(network, parameters, (row[None],)), target[None])

    parameters = {name: value.detach() for name, value in network.named_parameters()}
    each = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
    norms = torch.stack([value.flatten(1).square().sum(1) for value in each.values()]).sum(0).sqrt()
    factors = (bound / norms).clamp(max=1.0)
    return [torch.einsum("b,b...->...", factors, value) for value in each.values()], norms


def losses(y: Tensor):
    return lambda logits: nn.functional.cross_entropy(logits, y, reduction="none")


@given(
    st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 6), st.integers(1, 7), st.integers(1, 3),
    st.sampled_from([1e-3, 0.5, 100.0]), st.sampled_from([0.1, 1.0, 30.0]),
)  # fmt: skip
@settings(max_examples=60)
def test_equal_to_per_example_gradients(
    seed: int, rows: int, columns: int, hidden: int, layers: int, bound: float, scale: float
) -> None:
    torch.manual_seed(seed)
    network = perceptron(columns, hidden, 3, layers).double()
    x, y = scale * torch.randn(rows, columns, dtype=torch.float64), torch.randint(3, (rows,))
    found = clipped_gradient(network, x, losses(y), bound)
    sums, norms = reference(network, x, y, bound)
    torch.testing.assert_close(found.norms, norms, rtol=1e-9, atol=1e-9)
    for ours, theirs, parameter in zip(found.sums, sums, network.parameters(), strict=True):
        assert ours.shape == parameter.shape
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5 * min(bound, float(norms.max())) * rows)


@given(st.integers(0, 2**31), st.sampled_from([1e-4, 0.5, 10.0]), st.sampled_from([1.0, 1e4]))
def test_no_single_gradient_exceeds_the_bound_in_single_precision(seed: int, bound: float, scale: float) -> None:
    torch.manual_seed(seed)
    network = perceptron(20, 16, 4)
    x, y = scale * torch.randn(1, 20), torch.randint(4, (1,))
    sums = clipped_gradient(network, x, losses(y), bound).sums
    assert torch.cat([part.flatten().double() for part in sums]).norm() <= bound


def test_an_infinite_bound_does_not_clip() -> None:
    torch.manual_seed(0)
    network, x, y = perceptron(5, 4, 3), torch.randn(6, 5), torch.randint(3, (6,))
    found = clipped_gradient(network, x, losses(y), float("inf"))
    plain = torch.autograd.grad(losses(y)(network(x)).sum(), list(network.parameters()))
    for ours, theirs in zip(found.sums, plain, strict=True):
        torch.testing.assert_close(ours, theirs.double(), rtol=1e-4, atol=1e-6)


def test_an_example_without_a_finite_gradient_counts_as_zero() -> None:
    torch.manual_seed(0)
    network, x, y = perceptron(5, 4, 3), torch.randn(4, 5), torch.randint(3, (4,))
    spoilt = torch.cat([x, torch.full((1, 5), torch.inf)])
    expected = clipped_gradient(network, x, losses(y), 0.5).sums
    found = clipped_gradient(network, spoilt, losses(torch.cat([y, y[:1]])), 0.5).sums
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs.double(), rtol=1e-4, atol=1e-6)


def test_an_empty_batch_is_a_zero_gradient() -> None:
    network = perceptron(5, 4, 3)
    found = clipped_gradient(network, torch.zeros(0, 5), losses(torch.zeros(0, dtype=torch.int64)), 0.5)
    assert all(not part.any() for part in found.sums)


def test_networks_that_mix_examples_are_refused() -> None:
    mixing = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
    y = torch.zeros(2, dtype=torch.int64)
    with pytest.raises(InvalidParameter, match=r"treat each example alone\. Got BatchNorm1d"):
        clipped_gradient(mixing, torch.zeros(2, 3), losses(y), 1.0)
    with pytest.raises(InvalidParameter, match="ending in a linear layer"):
        clipped_gradient(nn.Sequential(nn.Linear(3, 3), nn.ELU()), torch.zeros(2, 3), losses(y), 1.0)
    with pytest.raises(InvalidParameter, match="'max_grad_norm' parameter"):
        clipped_gradient(perceptron(3, 3, 2), torch.zeros(2, 3), losses(y), np.nan)


@pytest.mark.parametrize(("width", "layers"), [(2, 1), (2, 2), (30, 2)])
def test_one_example_moves_a_large_sum_by_no_more_than_the_bound(width: int, layers: int) -> None:
    """Thousands of equal gradients make the sum large; its rounding must stay far below what one of them is."""
    torch.manual_seed(0)
    network = perceptron(width, 16, 2, layers)
    x = 3 * torch.randn(1, width) + 0.3 * torch.randn(4096, width)
    y = network(x[:1]).argmin(1).expand(len(x))

    def total(rows: slice | list[int]) -> torch.Tensor:
        found = clipped_gradient(network, x[rows], losses(y[rows]), 0.01)
        return torch.cat([part.flatten() for part in found.sums])

    whole = total(slice(None))
    for left_out in (0, 17, 4095):
        others = [row for row in range(len(x)) if row != left_out]
        assert (whole - total(others)).norm() <= 0.01 + 1e-7
