"""The error of an average over neighbours: the papers' theorems, with their constants.

A server averages independent unbiased estimates x'_u with weights w_u, as a mean over n neighbours (w_u = 1 / n) or as
a row of PageRank. With V the largest variance of an estimate and B the largest error of one, Bernstein's inequality
gives for each of d features

    Pr[ |sum_u w_u (x'_u - x_u)| > t ] <= 2 exp(-t^2 / (2 V sum_u w_u^2 + (2/3) B max_u w_u t)),

and over all features at once d times as much. This is LPGNN's Proposition 3.6 for multi-bit reports and a mean, and
PrivGE's Theorems 3.4 (Laplace) and 3.7 (piecewise, multi-bit) for PageRank, where the papers print the order alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privet.errors import InvalidParameter
from privet.mechanisms import HDS
from privet.mechanisms.core.coordinates import CoordinateMechanism

__all__ = ["AverageError", "average_error", "raw_output_error"]


@dataclass(frozen=True)
class AverageError:
    """The error of an average, in units of a feature's range.

    Attributes:
        neighbours: The number of neighbours whose plain mean errs as much.
        features: The number of features.
        deviation: The largest standard deviation of one feature's average.
        bound: The error that no feature exceeds, but for the probability ``failure``.
        failure: That probability.
    """

    neighbours: float
    features: int
    deviation: float
    bound: float
    failure: float

    def in_words(self) -> str:
        """Return a sentence for somebody who plans a study."""
        worst = "at most" if self.features == 1 else f"the worst of {self.features:,} features at most"
        about, most = (f"{each:,.2g}" if each < 10 else f"{each:,.0f}" for each in (self.deviation, self.bound))
        return (
            f"off by about {about} of the range of a feature; {worst} {most}, with {1 - self.failure:.0%} probability"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "neighbours": self.neighbours,
            "features": self.features,
            "deviation": self.deviation,
            "bound": self.bound,
            "failure": self.failure,
        }


def average_error(
    mechanism: CoordinateMechanism,
    neighbours: float | None = None,
    *,
    weights: ArrayLike | None = None,
    failure: float = 0.05,
) -> AverageError:
    """Return the error of an average of unbiased estimates, whatever the features are.

    Args:
        mechanism: The mechanism of the reports.
        neighbours: The number n of neighbours of a plain mean; give this or ``weights``.
        weights: The weight of each neighbour, such as a row of PageRank.
        failure: The probability with which some feature may be off by more than the bound.

    >>> from privet.mechanisms import MultiBit
    >>> error = average_error(MultiBit(epsilon=1.0, dimension=100, low=0.0, high=1.0), 20)
    >>> round(error.deviation, 2), round(error.bound, 1)
    (2.42, 33.0)
    """
    if (neighbours is None) == (weights is None):
        raise InvalidParameter("Give the number of 'neighbours' of a mean, or the 'weights' of an average.")
    if not 0 < failure < 1:
        raise InvalidParameter("failure", "a probability between 0 and 1", failure)
    if neighbours is not None and not 0 < neighbours < math.inf:
        raise InvalidParameter("neighbours", "a number above 0", neighbours)
    shares = np.asarray(1.0 if weights is None else weights, dtype=np.float64)
    squares = 1 / neighbours if neighbours is not None else float((shares**2).sum())
    largest = 1 / neighbours if neighbours is not None else float(np.abs(shares).max())
    span = np.asarray(mechanism.high, dtype=np.float64) - np.asarray(mechanism.low, dtype=np.float64)
    variance = float((mechanism.variance(mechanism.worst_values()) / span**2).max())
    error = mechanism.influence() / 2 / float(np.min(span)) + 0.5  # a report at one end, the truth at the other
    logarithm = math.log(2 * mechanism.dimension / failure)
    bound = _smallest(2 * variance * squares, 2 / 3 * error * largest, logarithm)
    return AverageError(1 / squares, mechanism.dimension, math.sqrt(variance * squares), bound, failure)


def raw_output_error(
    mechanism: HDS, neighbours: float | None = None, *, weights: ArrayLike | None = None, failure: float = 0.05
) -> AverageError:
    """Return the error of an average of HDS' raw output, which PrivGE propagates: Theorem 3.3 with its constants.

    The output is C times the unbiased estimate about the middle of the range, so its noise shrinks with C and a bias of
    up to 1 - C halves of the range remains. For small C nearly all of the error is this bias: the output hardly depends
    on the features, which is why the theorem's order has no epsilon in it.

    Args:
        mechanism: HDS.
        neighbours: As for :func:`average_error`.
        weights: As for :func:`average_error`.
        failure: As for :func:`average_error`.
    """
    unbiased, kept = average_error(mechanism, neighbours, weights=weights, failure=failure), mechanism.shrinkage
    bound = kept * unbiased.bound + (1 - kept) / 2
    return AverageError(unbiased.neighbours, unbiased.features, kept * unbiased.deviation, bound, failure)


def _smallest(variance: float, slope: float, logarithm: float) -> float:
    """Solve t^2 = logarithm (variance + slope t) for t > 0."""
    half = slope * logarithm / 2
    return half + math.sqrt(half**2 + logarithm * variance)
