"""How many of many guesses about independent coins can be right under a claim of privacy, after a single run.

Each of m canaries takes part by a fair coin of its own. An observer of the run guesses some of the coins and
abstains from the others. Two bounds on the probability of so many right guesses are here:

- Steinke, Nasr, Jagielski 2023 (arXiv 2305.08846, Theorem 5.2) for (epsilon, delta): each guess counts as randomised
  response, and a total of 2 m delta guesses may be given away.
- Mahloujifar, Melis, Chaudhuri 2025 (arXiv 2410.22235) for a whole trade-off curve. Let p_w be the probability of w
  right guesses out of r. Given all other coins, guess i is right together with at least j - 1 others no more often
  than the curve allows from the probability that it is wrong together with the same others. The curve is concave, so
  the average over coins and canaries obeys it too:

      sum_(w >= j) (w / m) p_w <= curve(sum_(w >= j - 1) ((r - w) / m) p_w)      for every j.

  From an assumed tail probability, these lines force more and more probability on smaller w. If the total exceeds 1,
  the assumption was wrong.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtrc, expit

from privet.auditing.central.trade_off import TradeOff
from privet.errors import InvalidParameter

__all__ = ["chance_under_budget", "chance_under_curve", "is_rarer_than", "largest_refuted_epsilon"]

_BISECTIONS = 40


def chance_under_budget(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    """Bound the probability of so many correct guesses under (epsilon, delta)-privacy (Steinke and others).

    Args:
        canaries: The number of independent coins, m.
        guesses: The number of coins that are guessed; the others are abstained from.
        correct: The number of guesses that are right.
        epsilon: The claimed epsilon.
        delta: The claimed delta.

    >>> chance_under_budget(100, 10, 10, 0.0, 0.0) == 2.0**-10
    True
    """
    _check(canaries, guesses, correct)
    chance = float(expit(epsilon))
    beyond = float(bdtrc(correct - 1.0, guesses, chance)) if correct else 1.0
    if delta == 0 or not correct:
        return beyond
    given = np.arange(1, correct + 1)
    at_least = np.append(bdtrc(correct - 1.0 - given[:-1], guesses, chance), 1.0)  # correct - given right guesses
    gained = float(((at_least - beyond) / given).max())
    return min(1.0, beyond + 2 * canaries * delta * gained)


def chance_under_curve(canaries: int, guesses: int, correct: int, claim: TradeOff) -> float:
    """Bound the probability of so many correct guesses under a trade-off curve (Mahloujifar and others).

    Args:
        canaries: The number of independent coins, m.
        guesses: The number of coins that are guessed; the others are abstained from.
        correct: The number of guesses that are right.
        claim: The curve.
    """
    _check(canaries, guesses, correct)
    if not is_rarer_than(1.0, canaries, guesses, correct, claim):
        return 1.0
    low, high = -60.0 * math.log(10), 0.0
    if is_rarer_than(math.exp(low), canaries, guesses, correct, claim):
        return math.exp(low)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        rarer = is_rarer_than(math.exp(middle), canaries, guesses, correct, claim)
        low, high = (low, middle) if rarer else (middle, high)
    return math.exp(high)


def is_rarer_than(chance: float, canaries: int, guesses: int, correct: int, claim: TradeOff) -> bool:
    """Tell whether the curve leaves less than this probability to so many correct guesses.

    Args:
        chance: The probability to compare with.
        canaries: The number of independent coins, m.
        guesses: The number of coins that are guessed.
        correct: The number of guesses that are right.
        claim: The curve.
    """
    right, wrong = chance * correct / canaries, chance * (guesses - correct) / canaries
    whole, least_alarms = guesses / canaries, claim.least_alarms
    for number in range(correct - 1, -1, -1):
        needed = least_alarms(right)
        if needed <= wrong:
            break  # nothing is forced any more
        right += number / (guesses - number) * (needed - wrong)
        wrong = needed
        if right + wrong > whole:
            return True
    return right + wrong > whole


def largest_refuted_epsilon(
    canaries: int, guesses: int, correct: int, delta: float, error: float, *, by_curve: bool = True
) -> float:
    """Return the largest epsilon that so many correct guesses refute at this delta; 0 if none.

    Args:
        canaries: The number of independent coins, m.
        guesses: The number of coins that are guessed.
        correct: The number of guesses that are right.
        delta: The delta of the claim.
        error: The probability with which the bound may be wrong.
        by_curve: True (default) for the bound by the curve of (epsilon, delta), False for Steinke's theorem.
    """

    def refuted(epsilon: float) -> bool:
        if by_curve:
            return is_rarer_than(error, canaries, guesses, correct, TradeOff.approximate(epsilon, delta))
        return chance_under_budget(canaries, guesses, correct, epsilon, delta) <= error

    if not refuted(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while refuted(high) and high < 64:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _check(canaries: int, guesses: int, correct: int) -> None:
    if not 0 <= correct <= guesses <= canaries or guesses == 0:
        expected = "from 1 to the number of canaries, and at least the number of correct ones"
        raise InvalidParameter("guesses", expected, guesses)
