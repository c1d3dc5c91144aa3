"""Recorded uses of parameters: products and row-wise operations, and nothing that has no closed form."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from privet.models.subgraphs.capture import Capture, Unserved, wide_linear
from privet.models.subgraphs.chunks import random_chunk

CHUNK = random_chunk(2, 3, 4, torch.zeros(2), torch.Generator().manual_seed(0))
MATRIX, VECTOR, ROWS = nn.Parameter(torch.randn(4, 4)), nn.Parameter(torch.randn(4)), CHUNK.x


def captured(use: Callable[[], Tensor]) -> tuple[Tensor, Capture]:
    values = {id(MATRIX): (0, 2 * MATRIX.detach()), id(VECTOR): (1, 2 * VECTOR.detach())}
    with Capture(values, CHUNK.kinds_of_rows(), CHUNK.keys) as seen:
        return use(), seen


def test_products_are_recorded_and_computed_with_the_given_values() -> None:
    for use in (lambda: ROWS @ MATRIX, lambda: nn.functional.linear(ROWS, MATRIX, VECTOR)):
        found, seen = captured(use)
        assert [(each.weight, each.transposed) for each in seen.outer] == [(0, seen.outer[0].bias is None)]
        with torch.no_grad():
            doubled = 2 * use()
        assert torch.allclose(found, doubled, atol=1e-5)
        assert found.requires_grad


@pytest.mark.parametrize(
    "use", [lambda: ROWS + VECTOR, lambda: VECTOR * ROWS, lambda: ROWS - VECTOR, lambda: ROWS / VECTOR]
)
def test_row_wise_operations_copy_the_parameter(use: Callable[[], Tensor]) -> None:
    found, seen = captured(use)
    ((number, copies),) = seen.copies
    assert (number, tuple(copies.shape)) == (1, (8, 4))
    assert torch.equal(copies[3], 2 * VECTOR.detach())
    assert found.requires_grad


@pytest.mark.parametrize(
    "use",
    [
        lambda: ROWS @ MATRIX.t(),
        lambda: ROWS * torch.exp(VECTOR),
        lambda: VECTOR + VECTOR,
        lambda: torch.ones(5, 4) * VECTOR,
        lambda: torch.ones(5, 4) @ MATRIX,
        lambda: nn.functional.linear(ROWS, MATRIX, nn.Parameter(torch.zeros(4))),
    ],
)
def test_other_uses_are_unserved(use: Callable[[], Tensor]) -> None:
    with pytest.raises(Unserved):
        captured(use)


def test_shapes_may_be_read() -> None:
    found, seen = captured(lambda: ROWS * MATRIX.shape[0])
    assert torch.equal(found, ROWS * 4)
    assert not seen.outer
    assert not seen.copies


def test_wide_products_are_the_same() -> None:
    rows, weight, bias = torch.randn(5, 3), torch.randn(7, 3), torch.randn(7)
    assert torch.allclose(wide_linear(rows, weight, bias), nn.functional.linear(rows, weight, bias), atol=1e-6)
    assert torch.allclose(wide_linear(rows, weight), rows @ weight.T, atol=1e-6)
