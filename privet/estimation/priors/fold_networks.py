"""Small networks of one hidden layer, one for each fold of people, trained side by side.

Each network learns from the people of the other folds. They have the same shape and take the same number of steps, so
one product does a step of all of them: what a step costs beside its arithmetic is paid once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from privet.estimation.priors.adam import Adam

__all__ = ["FoldInputs", "FoldNetworks"]

_HIDDEN, _DROPOUT, _INPUT_DROPOUT = 64, 0.25, 0.1  # with less dropped, a third of the passes learns as much
_FEWEST_PASSES, _MOST_PASSES, _PEOPLE_A_PASS = 7, 24, 400  # many people have more to tell than a few passes learn
_BATCHES, _SMALLEST_BATCH, _LARGEST_BATCH = 8, 128, 1024
_RATE, _DECAY = 0.02, 1e-3
_COINS = 1 << 19  # places at which dropout's factors may begin
_MOMENTUM, _SPREAD = 0.1, 1e-5  # of the norms' running statistics, and what is added to a variance


@dataclass(frozen=True, eq=False)
class FoldInputs:
    """The columns that networks read: some that all share, and some that differ from fold to fold.

    Attributes:
        shared: People x columns.
        own: Folds x people x columns.
    """

    shared: torch.Tensor
    own: torch.Tensor

    @property
    def width(self) -> int:
        """The number of columns that a network reads."""
        return int(self.shared.shape[1] + self.own.shape[2])

    def batch(self, people: torch.Tensor) -> torch.Tensor:
        """Return folds x batch x columns of the people (folds x batch) that each network is shown."""
        folds, size = people.shape
        shared = self.shared.index_select(0, people.view(-1)).view(folds, size, -1)
        starts = torch.arange(folds)[:, None] * self.own.shape[1]
        own = self.own.flatten(0, 1).index_select(0, (people + starts).view(-1)).view(folds, size, -1)
        return torch.cat([shared, own], dim=2)


class FoldNetworks:
    """Networks with normed, rectified hidden units and dropout, trained on what was heard of some people.

    Args:
        inputs: The columns to learn from.
        heard: The probability of what was heard of each person under each class, people x classes.
        seen: The people that each fold's network learns from.
        seed: The seed of weights, batches and dropout.
    """

    def __init__(self, inputs: FoldInputs, heard: torch.Tensor, seen: list[NDArray[np.int64]], seed: int) -> None:
        self._folds, self._classes = len(seen), int(heard.shape[1])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._first = _linear(self._folds, inputs.width, _HIDDEN)
            self._second = _linear(self._folds, _HIDDEN, self._classes)
            units = self._folds * _HIDDEN
            self._gain, self._shift = torch.ones(units, requires_grad=True), torch.zeros(units, requires_grad=True)
            self._mean, self._variance = torch.zeros(units), torch.ones(units)
            self._train(inputs, heard.clamp_min(1e-12).log(), seen, np.random.default_rng(seed))

    def probabilities(self, fold: int, rows: torch.Tensor) -> NDArray[np.float64]:
        """Return the class probabilities that one network gives to people, from their columns.

        Args:
            fold: The network.
            rows: People x columns.
        """
        chosen = slice(fold * _HIDDEN, (fold + 1) * _HIDDEN)
        with torch.no_grad():
            hidden = torch.addmm(self._first[1][fold], rows, self._first[0][fold])
            mean, variance = self._mean[chosen], self._variance[chosen]
            gain, shift = self._gain[chosen], self._shift[chosen]
            normed = functional.batch_norm(hidden, mean, variance, gain, shift, eps=_SPREAD)
            logits = torch.addmm(self._second[1][fold], normed.relu_(), self._second[0][fold])
            return np.asarray(logits.softmax(dim=1).double().numpy())

    def _train(
        self, inputs: FoldInputs, told: torch.Tensor, seen: list[NDArray[np.int64]], rng: np.random.Generator
    ) -> None:
        fewest = min(len(people) for people in seen)
        batches = min(_BATCHES, max(1, fewest // _SMALLEST_BATCH))  # of equal size: a small one would spoil norms
        size = min(fewest // batches, _LARGEST_BATCH)
        optimizer = Adam([*self._first, self._gain, self._shift, *self._second], weight_decay=_DECAY)
        steps = batches * min(_FEWEST_PASSES + fewest // _PEOPLE_A_PASS, _MOST_PASSES)
        rows = self._folds * size
        coins = _Coins(_INPUT_DROPOUT, rows * inputs.width, rng), _Coins(_DROPOUT, rows * _HIDDEN, rng)
        for step in range(steps):
            if step % batches == 0:
                order = torch.stack([torch.from_numpy(people)[torch.randperm(len(people))[:fewest]] for people in seen])
            start = step % batches * size
            people = order[:, start : start + size].contiguous()
            for group in optimizer.param_groups:
                group["lr"] = _RATE * (1 + math.cos(math.pi * step / steps)) / 2
            optimizer.zero_grad()
            joint = self._logits(inputs.batch(people), *coins).log_softmax(dim=2) + told[people]
            (-joint.logsumexp(dim=2).mean(dim=1).sum()).backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    def _logits(self, rows: torch.Tensor, of_inputs: _Coins, of_units: _Coins) -> torch.Tensor:
        """Compute folds x batch x classes in training, with dropout and the batch's own statistics."""
        rows *= of_inputs.factors(rows.shape)
        hidden = torch.baddbmm(self._first[1], rows, self._first[0])
        flat = hidden.transpose(0, 1).reshape(rows.shape[1], -1)  # one norm for each unit of each network
        normed = functional.batch_norm(
            flat, self._mean, self._variance, self._gain, self._shift, training=True, momentum=_MOMENTUM, eps=_SPREAD
        )
        thinned = normed.relu_() * of_units.factors(normed.shape)
        units = thinned.view(rows.shape[1], self._folds, _HIDDEN).transpose(0, 1)
        return torch.baddbmm(self._second[1], units, self._second[0])


def _linear(folds: int, before: int, after: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw weights and offsets as torch.nn.Linear does."""
    bound = 1 / math.sqrt(before)
    weights, offsets = torch.empty(folds, before, after), torch.empty(folds, 1, after)
    return weights.uniform_(-bound, bound).requires_grad_(), offsets.uniform_(-bound, bound).requires_grad_()


class _Coins:
    """Dropout's factors, cut from one pool of random coins at a random place: drawing them anew would cost a fifth.

    Args:
        share: The share of zeros, a multiple of 1/256.
        largest: The number of factors that a step needs at most.
        rng: The source of the coins.
    """

    def __init__(self, share: float, largest: int, rng: np.random.Generator) -> None:
        dropped = round(256 * share)
        coins = np.frombuffer(rng.bytes(largest + _COINS), dtype=np.uint8) >= dropped
        self._pool = torch.from_numpy(coins).float().mul_(256 / (256 - dropped))
        self._rng = rng

    def factors(self, shape: torch.Size) -> torch.Tensor:
        """Return factors of mean 1."""
        start = int(self._rng.integers(_COINS))
        return self._pool[start : start + shape.numel()].view(shape)
