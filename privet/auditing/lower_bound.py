"""From observations in two worlds to an epsilon that is necessary, with stated confidence."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from privet.errors import InvalidParameter

__all__ = ["epsilon_lower_bound"]

Array = NDArray[np.float64]

_CAUTION = 0.999  # while choosing among many events, lest the luckiest be taken for the best


def epsilon_lower_bound(with_target: Array, without: Array, delta: float, confidence: float = 0.95) -> float:
    """An epsilon that the mechanism exceeds with probability ``confidence``.

    (epsilon, delta)-DP means Pr[A | with] <= e^epsilon Pr[A | without] + delta for every event A, and the same with the
    worlds exchanged. A third of the runs chooses the event (a threshold and a direction); the rest measures it.
    """
    if min(with_target.size, without.size) < 40:
        raise InvalidParameter("runs", "epsilon_lower_bound", "at least 40 in each world", with_target.size)
    chosen = with_target.size // 3
    choices = []
    for sign in (1, -1):
        upper, lower = (with_target, without) if sign == 1 else (without, with_target)
        thresholds = np.quantile(sign * upper[:chosen], 1 - np.geomspace(0.7, 10 / chosen, 20))
        for threshold in thresholds:
            hits, alarms = (int((sign * side[:chosen] >= threshold).sum()) for side in (upper, lower))
            choices.append((_bound(hits, alarms, chosen, delta, _CAUTION), sign, float(threshold)))
    _, sign, threshold = max(choices)
    upper, lower = (with_target, without) if sign == 1 else (without, with_target)
    hits, alarms = (int((sign * side[chosen:] >= threshold).sum()) for side in (upper, lower))
    return _bound(hits, alarms, with_target.size - chosen, delta, confidence)


def _bound(hits: int, alarms: int, runs: int, delta: float, confidence: float) -> float:
    """log((lower bound of the hit rate - delta) / upper bound of the false one), Clopper-Pearson for both."""
    miss = (1 - confidence) / 2
    low = float(beta.ppf(miss, hits, runs - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - miss, alarms + 1, runs - alarms)) if alarms < runs else 1.0
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0
