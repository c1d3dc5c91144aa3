"""Dropout keeps the right share of entries, scales them, repeats with torch's seed and passes gradients."""

from __future__ import annotations

import math

import pytest
import torch

from privet.models import Dropout, seeded
from privet.models.dropout import kept_entries


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.75, 0.9])
def test_the_share_and_the_scale(share: float) -> None:
    """The number kept is binomial; five deviations: a correct program fails for one seed in 1.7 million."""
    with seeded(0):
        factors = kept_entries((400, 501), share)
    kept = factors > 0
    count = factors.numel()
    assert abs(int(kept.sum()) - (1 - share) * count) < 5 * math.sqrt(share * (1 - share) * count) + count / 65536
    torch.testing.assert_close(factors[kept], torch.full_like(factors[kept], 1 / (1 - share)), rtol=1e-4, atol=0)


def test_entries_are_dropped_independently_of_their_neighbours() -> None:
    with seeded(1):
        kept = kept_entries((1, 200_000), 0.5)[0] > 0
    for distance in (1, 2, 7, 8, 64):
        equal = int((kept[:-distance] == kept[distance:]).sum())
        assert abs(equal - (len(kept) - distance) / 2) < 5 * math.sqrt(len(kept)) / 2  # 1.7 million seeds, as above


def test_coins_repeat_with_the_seed_and_only_then() -> None:
    with seeded(3):
        first, second = kept_entries((9, 7), 0.5), kept_entries((9, 7), 0.5)
    with seeded(3):
        again = kept_entries((9, 7), 0.5)
    assert torch.equal(first, again)
    assert not torch.equal(first, second)


def test_gradient_and_evaluation() -> None:
    layer = Dropout(0.5)
    x = torch.ones(50, 4, requires_grad=True)
    result = layer(x)
    result.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, result.detach())  # x is 1, so the factor is both
    assert torch.equal(layer.eval()(x), x)
    assert Dropout(0.0)(x) is x


def test_all_types_and_shapes() -> None:
    assert kept_entries((0, 3), 0.5).shape == (0, 3)
    assert kept_entries((3,), 0.3, torch.float64).dtype == torch.float64
    assert float(kept_entries((64, 64), 1 - 1e-9).sum()) >= 0  # never divides by 0
