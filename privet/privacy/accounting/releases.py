"""Gaussian noise on sums over Poisson-sampled examples, several such releases composed; add or remove one example."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from privet.errors import InvalidParameter
from privet.privacy.accounting.losses import Losses, loss_step, mixed_losses, paper_sigma

__all__ = ["GaussianReleases", "composed_losses"]

_SENSITIVITY = 0.5  # of a sum whose noise is the paper's sigma


@dataclass(frozen=True)
class GaussianReleases:
    """Noisy sums over examples that are sampled independently.

    Args:
        noise_multiplier: The noise's standard deviation over the largest norm of an example.
        rate: The probability of an example to be in a sum (default 1).
        count: The number of sums (default 1).
    """

    noise_multiplier: float
    rate: float = 1.0
    count: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.noise_multiplier < math.inf:
            expected = "a finite number above 0"
            raise InvalidParameter("noise_multiplier", expected, self.noise_multiplier)
        if not 0 < self.rate <= 1:
            raise InvalidParameter("rate", "a sampling rate in (0, 1]", self.rate)
        if self.count < 1 or self.count != int(self.count):
            raise InvalidParameter("count", "a whole number of at least 1", self.count)

    def losses(self, step: float) -> tuple[Losses, Losses]:
        """Return their privacy losses in both directions, on a grid of this step."""
        weights = np.array([1 - self.rate, self.rate])
        forward, backward = mixed_losses(paper_sigma(self.noise_multiplier), [weights], np.ones(1), step=step)
        return forward.composed(self.count), backward.composed(self.count)


def composed_losses(releases: Iterable[GaussianReleases], *, finer: int = 4) -> tuple[Losses, Losses]:
    """Return the privacy losses of all releases together, in both directions; epsilon is that of the worse one.

    Args:
        releases: At least one of them; each may depend on what the earlier ones showed.
        finer: How much finer than necessary privacy losses are resolved (default 4).

    >>> sides = composed_losses([GaussianReleases(10.0), GaussianReleases(2.0, rate=0.1, count=50)])
    >>> round(max(side.epsilon(1e-5) for side in sides), 2)
    1.7
    """
    given = list(releases)
    step = max(loss_step(paper_sigma(each.noise_multiplier), _SENSITIVITY, finer) for each in given)
    forward, backward = zip(*(each.losses(step) for each in given), strict=True)
    return reduce(Losses.joined, forward), reduce(Losses.joined, backward)
