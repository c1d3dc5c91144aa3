"""Keyed dropout: the stated share, and coins that belong to a sub-graph and not to its place."""

import pytest
import torch
from torch import nn

from privet.errors import InvalidParameter
from privet.models.subgraphs.chunks import random_chunk
from privet.models.subgraphs.dropout import KeyedDropout


def dropped(keys: torch.Tensor, p: float, columns: int = 500) -> torch.Tensor:
    chunk = random_chunk(len(keys), 3, 1, torch.zeros(len(keys)), torch.Generator().manual_seed(0))
    with KeyedDropout(chunk.kinds_of_rows(), keys):
        return nn.Dropout(p)(torch.ones(len(chunk.x), columns))[:-2].reshape(len(keys), 3, columns)


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


def test_a_second_call_tosses_other_coins() -> None:
    chunk = random_chunk(2, 3, 1, torch.zeros(2), torch.Generator().manual_seed(0))
    with KeyedDropout(chunk.kinds_of_rows(), torch.arange(2)):
        first, second = (nn.functional.dropout(torch.ones(8, 99), 0.5) for _ in range(2))
    assert not torch.equal(first, second)


def test_rows_of_an_unknown_kind_are_refused() -> None:
    with KeyedDropout({}, torch.arange(2)), pytest.raises(InvalidParameter, match="stand for nodes or for edges"):
        nn.functional.dropout(torch.ones(4, 2), 0.5)
