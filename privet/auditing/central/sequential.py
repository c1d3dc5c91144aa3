"""An audit that stops when it is sure: runs with many canaries, each of which settles bets against the claim.

Each run has a fixed number r of guesses. Under the claim at least v of them are right with probability at most p
(:mod:`~privet.auditing.central.guesses`), whatever the other runs showed. So a bet that pays 1 / p where v are right,
on which the share s of a fortune is staked, multiplies it by

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
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from privet.auditing.central.audited_claim import PAPER_RUN, AuditedClaim
from privet.auditing.central.graph_canaries import CanaryGraph, ManyCanaries, Sightings
from privet.auditing.central.guesses import chance_under_budget, chance_under_curve
from privet.auditing.central.one_run import GuessRule
from privet.auditing.central.trade_off import TradeOff
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.mechanisms.primitives.noise import Noise
from privet.privacy.accounting.processes import Process

__all__ = ["Betting", "SequentialAudit", "audit_sequentially"]

Array = NDArray[np.float64]

_RULES = (GuessRule(1 / 10, True), GuessRule(1 / 16, False), GuessRule(1 / 32, False), GuessRule(1 / 64, False))
_LEVELS = (0.52, 0.56, 0.6, 0.65, 0.7, 0.8, 0.9, 0.97)
_STAKES = (0.02, 0.1, 0.4)
_BISECTIONS = 12


@dataclass(frozen=True, kw_only=True)
class SequentialAudit(AuditedClaim):
    """A claim, and the runs after which an audit was sure, or gave up.

    ``epsilon_lower`` holds at the time of stopping.

    Attributes:
        refuted: True if the bets against the claim were won.
        error: The probability with which a true claim is ever refuted.
        runs: The training runs that were played.
        most_runs: The runs after which the audit would have given up.
        canaries: The canaries in each run.
        log_fortune: The logarithm of the fortune against the claim; -log(error) refutes it.
    """

    refuted: bool
    error: float
    runs: int
    most_runs: int
    canaries: int
    log_fortune: float

    @property
    def broken(self) -> bool:
        """True if the claim is refuted."""
        return self.refuted

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"audit": "sequential", **super().to_dict()}


def audit_sequentially(
    process: Process = PAPER_RUN,
    noise_multiplier: float | None = None,
    noise: Noise = "gaussian",
    *,
    delta: float | None = None,
    runs: int | None = None,
    canaries: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> SequentialAudit:
    """Play runs with many canaries until the claim is refuted or there have been enough.

    Args:
        process: The sampling process (default: the paper's Facebook run).
        noise_multiplier: The noise's standard deviation over the clipping norm (default: that run's at epsilon 2).
        noise: "gaussian" (default), whose claim is the accountant's, or "sml", whose claim is the paper's.
        delta: The delta of the claim (default: the paper's N^-1.1).
        runs: The most training runs to play (default 200).
        canaries: The canaries in each run (default 4,000).
        confidence: 1 less the probability with which a true claim may ever be refuted (default 0.95).
        seed: The seed of the game (default 0).
    """
    claim = AuditedClaim.of(process, noise_multiplier, noise, delta)
    most = 200 if runs is None else runs
    if most < 1:
        raise InvalidParameter("runs", "at least 1", runs)
    game = ManyCanaries(process, claim.noise_multiplier, noise, 4_000 if canaries is None else canaries)
    graph, bits = CanaryGraph.planted(game.canaries, game.out_degree), SeededBits(seed)
    betting = Betting(game.canaries, claim.claim, claim.delta, 1 - confidence)
    while betting.runs < most and not betting.refuted:
        betting.see(game.play(bits, graph))
    return SequentialAudit(
        **claim.facts(),
        refuted=betting.refuted,
        epsilon_lower=betting.epsilon_lower(),
        error=1 - confidence,
        runs=betting.runs,
        most_runs=most,
        canaries=game.canaries,
        log_fortune=betting.log_fortune,
    )


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
