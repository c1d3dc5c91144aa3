"""Ways around vmap are refused while a module is mapped, and nothing is left behind."""

import random
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from adversarial_modules import OwnRule, Watching, centred
from torch import Tensor, nn
from torch.func import vmap

from privet.errors import PrivetError
from privet.models.subgraphs.isolation import KeyedDropout, mapping, seeded_by
from privet.models.subgraphs.mapped import Products

ROWS = torch.randn(4, 3, 2)


def watched(x: Tensor) -> Tensor:
    with Watching():
        return x + 1


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (OwnRule.apply, "vmap rule"),
        (watched, "dispatch mode"),
        (lambda x: x * len(str(x)), "printed"),
        (lambda x: x * len(f"{x}"), "printed"),
        (centred, "not torch's"),
        (lambda x: x * random.random(), "Random numbers"),
        (lambda x: x * float(np.random.rand()), "Random numbers"),  # noqa: NPY002
    ],
)
def test_ways_around_vmap_are_refused(work: Any, words: str) -> None:
    def one(x: Tensor) -> Tensor:
        with Products(torch.tensor(0), {}):
            return work(x)

    with pytest.raises(PrivetError, match=words), mapping():
        vmap(one)(ROWS)
    assert vmap(OwnRule.apply)(ROWS).shape == ROWS.shape  # as before
    assert watched(ROWS).shape == ROWS.shape


def test_a_dispatch_mode_around_training_is_refused() -> None:
    with Watching(), pytest.raises(PrivetError, match="dispatch mode"), mapping():
        pass


def test_random_numbers_go_on_as_if_nothing_had_happened() -> None:
    def drawn() -> tuple[float, float, float]:
        return float(torch.rand(1)), float(np.random.rand()), random.random()  # noqa: NPY002

    with seeded_by(3):
        first = drawn()
        with seeded_by(2**63 - 1), mapping():
            pass
        second = drawn()
    with seeded_by(3):
        assert (drawn(), drawn()) == (first, second)


def test_slow_rules_of_torch_are_no_warning() -> None:
    with warnings.catch_warnings(), mapping():
        warnings.simplefilter("error", RuntimeWarning)
        assert vmap(lambda x: torch.histc(x, 3))(ROWS).shape == (4, 3)


class Unfilled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        return torch.empty_like(slope)


def test_fresh_memory_tells_of_nobody() -> None:
    kept = [torch.full((64,), 7.0), np.full(64, 7.0)]
    del kept
    x = torch.full((64,), 7.0, requires_grad=True)
    with seeded_by(0):
        made = torch.empty(64), torch.empty_like(ROWS), ROWS.new_empty(64), torch.empty_strided((64,), (1,))
        backward = torch.autograd.grad(Unfilled.apply(x * 1).sum(), x)[0]
        for fresh in (*made, backward, np.empty(64), np.empty_like(np.ones(64))):
            assert not fresh.any()
    assert np.empty is not np.zeros


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
