"""A model of friend counts: a person's class decides how many friends of each class to expect.

A person of class y and sociability d has Poisson(d H[y, z]) friends of true class z. Not all of them can be counted:
with E[z, k] the share of class z's members whom the person may count and who are published as class k,

    t_k ~ Poisson(d sum_z H[y, z] E[z, k]),        v_k ~ P[min(t_k, cap), .],

where P is the known noise. The sociability has a distribution over a fixed grid. H and that distribution are estimated
by expectation maximisation from everybody's noisy counts v, whether or not their class is known; no edge is seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

__all__ = ["Homophily", "count_tables"]

Array = NDArray[np.float64]

_GRID = np.geomspace(0.1, 6.0, 10)  # sociability; the mean is in H
_WITHIN = 0.7  # the share of friends within the class before anything is known
_FRIENDS = 20.0  # the weight of that assumption, in friends a class
_BLOCK = 1 << 13  # people at once
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Homophily:
    """The expected friends of each class, and how sociable people are.

    Attributes:
        rates: H, the expected number of friends of each class (column) of a person of a class (row).
        sociability: The probability of each value of the grid.
    """

    rates: Array
    sociability: Array

    @classmethod
    def fit(
        cls,
        symbols: NDArray[np.integer[Any]],
        groups: NDArray[np.integer[Any]],
        exposure: Array,
        noise: Array,
        log_prior: Array,
        *,
        iterations: int = 40,
    ) -> Homophily:
        """Estimate the model by expectation maximisation; an iteration costs O(people x classes^2 x grid).

        Args:
            symbols: The noisy counts, people x classes.
            groups: Each person's row of ``exposure``.
            exposure: E[z, k] of each group of people who may count the same others, groups x classes x classes.
            noise: P[t, v], the probability of report v for count t.
            log_prior: The log-probability of each person's classes without the counts, people x classes; a known
                class has 0 and the others a large negative number.
            iterations: The largest number of rounds; it ends sooner once no rate moves by 1 %.
        """
        classes = symbols.shape[1]
        shares = np.exp(log_prior - logsumexp(log_prior, axis=1, keepdims=True))
        start = _homophilous(symbols, groups, exposure, noise, shares.mean(axis=0))
        sociability = np.exp(-0.5 * (np.log(_GRID) / 0.8) ** 2)
        model = cls(start, sociability / sociability.sum())
        strength = _FRIENDS / start.sum(axis=1, keepdims=True)
        for _ in range(iterations):
            found, size, used = np.zeros((classes, classes)), np.zeros((classes, classes)), np.zeros(len(_GRID))
            tables = _Tables.of(model.rates, exposure, noise)
            for begin in range(0, len(symbols), _BLOCK):
                block = slice(begin, begin + _BLOCK)
                keys = groups[block, None] * len(noise) + symbols[block]
                joint = tables.log_likelihood(keys) + np.log(model.sociability)[:, None] + log_prior[block, None, :]
                joint -= joint.max(axis=(1, 2), keepdims=True)
                chance = np.exp(joint)
                chance /= chance.sum(axis=(1, 2), keepdims=True)
                used += chance.sum(axis=(0, 2))
                found += tables.friends(keys, chance)
                scaled = np.einsum("igy,g->iy", chance, _GRID)
                size += scaled.T @ exposure.sum(axis=2)[groups[block]]
            rates = (model.rates * found + strength * start) / (size + strength)
            moved = np.abs(rates - model.rates) / (model.rates + 1e-3)
            model = cls(rates, (used + 1) / (used + 1).sum())
            if moved.max() < 0.01:
                break
        return model

    def log_likelihood(
        self,
        symbols: NDArray[np.integer[Any]],
        groups: NDArray[np.integer[Any]],
        exposure: Array,
        noise: Array,
    ) -> Array:
        """Return log P(counts | class), people x classes, in the arguments of :meth:`fit`."""
        tables = _Tables.of(self.rates, exposure, noise)
        result = np.empty(symbols.shape)
        for begin in range(0, len(symbols), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            keys = groups[block, None] * len(noise) + symbols[block]
            result[block] = logsumexp(tables.log_likelihood(keys) + np.log(self.sociability)[:, None], axis=1)
        return result


def count_tables(rates: Array, exposure: Array, noise: Array) -> Array:
    """Return log P(v_k | g, y) for each report v_k of each group, classes k x (groups reports) x sociability x classes.

    Args:
        rates: The rates of a model.
        exposure: As for :meth:`Homophily.fit`.
        noise: As there.
    """
    return _Tables.of(rates, exposure, noise).chances


@dataclass(frozen=True, eq=False)
class _Tables:
    """Everything about one report v_k of one group, for each sociability g and class y.

    Attributes:
        chances: log P(v_k | g, y), classes k x (groups reports) x g x y.
        gains: The expected count over its rate, d E[t_k | v_k, g, y] / (d sum_z H[y, z] E[z, k]), of the same shape.
        exposure: E[z, k] of each group.
    """

    chances: Array
    gains: Array
    exposure: Array

    @classmethod
    def of(cls, rates: Array, exposure: Array, noise: Array) -> _Tables:
        classes, cap = len(rates), len(noise) - 1
        counts = np.arange(cap + 1)
        expected = np.einsum("yz,rzk->kry", rates, exposure)
        means = np.maximum(expected[:, :, None, :] * _GRID[:, None], 1e-9)[..., None]
        weights = np.exp(counts * np.log(means) - means - gammaln(counts + 1))
        weights[..., -1] += np.maximum(1 - weights.sum(axis=-1), 0)  # larger counts are cut to the cap
        chances = np.maximum(weights @ noise, _TINY)
        gains = (weights * counts) @ noise / chances / means * _GRID[:, None, None]
        shape = (classes, -1, len(_GRID), classes)  # rows of group and report, so that a lookup copies whole rows
        return cls(
            np.ascontiguousarray(np.log(chances).transpose(0, 1, 4, 2, 3)).reshape(shape),
            np.ascontiguousarray(gains.transpose(0, 1, 4, 2, 3)).reshape(shape),
            exposure,
        )

    def log_likelihood(self, keys: NDArray[np.integer[Any]]) -> Array:
        """Return log P(v | g, y), people x g x y; ``keys`` are the rows of the tables, people x classes."""
        result: Array = self.chances[0][keys[:, 0]]
        for k in range(1, keys.shape[1]):
            result += self.chances[k][keys[:, k]]
        return result

    def friends(self, keys: NDArray[np.integer[Any]], chance: Array) -> Array:
        """Return the sum over people of the expected friends of each class z of people of class y, over H[y, z]."""
        groups = len(self.exposure)
        reports = self.chances.shape[1] // groups
        result = np.zeros((chance.shape[2],) * 2)
        for k in range(keys.shape[1]):
            gained = np.einsum("igy,igy->iy", chance, self.gains[k][keys[:, k]])
            of_group = np.zeros((groups, gained.shape[1]))
            np.add.at(of_group, keys[:, k] // reports, gained)
            result += of_group.T @ self.exposure[:, :, k]
        return result


def _homophilous(
    symbols: NDArray[np.integer[Any]], groups: NDArray[np.integer[Any]], exposure: Array, noise: Array, shares: Array
) -> Array:
    """Guess H from the average counts alone, as if most friends were of the own class."""
    readings = np.linalg.lstsq(noise, np.arange(len(noise), dtype=np.float64), rcond=None)[0]
    average = np.maximum(readings[symbols].mean(axis=0), 1e-3)
    seen = exposure[groups].mean(axis=0)
    total = average.sum() / max(float((shares @ seen).sum()), 1e-9)
    return np.asarray(total * (_WITHIN * np.eye(len(shares)) + (1 - _WITHIN) * shares))
