"""Noise for a target epsilon, by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable

from privet.errors import InvalidParameter

__all__ = ["least_noise"]

_LARGEST = 2.0**14  # the accountants count more noise than about this as this much
_SMALLEST = 2.0**-14

Epsilon = Callable[[float], float]


def least_noise(epsilon_at: Epsilon, target: float, owner: str, lower_bound: Epsilon | None = None) -> float:
    """Return little more than the least noise with epsilon_at(noise) <= target; the returned noise was evaluated.

    Args:
        epsilon_at: Epsilon as a function of the noise, which falls.
        target: The epsilon that must not be exceeded.
        owner: The process that an error names.
        lower_bound: A quick function that is never above ``epsilon_at`` and usually equal to it. Noise is searched
            with it to 0.1 %, then raised until ``epsilon_at`` is satisfied too (default: ``epsilon_at`` itself).

    >>> round(least_noise(lambda noise: 10 / noise, 2.0, "this"), 2)
    5.0
    """
    quick = lower_bound or epsilon_at
    low, high = 0.5, 1.0
    while (reached := quick(high)) > target:
        if high >= _LARGEST:
            raise _out_of_reach(reached, target, owner)
        low, high = high, 2 * high
    while high <= 1.0 and quick(low) <= target:
        if low <= _SMALLEST:
            expected = f"smaller: at this delta even a noise multiplier of {low:.2g} stays within epsilon {target:g}"
            raise InvalidParameter("delta", owner, expected, "one at which no noise is needed")
        low, high = low / 2, low
    while high > low * 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if quick(middle) <= target else (middle, high)
    while lower_bound is not None and (reached := epsilon_at(high)) > target:
        if high >= _LARGEST:
            raise _out_of_reach(reached, target, owner)
        high *= max(1.001, min(reached / target, 4.0) ** 0.7)  # epsilon falls about as fast as noise^-1.4
    return high


def _out_of_reach(reached: float, target: float, owner: str) -> InvalidParameter:
    within = "a larger one: no noise reaches it" if math.isinf(reached) else f"at least {reached:.2g}"
    return InvalidParameter("target_epsilon", owner, f"{within} at this delta and number of steps", target)
