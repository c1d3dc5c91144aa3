"""Products by either kernel against doubles, also of shapes that kernels treat otherwise."""

import pytest
import torch

from privet.models.clipping import products
from privet.models.clipping.products import even_product, product


@pytest.mark.parametrize("one_dnn", [True, False])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(0, 5, 3), (1, 1, 1), (7, 500, 3), (64, 3, 128), (33, 16, 16), (4, 0, 2)])
def test_products_are_those_of_doubles(
    one_dnn: bool, kind: torch.dtype, shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "_has_one_dnn", lambda: one_dnn and torch.backends.mkldnn.is_available())
    generator = torch.Generator().manual_seed(0)
    rows, terms, columns = shape
    left, right = torch.randn(rows, terms, generator=generator), torch.randn(terms, columns, generator=generator)
    transposed = torch.randn(terms, rows, generator=generator).T
    for each in (left, transposed):
        expected = each.double() @ right.double()
        found = [product(each.to(kind), right.to(kind))]
        found += [even_product(each.to(kind), right.to(kind), narrow=narrow) for narrow in (True, False)]
        for one in found:
            assert one.dtype == kind
            torch.testing.assert_close(one.double(), expected, atol=1e-4, rtol=0)
