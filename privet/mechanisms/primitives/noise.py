"""Spherical noise in double precision, for simulations and for the published noise of HeterPoisson.

What is released with a promise has integer noise instead: :mod:`privet.mechanisms.primitives.grid`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.mechanisms.primitives.bits import Bits

__all__ = ["Noise", "sml_noise", "standard_normal"]

Noise: TypeAlias = Literal["gaussian", "sml"]


def standard_normal(count: int, bits: Bits) -> NDArray[np.float64]:
    """Draw numbers of N(0, 1) by Box and Muller, sqrt(-2 ln u) cos(2 pi v).

    The distribution is that of real numbers up to rounding: the low bits of a noisy double can tell its origin.

    Args:
        count: The number of draws.
        bits: The source of randomness.

    >>> from privet.mechanisms import SeededBits
    >>> standard_normal(3, SeededBits(0)).shape
    (3,)
    """
    uniform = ((bits.words(2 * count) >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53  # in (0, 1]
    radius, angle = uniform.reshape(2, count)
    return np.asarray(np.sqrt(-2.0 * np.log(radius)) * np.cos(2.0 * np.pi * angle))


def sml_noise(shape: tuple[int, ...], sigma: float, bits: Bits) -> NDArray[np.float64]:
    """Draw a vector of symmetric multivariate Laplace noise, sqrt(W) N(0, sigma^2 I) with one W ~ Exp(1).

    It is Algorithm 4 of HeterPoisson. Coordinates are uncorrelated but not independent.

    Args:
        shape: The shape of the vector.
        sigma: The standard deviation of each coordinate.
        bits: The source of randomness.
    """
    scale = sigma * np.sqrt(_exponential(bits))
    return np.asarray(scale * standard_normal(int(np.prod(shape)), bits).reshape(shape))


def _exponential(bits: Bits) -> float:
    """Draw one number of Exp(1)."""
    return float(-np.log((float(bits.words(1)[0] >> np.uint64(11)) + 1.0) * 2.0**-53))
