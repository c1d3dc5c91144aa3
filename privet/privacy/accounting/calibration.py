"""Noise for a target epsilon, by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable

from privet.errors import InvalidParameter

__all__ = ["least_noise"]

_LARGEST = 2.0**14  # the accountants count more noise than about this as this much
_SMALLEST = 2.0**-14
_USUAL_EXPONENT = 1.4  # epsilon falls about as noise^-1.4
_CLOSE, _AIM = 0.998, 0.999  # parts of the target: close enough, and what is aimed at

Epsilon = Callable[[float], float]


def least_noise(epsilon_at: Epsilon, target: float, lower_bound: Epsilon | None = None) -> float:
    """Return little more than the least noise with epsilon_at(noise) <= target; the returned noise was evaluated.

    Args:
        epsilon_at: Epsilon as a function of the noise, which falls.
        target: The epsilon that must not be exceeded.
        lower_bound: A quick function that is never above ``epsilon_at`` and usually equal to it. Noise is searched
            with it to 0.1 %, then raised until ``epsilon_at`` is satisfied too (default: ``epsilon_at`` itself).

    >>> round(least_noise(lambda noise: 10 / noise, 2.0), 2)
    5.0
    """
    quick = lower_bound or epsilon_at
    low, high = 0.5, 1.0
    while (reached := quick(high)) > target:
        if high >= _LARGEST:
            raise _out_of_reach(reached, target)
        low, high = high, 2 * high
    while high <= 1.0 and quick(low) <= target:
        if low <= _SMALLEST:
            raise InvalidParameter(
                f"A delta that large needs no noise: {low:.2g} stays within epsilon {target:g}. Choose a smaller delta."
            )
        low, high = low / 2, low
    while high > low * 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if quick(middle) <= target else (middle, high)
    return high if lower_bound is None else _raised(epsilon_at, target, high)


def _raised(epsilon_at: Epsilon, target: float, noise: float) -> float:
    """Return noise that satisfies the target, from a start with usually too little, in few evaluations.

    Epsilon falls about as a power of the noise. So the next noise is where the power through the last two evaluations
    meets the target, a little below it, until one lies within 0.2 % of the target.
    """
    reached, exponent, too_little, enough = epsilon_at(noise), _USUAL_EXPONENT, noise, math.inf
    while not target * _CLOSE <= reached <= target:
        if reached > target and noise >= _LARGEST:
            raise _out_of_reach(reached, target)
        too_little, enough = (noise, enough) if reached > target else (too_little, noise)
        if enough <= too_little * 1.001:  # or the start was enough
            return enough
        factor = 4.0 if math.isinf(reached) else (reached / (target * _AIM)) ** (1 / exponent)
        guess = min(max(noise * min(factor, 4.0), too_little * 1.0005), _LARGEST)
        if guess >= enough:
            guess = math.sqrt(too_little * enough)
        found = epsilon_at(guess)
        if 0 < found < math.inf and found != reached and reached < math.inf:
            exponent = min(max(math.log(reached / found) / math.log(guess / noise), 0.2), 5.0)
        noise, reached = guess, found
    return noise


def _out_of_reach(reached: float, target: float) -> InvalidParameter:
    within = "a larger one: no noise reaches it" if math.isinf(reached) else f"at least {reached:.2g}"
    return InvalidParameter("target_epsilon", f"{within} at this delta and number of steps", target)
