"""Bets against a claim of privacy: each run of a mechanism settles them, and the claim may be tested after every run.

Each run has many canaries and a fixed number r of guesses. Under the claim at least v of them are right with
probability at most p (:mod:`~privet.auditing.central.guesses`), whatever the other runs showed. So a bet that pays
1 / p where v are right, on which the share s of a fortune is staked, multiplies it by

    1 - s + s [at least v are right] / p,        whose expectation is at most 1.

Fortunes of many such bets (numbers of guesses r, of right ones v, stakes s) start with fixed parts of 1. Their sum is
a non-negative supermartingale under the claim, and by Ville's inequality it ever reaches 1 / error with probability at
most ``error``: the audit may stop at any time, for any reason. This is testing by betting (e-processes); it is not the
test of arXiv 2602.06518, which has the same aim.

p grows with epsilon, so fortunes fall with it, and the largest epsilon whose fortune has reached 1 / error is a lower
bound that holds at any stopping time too.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from privet.auditing.central.graph_canaries import Sightings
from privet.auditing.central.guesses import chance_under_budget, chance_under_curve
from privet.auditing.central.one_run import GuessRule
from privet.auditing.central.trade_off import TradeOff
from privet.errors import InvalidParameter

__all__ = ["Betting"]

Array = NDArray[np.float64]

_RULES = (GuessRule(1 / 10, True), GuessRule(1 / 16, False), GuessRule(1 / 32, False), GuessRule(1 / 64, False))
_LEVELS = (0.52, 0.56, 0.6, 0.65, 0.7, 0.8, 0.9, 0.97)
_STAKES = (0.02, 0.1, 0.4)
_BISECTIONS = 12


class Betting:
    """Fortunes against the claim of (epsilon, delta)-privacy, run by run.

    Args:
        canaries: The canaries in a run.
        epsilon: The claimed epsilon.
        delta: The claimed delta.
        error: The probability with which a true claim may ever be refuted (default 0.05).
    """

    def __init__(self, canaries: int, epsilon: float, delta: float, error: float = 0.05) -> None:
        self.canaries, self.epsilon, self.delta, self.error = canaries, epsilon, delta, error
        usual = float(expit(epsilon))  # the share of right guesses that the claim allows without delta
        own = [usual + (1 - usual) * part for part in (0.25, 0.5, 0.75)]
        half = [(level, 0.5 / len(levels)) for levels in (own, _LEVELS) for level in levels]
        guesses = [int(rule.share * canaries) // 2 * 2 if rule.both else int(rule.share * canaries) for rule in _RULES]
        self._bets = [
            (rule, guesses[rule], math.ceil(level * guesses[rule]), stake, weight)
            for rule, (level, weight), stake in product(range(len(_RULES)), half, _STAKES)
            if guesses[rule] > 0
        ]
        if not self._bets:
            raise InvalidParameter("canaries", "at least 16, some of whom are guessed", canaries)
        self._tallies: list[list[int]] = []
        self._fortunes = self._started()
        self._chances = self._allowed(epsilon)

    @property
    def runs(self) -> int:
        """The number of runs so far."""
        return len(self._tallies)

    @property
    def log_fortune(self) -> float:
        """The logarithm of all fortunes together."""
        return float(logsumexp(self._fortunes))

    @property
    def refuted(self) -> bool:
        """True if the claim is refuted."""
        return self.log_fortune >= -math.log(self.error)

    def see(self, run: Sightings) -> None:
        """Settle the bets about one run."""
        self._tallies.append([rule.tally(run)[1] for rule in _RULES])
        self._fortunes += self._gains(self._tallies[-1], self._chances)

    def epsilon_lower(self) -> float:
        """Return the largest epsilon that the runs refute; it holds with probability 1 - error at any stopping time."""
        low, high = 0.0, max(1.0, 2 * self.epsilon)
        if not self._refutes(low):
            return 0.0
        while self._refutes(high) and high < 32:
            low, high = high, 2 * high
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._refutes(middle) else (low, middle)
        return low

    def _started(self) -> Array:
        weights = np.array([weight for *_, weight in self._bets])
        return np.asarray(np.log(weights / weights.sum()))

    def _refutes(self, epsilon: float) -> bool:
        chances, fortunes = self._allowed(epsilon), self._started()
        for tally in self._tallies:
            fortunes += self._gains(tally, chances)
        return float(logsumexp(fortunes)) >= -math.log(self.error)

    def _gains(self, tally: list[int], chances: Array) -> Array:
        stakes = np.array([stake for *_, stake, _ in self._bets])
        won = np.array([tally[rule] >= right for rule, _, right, _, _ in self._bets])
        return np.asarray(np.log1p(stakes * (won / chances - 1)))

    def _allowed(self, epsilon: float) -> Array:
        """Bound the probability of winning each bet under (epsilon, delta)-privacy."""
        return np.array([_chance(self.canaries, bet[1], bet[2], epsilon, self.delta) for bet in self._bets])


@lru_cache(maxsize=4096)
def _chance(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """The smaller of the two bounds: both are of the same probability."""
    plain = chance_under_budget(canaries, guesses, right, epsilon, delta)
    sharp = chance_under_curve(canaries, guesses, right, TradeOff.approximate(epsilon, delta))
    return max(1e-300, min(plain, sharp))
