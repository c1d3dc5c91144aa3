"""Products with matrices are found and nudged; other uses of a matrix are noted."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from privet.models.subgraphs.mapped import Products, wide_linear

MATRIX, OTHER, VECTOR, ROWS = torch.randn(4, 4), torch.randn(4, 4), torch.randn(4), torch.randn(3, 4)


def seen_in(use: Callable[[], Tensor], nudges: list[Tensor] | None = None) -> tuple[Tensor, Products]:
    with Products(torch.tensor(0), {id(MATRIX): 0, id(OTHER): 1}, nudges) as seen:
        return use(), seen


@pytest.mark.parametrize(
    ("use", "transposed"),
    [
        (lambda: ROWS @ MATRIX, True),
        (lambda: torch.mm(ROWS, MATRIX), True),
        (lambda: nn.functional.linear(ROWS, MATRIX, VECTOR), False),
        (lambda: nn.functional.linear(ROWS, weight=MATRIX, bias=VECTOR), False),
        (lambda: nn.functional.linear(ROWS.reshape(1, 3, 4), MATRIX), False),
    ],
)
def test_products_are_found_and_nudged(use: Callable[[], Tensor], transposed: bool) -> None:
    plain, seen = seen_in(use)
    assert [(each.number, each.transposed, each.shape) for each in seen.found] == [(0, transposed, plain.shape)]
    assert torch.allclose(plain, use(), atol=1e-6)
    assert seen.rows[0].shape[-1] == 4
    assert not seen.used_otherwise
    nudged, _ = seen_in(use, [torch.ones(plain.shape)])
    assert torch.allclose(nudged, plain + 1)


@pytest.mark.parametrize(
    "use",
    [
        lambda: ROWS @ MATRIX.t(),
        lambda: ROWS @ MATRIX + MATRIX.sum(),
        lambda: torch.cat([MATRIX, ROWS]),
        lambda: torch.einsum("ri,io->ro", [ROWS, MATRIX]),
        lambda: nn.functional.linear(ROWS, torch.ones(4, 4), MATRIX[0]),
        lambda: nn.functional.linear(MATRIX, torch.ones(4, 4)),
        lambda: MATRIX @ OTHER,
    ],
)
def test_other_uses_are_noted(use: Callable[[], Tensor]) -> None:
    assert seen_in(use)[1].used_otherwise == {0}


def test_shapes_may_be_read() -> None:
    assert not seen_in(lambda: ROWS * MATRIX.shape[0] * MATRIX.dim())[1].used_otherwise


def test_wide_products_are_the_same() -> None:
    rows, weight, bias = torch.randn(5, 3), torch.randn(7, 3), torch.randn(7)
    assert torch.allclose(wide_linear(rows, weight, bias), nn.functional.linear(rows, weight, bias), atol=1e-6)
    assert torch.allclose(wide_linear(rows, weight), rows @ weight.T, atol=1e-6)
