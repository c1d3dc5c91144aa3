from __future__ import annotations

import torch

from privet.models import seeded


def test_a_seed_repeats_and_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(1)
    before = torch.rand(3)
    torch.manual_seed(1)
    with seeded(9):
        first = torch.rand(3)
    after = torch.rand(3)
    with seeded(9):
        second = torch.rand(3)
    assert torch.equal(first, second)
    assert torch.equal(before, after)


def test_without_a_seed_the_global_generator_is_used() -> None:
    torch.manual_seed(4)
    with seeded(None):
        drawn = torch.rand(2)
    torch.manual_seed(4)
    assert torch.equal(drawn, torch.rand(2))
