"""The price of running on a computer: how far the program's noise may be from the Gaussian noise of the proofs.

Sums are integers on a public grid. Their noise is the rounded Gaussian up to three errors in each draw
(:mod:`privet.mechanisms.primitives.gaussian`): a factor of e^RATIO in every probability, up or down; a mass of at most
EXTRA that the program puts where there should be less; and a mass of at most TAIL where the program puts nothing.
If real noise makes a run (epsilon, delta)-private, then n such draws make it

    (epsilon + 2 n RATIO,  e^(n RATIO) delta + n EXTRA + e^(epsilon + 2 n RATIO) n TAIL)-private.

Proof: let P', Q' be the distributions of the program and P, Q those with real noise. For every set S of outputs

    P'(S) <= e^(n RATIO) P(S) + n EXTRA <= e^(n RATIO) (e^epsilon Q(S) + delta) + n EXTRA,
    Q(S) <= e^(n RATIO) Q'(S) + n TAIL.

Every run is charged for n = DRAWS, whatever the size of its network, so that an account need not know it; a run that
would draw more is refused. A share of delta is set aside for what the second figure has more than delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["DRAWS", "EXTRA", "MOST_DRAWS", "RATIO", "TAIL", "ProgramPrice", "program_epsilon", "program_price"]

RATIO = 2.0**-48
"""The largest logarithm of a factor between a probability of the program and of the rounded Gaussian, in one draw."""
EXTRA = 2.0**-127
"""The largest mass that one draw has beyond that factor."""
TAIL = 2.0**-740
"""The largest mass of the rounded Gaussian that one draw leaves out."""
DRAWS = 2**33
"""The largest number of noise values in a run."""
MOST_DRAWS = DRAWS // 2
"""The largest number in training, and in one release beside it: a million weights for more than 4,000 steps."""

_SHARES = (2.0**-10, 0.5)


@dataclass(frozen=True)
class ProgramPrice:
    """The price of a run of the program.

    Attributes:
        epsilon: An epsilon that holds for the program; infinite where none was found.
        real_epsilon: The part of it that real Gaussian noise needs.
        real_delta: The part of delta that was left to real Gaussian noise.
    """

    epsilon: float
    real_epsilon: float
    real_delta: float


def program_epsilon(real_epsilon: Callable[[float], float], delta: float) -> float:
    """Return an epsilon that holds for the program; infinite where none was found.

    >>> program_epsilon(lambda delta: 1.0, 1e-5) - 1.0 <= 2.0**-14
    True
    """
    return program_price(real_epsilon, delta).epsilon


def program_price(real_epsilon: Callable[[float], float], delta: float) -> ProgramPrice:
    """Return the same with its parts.

    Args:
        real_epsilon: Returns the epsilon of real Gaussian noise for a delta.
        delta: The delta of the program.
    """
    for share in _SHARES:
        real = real_epsilon(delta * (1 - share))
        epsilon = real + 2 * DRAWS * RATIO
        if math.isinf(epsilon):
            break
        left_out = math.exp(min(epsilon, 700.0)) * DRAWS * TAIL
        spent = math.expm1(DRAWS * RATIO) * delta + DRAWS * EXTRA + left_out
        if spent <= share * delta:
            return ProgramPrice(epsilon, real, delta * (1 - share))
    return ProgramPrice(math.inf, math.inf, delta)
