"""Confidence intervals of means over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["CONFIDENCE", "half_width"]

CONFIDENCE = 0.95


def half_width(values: Sequence[float] | NDArray[np.float64], confidence: float = CONFIDENCE) -> float | None:
    """Return half the width of Student's interval for the mean; None for one value, which tells nothing about it.

    >>> round(half_width([84.0, 85.0, 86.0]), 2)
    2.48
    """
    count = len(values)
    if count < 2:
        return None
    spread = float(np.std(values, ddof=1)) / math.sqrt(count)
    return float(stats.t.ppf((1 + confidence) / 2, count - 1)) * spread
