"""Certificates for answers to the friend question: how many published classes of friends may be false.

A friend whose published class is false was counted in one class and belongs in another, or in none: had the class been
true, one reported count would be smaller by one and another one larger by one, with the same noise. The likelihood of
counts is not a sum over friends. So what false classes can do is bounded, for any number of them:

    log P(v' | y) - log P(v | y)  lies between  sum_k min_g d_k(g, y)  and  sum_k max_g d_k(g, y),

with d_k(g, y) the change of log P(v_k | g, y) for sociability g. The bounds are sums over classes k, so the worst way
to move some counts up and some down is found by dynamic programming over classes. :mod:`.count_trials` tries all moves
instead, for the people whom the bound leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.estimation.friends.homophily import Homophily, count_tables

__all__ = ["LEAST_CHANCE", "MOST_FALSE", "Counted"]

Array = NDArray[np.float64]

MOST_FALSE = 3
"""The largest number of false classes that is looked for."""

LEAST_CHANCE = 1e-12
"""The smallest probability of a class that a round of the friend question leaves to later evidence."""

_BLOCK = 1 << 10  # people at once


@dataclass(frozen=True, eq=False)
class Counted:
    """The counts of a round of the friend question and what they tell, as they were weighed.

    Attributes:
        users: The ids of the people who counted.
        keys: The row of ``chances`` of each of their counts, people x classes.
        chances: log P(v_k | g, y), classes k x (groups reports) x sociability g x classes y.
        sociability: log P(g).
        reports: The number of different counts.
        weights: The weights of the prior, of the counts' likelihood and of the counts themselves.
    """

    users: NDArray[np.integer[Any]]
    keys: NDArray[np.integer[Any]]
    chances: Array
    sociability: Array
    reports: int
    weights: Array

    @classmethod
    def of(
        cls,
        users: NDArray[np.integer[Any]],
        symbols: NDArray[np.integer[Any]],
        groups: NDArray[np.integer[Any]],
        exposure: Array,
        noise: Array,
        model: Homophily,
        weights: Array,
    ) -> Counted:
        """Look counts up in the model's tables.

        Args:
            users: The ids of the people who counted.
            symbols: Their noisy counts, people x classes.
            groups: Each person's row of ``exposure``.
            exposure: As for :meth:`Homophily.fit`.
            noise: As there.
            model: The fitted model.
            weights: As the attribute.
        """
        chances = count_tables(model.rates, exposure, noise)
        keys = groups[:, None] * len(noise) + symbols
        return cls(users, keys, chances, np.log(model.sociability), len(noise), weights)

    def least_change(self, start: Array, predicted: NDArray[np.integer[Any]], size: Array) -> Array:
        """Lower the margins of the predicted class as far as false classes can, at most.

        Args:
            start: The lowest changes so far, (pluses + 1) x (minuses + 1) x people x classes: of the margin between the
                predicted class and each other class, after so many counts went up and so many down by one.
            predicted: The predicted class of each of the people.
            size: The weight of this round's logits in the margin, at least 0, for each of the people.
        """
        result = start.copy()
        for begin in range(0, len(self.users), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            result[:, :, rows] = self._block(start[:, :, rows], self.keys[rows], predicted[rows], size[rows])
        return result

    def _block(self, best: Array, keys: NDArray[Any], predicted: NDArray[Any], size: Array) -> Array:
        most, classes = best.shape[0] - 1, keys.shape[1]
        for k in range(classes):
            changes = {
                shift: self._change(keys[:, k], k, shift, predicted, size) for shift in range(-most, most + 1) if shift
            }
            after = best.copy()
            for shift, change in changes.items():
                up, down = max(shift, 0), max(-shift, 0)
                moved = best[: most + 1 - up, : most + 1 - down] + change
                after[up:, down:] = np.minimum(after[up:, down:], moved)
            best = after
        return best

    def _change(self, keys: NDArray[Any], k: int, shift: int, predicted: NDArray[Any], size: Array) -> Array:
        """Bound the change of the margins if a count of class k moves by ``shift``; inf where it cannot.

        What cannot happen is inf whatever the weight of the round is: 0 times inf would be no number.
        """
        _, likelihood, symbol = self.weights
        counts = keys % self.reports
        inside = (counts + shift >= 0) & (counts + shift < self.reports)
        change = self.chances[k][np.where(inside, keys + shift, keys)] - self.chances[k][keys]
        least, largest = change.min(axis=1), change.max(axis=1)
        if likelihood < 0:
            least, largest = largest, least
        people = np.arange(len(keys))
        own = likelihood * least[people, predicted] + symbol * shift * (predicted == k)
        others = likelihood * largest
        others[:, k] += symbol * shift
        return np.where(inside[:, None], size[:, None] * (own[:, None] - others), np.inf)
