"""Did the private features help? One sentence, from the same seeds with and without them."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

__all__ = ["verdict"]


def verdict(
    private: list[float],
    control: list[float],
    subject: str = "the private features",
    against: str = "structure only",
) -> str:
    """Compare paired figures of the same seeds by a t-test with 95 % confidence (two-sided).

    >>> verdict([84.0, 85.0, 84.5], [80.0, 81.2, 80.4])
    'The private features help: 4.0 +- 0.4 points above structure only (95 % confidence, 3 seeds).'
    >>> verdict([84.0, 85.0, 84.0], [84.5, 84.0, 84.5])[:58]
    'The private features do not help beyond noise: +0.0 +- 2.2'
    """
    differences = np.asarray(private, dtype=float) - np.asarray(control, dtype=float)
    count = len(differences)
    mean = float(differences.mean())
    if count < 2:
        return f"One seed cannot tell whether {subject} helped: {mean:+.1f} points against {against}; use --seeds 5."
    margin = float(stats.t.ppf(0.975, count - 1)) * float(differences.std(ddof=1)) / math.sqrt(count)
    certainty = f"(95 % confidence, {count} seeds)"
    begin = subject[0].upper() + subject[1:]
    if mean > margin:
        return f"{begin} help: {mean:.1f} +- {margin:.1f} points above {against} {certainty}."
    if mean < -margin:
        return f"{begin} hurt: {-mean:.1f} +- {margin:.1f} points below {against} {certainty}."
    return f"{begin} do not help beyond noise: {mean:+.1f} +- {margin:.1f} points against {against} {certainty}."
