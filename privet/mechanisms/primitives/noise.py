"""Spherical noise for sums of bounded vectors: Gaussian, and the symmetric multivariate Laplace of HeterPoisson.

The noise is made from uniform words of a :class:`~privet.mechanisms.primitives.bits.Bits`, so that training draws it
from the operating system's cryptographic source and a simulation repeats it from a seed.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.bits import Bits

__all__ = ["Noise", "noisy_sum", "standard_normal"]

Noise: TypeAlias = Literal["gaussian", "sml"]

_SUMMED = 2  # makes the search for an origin (Mironov 2012) longer; it does not make the noise sound in floating point


def standard_normal(count: int, bits: Bits) -> NDArray[np.float64]:
    """Draw numbers of N(0, 1), each the sum of two by Box and Muller, sqrt(-2 ln u) cos(2 pi v), over sqrt(2).

    The distribution is that of real numbers up to rounding: the low bits of a double can still tell its origin.

    >>> from privet.mechanisms import SeededBits
    >>> standard_normal(3, SeededBits(0)).shape
    (3,)
    """
    words = bits.words(2 * _SUMMED * count)
    uniform = ((words >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53  # in (0, 1]
    radius, angle = uniform.reshape(2, _SUMMED, count)
    draws = np.sqrt(-2.0 * np.log(radius)) * np.cos(2.0 * np.pi * angle)
    return np.asarray(draws.sum(axis=0) / np.sqrt(_SUMMED))


def noisy_sum(
    clipped_sum: NDArray[np.floating], sigma: float, bits: Bits, *, noise: Noise = "gaussian"
) -> NDArray[np.float64]:
    """The vector plus noise of standard deviation ``sigma`` in each coordinate.

    "gaussian" is N(0, sigma^2 I). "sml" is sqrt(W) N(0, sigma^2 I) with one W ~ Exp(1) for the whole vector
    (Algorithm 4 of HeterPoisson); its coordinates are uncorrelated but not independent.
    """
    if noise not in get_args(Noise):
        raise InvalidParameter("noise", "noisy_sum", f"one of {', '.join(get_args(Noise))}", noise)
    if not 0 <= sigma < np.inf:
        raise InvalidParameter("sigma", "noisy_sum", "a finite number of at least 0", sigma)
    vector = np.asarray(clipped_sum, dtype=np.float64)
    scale = sigma * np.sqrt(_exponential(bits)) if noise == "sml" else sigma
    return np.asarray(vector + scale * standard_normal(vector.size, bits).reshape(vector.shape))


def _exponential(bits: Bits) -> float:
    """One draw of Exp(1)."""
    return float(-np.log((float(bits.words(1)[0] >> np.uint64(11)) + 1.0) * 2.0**-53))
