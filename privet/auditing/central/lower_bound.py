"""From observations in two worlds: how well they tell who took part, and an epsilon that is necessary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from privet.auditing.central.trade_off import NoiseFamily, TradeOff
from privet.errors import InvalidData, InvalidParameter

__all__ = ["advantage", "epsilon_lower_bound", "family_lower_bound", "largest_advantage"]

Array = NDArray[np.float64]

_CAUTION = 0.999  # while choosing among many events, lest the luckiest be taken for the best


class _Event(NamedTuple):
    """An event: scores of at least a threshold, or of at most one if the sign is -1."""

    sign: int
    threshold: float

    def rates(self, with_target: Array, without: Array, confidence: float) -> tuple[float, float]:
        """Return a lower bound of its rate in the world that it speaks for, an upper one in the other world."""
        upper, lower = (with_target, without) if self.sign == 1 else (without, with_target)
        hits, alarms = (int((self.sign * side >= self.threshold).sum()) for side in (upper, lower))
        miss, runs = (1 - confidence) / 2, upper.size
        low = float(beta.ppf(miss, hits, runs - hits + 1)) if hits else 0.0
        high = float(beta.ppf(1 - miss, alarms + 1, runs - alarms)) if alarms < runs else 1.0
        return low, high


def epsilon_lower_bound(with_target: Array, without: Array, delta: float, confidence: float = 0.95) -> float:
    """Return an epsilon that the mechanism exceeds with probability ``confidence``, without further assumptions.

    (epsilon, delta)-DP means Pr[A | with] <= e^epsilon Pr[A | without] + delta for every event A, and the same with the
    worlds exchanged. A third of the runs chooses the event (a threshold and a direction); the rest measures it, with
    Clopper-Pearson bounds of both rates.

    Args:
        with_target: Scores of runs with the target.
        without: Scores of as many runs without it.
        delta: The delta of the claim.
        confidence: The probability with which the bound holds (default 0.95).
    """
    chosen = _chosen_runs(with_target, without)
    first = with_target[:chosen], without[:chosen]
    event = max(_events(*first), key=lambda each: (_epsilon(each.rates(*first, _CAUTION), delta), each))
    return _epsilon(event.rates(with_target[chosen:], without[chosen:], confidence), delta)


def family_lower_bound(
    with_target: Array, without: Array, family: NoiseFamily, around: float, delta: float, confidence: float = 0.95
) -> float:
    """Return the same if the mechanism's trade-off curve is that of the process with *some* amount of Gaussian noise.

    With the shape given, the event that tells the curves apart best need not be as rare as delta. The bound says
    nothing about a mechanism whose curve has another shape.

    Args:
        with_target: Scores of runs with the target.
        without: Scores of as many runs without it.
        family: The curves.
        around: A noise multiplier near which to look.
        delta: The delta at which epsilon is read.
        confidence: The probability with which the bound holds (default 0.95).
    """
    chosen = _chosen_runs(with_target, without)
    first = with_target[:chosen], without[:chosen]
    rated = [(event, event.rates(*first, _CAUTION)) for event in _events(*first)]
    noise = family.least_refuted(lambda curve: any(_refutes(rates, curve) for _, rates in rated), around)
    if math.isinf(noise):
        return 0.0
    curve = family.curve(noise)
    event, _ = max(rated, key=lambda each: (curve.least_alarms(each[1][0]) - each[1][1], each[0]))
    rates = event.rates(with_target[chosen:], without[chosen:], confidence)
    return family.epsilon_lower(lambda curve: _refutes(rates, curve), around, delta)


def _chosen_runs(with_target: Array, without: Array) -> int:
    if min(with_target.size, without.size) < 40:
        raise InvalidParameter("runs", "at least 40 in each world", with_target.size)
    return with_target.size // 3


def _events(with_target: Array, without: Array) -> Iterator[_Event]:
    for sign, upper in ((1, with_target), (-1, without)):
        for threshold in np.quantile(sign * upper, 1 - np.geomspace(0.7, 10 / upper.size, 20)):
            yield _Event(sign, float(threshold))


def _refutes(rates: tuple[float, float], curve: TradeOff) -> bool:
    low, high = rates
    return curve.least_alarms(low) > high


def _epsilon(rates: tuple[float, float], delta: float) -> float:
    low, high = rates
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def advantage(members: Array, others: Array) -> float:
    """Return the largest true-positive minus false-positive rate of calling those with large scores members.

    Args:
        members: Scores of runs with the target.
        others: Scores of runs without it.

    >>> advantage(np.array([1.0, 3.0]), np.array([0.0, 1.0]))
    0.5
    """
    if not members.size or not others.size:
        raise InvalidData("A membership attack needs scores of at least one member and of at least one other.")
    thresholds = np.unique(np.concatenate([members, others]))
    hits, alarms = (1 - np.searchsorted(np.sort(x), thresholds, side="right") / x.size for x in (members, others))
    return float(max(0.0, (hits - alarms).max()))


def largest_advantage(epsilon: float, delta: float) -> float:
    """Return (e^epsilon - 1 + 2 delta) / (e^epsilon + 1), which no attack on a private release can exceed."""
    return min(1.0, math.tanh(epsilon / 2) + 2 * delta / (math.exp(min(epsilon, 700.0)) + 1))
