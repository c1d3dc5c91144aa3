"""DP-SGD without a graph: Poisson-subsampled Gaussian releases, add or remove one example."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from privet.errors import InvalidParameter
from privet.privacy.accounting.calibration import least_noise
from privet.privacy.accounting.losses import Losses, loss_step, mixture_losses
from privet.privacy.guarantee import check_epsilon

__all__ = ["GaussianReleases", "composed_epsilon", "composed_scale", "dpsgd_epsilon", "dpsgd_sigma"]


@dataclass(frozen=True)
class GaussianReleases:
    """``count`` noisy sums over examples sampled at ``rate``; the noise is ``noise_multiplier`` sensitivities."""

    noise_multiplier: float
    rate: float = 1.0
    count: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.noise_multiplier < math.inf:
            expected = "a finite number above 0"
            raise InvalidParameter("noise_multiplier", "GaussianReleases", expected, self.noise_multiplier)
        if not 0 < self.rate <= 1:
            raise InvalidParameter("rate", "GaussianReleases", "a sampling rate in (0, 1]", self.rate)
        if self.count < 1 or self.count != int(self.count):
            raise InvalidParameter("count", "GaussianReleases", "a whole number of at least 1", self.count)

    def losses(self, step: float) -> tuple[Losses, Losses]:
        """Their privacy losses in both directions, on a grid of this step."""
        one = mixture_losses(self.noise_multiplier / 2, np.array([1 - self.rate, self.rate]), step)  # sensitivity 1/2
        return one[0].composed(self.count), one[1].composed(self.count)


def composed_epsilon(releases: Iterable[GaussianReleases], delta: float) -> float:
    """Epsilon at delta of all of them together, the worse of the two directions.

    >>> round(composed_epsilon([GaussianReleases(10.0), GaussianReleases(2.0, rate=0.1, count=50)], 1e-5), 2)
    1.7
    """
    given = list(releases)
    if not 0 < delta < 1:
        raise InvalidParameter("delta", "composed_epsilon", "a number in (0, 1)", delta)
    step = max(loss_step(release.noise_multiplier / 2, 0.5, finer=8) for release in given)
    forward, backward = zip(*(release.losses(step) for release in given), strict=True)
    return max(float(reduce(Losses.joined, side).epsilon(delta)) for side in (forward, backward))


def composed_scale(target_epsilon: float, releases: Iterable[GaussianReleases], delta: float) -> float:
    """A factor on all noise multipliers, to 0.1 %, with which the releases stay within the target."""
    target, given = check_epsilon(target_epsilon, "composed_scale", name="target_epsilon"), list(releases)

    def at(scale: float) -> float:
        return composed_epsilon([replace(r, noise_multiplier=scale * r.noise_multiplier) for r in given], delta)

    return least_noise(at, target, "composed_scale")


def dpsgd_epsilon(noise_multiplier: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of DP-SGD; the noise's standard deviation is ``noise_multiplier`` times the clipping norm."""
    return composed_epsilon([GaussianReleases(noise_multiplier, rate, steps)], delta)


def dpsgd_sigma(target_epsilon: float, rate: float, steps: int, delta: float) -> float:
    """A noise multiplier whose epsilon is at most the target; never weaker than asked."""
    return composed_scale(target_epsilon, [GaussianReleases(1.0, rate, steps)], delta)
