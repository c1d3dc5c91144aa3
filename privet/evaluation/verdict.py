"""Did the private features help? One sentence, from the same seeds with and without them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["confidence_margin", "needless", "verdict"]

_TOO_WIDE = 20.0  # points of accuracy


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
    margin = confidence_margin(differences)
    certainty = f"(95 % confidence, {count} seeds)"
    begin = subject[0].upper() + subject[1:]
    if mean > margin:
        return f"{begin} help: {mean:.1f} +- {margin:.1f} points above {against} {certainty}."
    if margin > _TOO_WIDE:
        few = f"{mean:+.1f} +- {margin:.1f} points against {against} {certainty}"
        return f"{count} seeds cannot tell whether {subject} helped: {few}; use --seeds 5."
    if mean < -margin:
        return f"{begin} hurt: {-mean:.1f} +- {margin:.1f} points below {against} {certainty}."
    return f"{begin} do not help beyond noise: {mean:+.1f} +- {margin:.1f} points against {against} {certainty}."


def needless(private: list[float], simpler: list[float], name: str) -> str:
    """A sentence if something that needs none of the private features does as well, otherwise nothing.

    >>> needless([60.7, 60.9], [59.5, 59.7], "label propagation, which needs no features,")
    ''
    >>> needless([40.0, 41.0], [59.2, 59.4], "label propagation, which needs no features,")
    'But label propagation, which needs no features, gives 59.3: they need not be collected for this.'
    """
    differences = np.asarray(private, dtype=float) - np.asarray(simpler, dtype=float)
    margin = confidence_margin(differences) if len(differences) > 1 else 0.0
    if float(differences.mean()) > margin:
        return ""
    return f"But {name} gives {float(np.mean(simpler)):.1f}: they need not be collected for this."


def confidence_margin(values: Sequence[float] | NDArray[np.float64], confidence: float = 0.95) -> float:
    """Half the width of Student's interval for the mean of at least two values.

    >>> round(confidence_margin([1.0, 2.0, 3.0]), 2)
    2.48
    """
    spread = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return float(stats.t.ppf((1 + confidence) / 2, len(values) - 1)) * spread
