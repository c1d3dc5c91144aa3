"""Noise for a target epsilon, by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable

from privet.errors import InvalidParameter

__all__ = ["least_noise"]

_LARGEST = 2.0**14  # the accountants count more noise than about this as this much


def least_noise(epsilon_at: Callable[[float], float], target: float, owner: str) -> float:
    """The least noise, to 0.1 %, with epsilon_at(noise) <= target. What is returned was evaluated.

    >>> round(least_noise(lambda noise: 10 / noise, 2.0, "this"), 2)
    5.0
    """
    low, high = 0.5, 1.0
    while (reached := epsilon_at(high)) > target:
        if high >= _LARGEST:
            within = "a larger one: no noise reaches it" if math.isinf(reached) else f"at least {reached:.2g}"
            raise InvalidParameter("target_epsilon", owner, f"{within} at this delta and number of steps", target)
        low, high = high, 2 * high
    while high <= 1.0 and epsilon_at(low) <= target:
        low, high = low / 2, low
    while high > low * 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if epsilon_at(middle) <= target else (middle, high)
    return high
