"""Figures after the words "at most": rounded up, in this one place."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal

__all__ = ["at_most", "odds_factor"]

_LARGEST = 700.0  # beyond it e^epsilon is no double any more


def at_most(figure: float, digits: int = 4) -> str:
    """Write a figure with so many digits, and never less than it is.

    What exceeds a short decimal by the last bits of a double is that decimal.

    >>> at_most(0.90191), at_most(2.0), at_most(0.00087912), at_most(700.0005), at_most(0.1), at_most(1e-5)
    ('0.902', '2', '0.0008792', '700.1', '0.1', '1e-05')
    """
    exact = Decimal(float(figure))
    rounded = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(exact - abs(exact) * Decimal("1e-15"))
    return f"{rounded.normalize():f}" if 1e-4 <= abs(rounded) < 10**6 else f"{float(rounded):g}"


def odds_factor(epsilon: float) -> str:
    """Write e^epsilon, the factor by which odds can change, with three digits and rounded up.

    >>> odds_factor(1.0), odds_factor(1e-12), odds_factor(0.0), odds_factor(700.0005)
    ('2.72', '1.01', '1', 'e^700.1')
    """
    if epsilon >= _LARGEST:
        return f"e^{at_most(epsilon)}"
    return at_most(max(math.exp(epsilon), 1 + 1e-12) if epsilon else 1.0, 3)  # the least budget is not nothing
