"""Keyed dropout: the stated share, and coins that belong to a sub-graph alone."""

import torch
from torch import nn
from torch.func import vmap

from privet.models.subgraphs.dropout import KeyedDropout


def dropped(keys: torch.Tensor, p: float, columns: int = 500) -> torch.Tensor:
    def one(key: torch.Tensor) -> torch.Tensor:
        with KeyedDropout(key):
            return nn.Dropout(p)(torch.ones(3, columns))

    return vmap(one)(keys)


def test_the_share_is_the_stated_one() -> None:
    """60,000 coins: a correct program would fail with probability below 1e-6 for another seed."""
    rows = dropped(torch.arange(40), 0.3)
    assert abs(float((rows == 0).float().mean()) - 0.3) < 5 * (0.21 / 60_000) ** 0.5
    assert torch.allclose(rows[rows > 0], torch.tensor(1 / 0.7))
    for one, other in ((rows[0], rows[1]), (rows[:, 0], rows[:, 1]), (rows[:, :, :-1], rows[:, :, 1:])):
        assert 0.5 < float(((one > 0) == (other > 0)).float().mean()) < 0.66  # 0.58 if independent


def test_coins_belong_to_a_key_and_not_to_a_place() -> None:
    keys = torch.tensor([7, -3, 2**62])
    assert torch.equal(dropped(keys, 0.5)[[2, 0, 1]], dropped(keys[[2, 0, 1]], 0.5))
    with KeyedDropout(keys[1]):
        assert torch.equal(nn.Dropout(0.5)(torch.ones(3, 500)), dropped(keys, 0.5)[1])


def test_a_second_call_tosses_other_coins() -> None:
    with KeyedDropout(torch.tensor(3)):
        first, second = (nn.functional.dropout(torch.ones(8, 99), 0.5) for _ in range(2))
    assert not torch.equal(first, second)
