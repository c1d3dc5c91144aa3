"""Did the private features help? One sentence, from the same seeds with and without them."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

__all__ = ["verdict"]


def verdict(private: list[float], control: list[float], *, unit: str = "points") -> str:
    """Compare paired figures of the same seeds by a t-test with 95 % confidence (two-sided).

    >>> verdict([84.0, 85.0, 84.5], [80.0, 81.2, 80.4])
    'The private features beat the structure-only control by 4.0 +- 0.4 points (95 % confidence, 3 seeds).'
    >>> verdict([84.0, 85.0], [84.2, 84.7])[:45]
    'The private features do not beat the structur'
    """
    differences = np.asarray(private, dtype=float) - np.asarray(control, dtype=float)
    count = len(differences)
    mean = float(differences.mean())
    if count < 2:
        return f"One seed cannot tell whether the private features helped: {mean:+.1f} {unit}; use --seeds 5."
    margin = float(stats.t.ppf(0.975, count - 1)) * float(differences.std(ddof=1)) / math.sqrt(count)
    figures = f"{abs(mean):.1f} +- {margin:.1f} {unit} (95 % confidence, {count} seeds)"
    if mean > margin:
        return f"The private features beat the structure-only control by {figures}."
    if mean < -margin:
        return f"The private features hurt: the structure-only control is better by {figures}."
    return (
        f"The private features do not beat the structure-only control beyond noise: {mean:+.1f} +- {margin:.1f} {unit}."
    )
