"""HeterPoisson without lines 15 to 22 of its Algorithm 2: centres stay in the sub-graphs of others (figure 6).

A node that is a centre then shifts the clipped sum by 1/2 *and* by 1 for each sub-graph that picked it. With
C ~ Bi(D, q) central out-neighbours and k ~ Bi(C, p) picks, independent of whether the node is central, the shift is at
most

    k        with probability (1 - q) Bi(k; C, p)
    k + 1/2  with probability q Bi(k; C, p)

and the rest of the proof in docs/accountant.md is unchanged: given all other coins it is a mixture of Gaussians against
one Gaussian, dominated by aligned shifts, and a law of k that is larger in distribution gives larger shifts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privet.graph.subgraphs import SubgraphSampler
from privet.privacy.accounting.calibration import least_noise
from privet.privacy.accounting.degrees import binomial, binomial_fractions, over_degrees, poisson, rounded_up
from privet.privacy.accounting.losses import Losses, compose_steps, mixed_losses
from privet.systems import HeterPoisson
from privet.systems.central._training_view import HeldGraph

__all__ = ["OverlappingHeterPoisson", "overlap_epsilon", "overlap_step"]

_TRUNCATED = 1e-6  # the part of a step's delta that truncations may use
_DEGREES = 24  # brackets that are looked at for the worst degree


@dataclass(frozen=True, kw_only=True)
class OverlappingHeterPoisson(HeterPoisson):
    """The sampler that keeps centres, with an accountant of its own. For comparison: it needs more noise."""

    def epsilon_of(self, noise_multiplier: float, num_nodes: int, delta: float) -> float:
        """The true epsilon of a run with this noise."""
        return overlap_epsilon(noise_multiplier / 2, *self._process(num_nodes), delta, num_nodes)

    def calibrated(self, target_epsilon: float, num_nodes: int, delta: float) -> float:
        """A noise multiplier whose true epsilon is at most the target."""
        (q, M, T), target = self._process(num_nodes), target_epsilon
        degree = min(math.floor(M), num_nodes - 1)

        def at_largest_unsampled(sigma: float) -> float:
            return compose_steps(overlap_step(sigma, q, M, delta / T, degree, degree), T, delta)

        sigma = least_noise(at_largest_unsampled, target, type(self).__name__)  # usually the worst degree, and quick
        while (found := overlap_epsilon(sigma, q, M, T, delta, num_nodes)) > target:
            sigma *= max(1.001, min(found / target, 4.0) ** 0.7)
        return 2 * sigma

    def sampler(self, held: HeldGraph) -> SubgraphSampler:
        """Algorithm 2 without its last loop."""
        return replace(super().sampler(held), keep_central=True)


@lru_cache(maxsize=256)
def overlap_epsilon(sigma: float, q: float, M: float, T: int, delta: float, num_nodes: int) -> float:
    """Epsilon of T steps at delta, for nodes of any out-degree in [0, num_nodes - 1]."""

    def bound(low: int, high: int) -> float:
        return compose_steps(overlap_step(sigma, q, M, delta / T, low, high), T, delta)

    return over_degrees(bound, M, num_nodes - 1, _DEGREES)[0]


def overlap_step(sigma: float, q: float, M: float, share: float, low: int, high: int) -> tuple[Losses, Losses]:
    """Losses of one step, in both directions, for every out-degree in [low, high]; ``share`` is a step's part of delta.

    k is largest in distribution for D = high and p = M / low, or below a Poisson law of mean -(C/D) low log(1 - M/low);
    either holds, and the one of smaller mean is taken.
    """
    truncated = _TRUNCATED * share
    if M == 0 or low <= M or high / low <= -low / M * math.log1p(-M / low):
        counts, chances, lost = rounded_up(*binomial(high, q, truncated / 2))
        pick = min(1.0, M / low) if low else 1.0
        laws = [binomial(int(count), pick, truncated / 2)[0] for count in counts]
    else:
        fractions, chances, lost = binomial_fractions(low, high, q, truncated / 2)
        laws = [poisson(-u * low * math.log1p(-M / low), truncated / 2) for u in fractions]
    return mixed_losses(sigma, [_weights(q, law) for law in laws], chances, lost)


def _weights(q: float, picked: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of the shifts 0, 1/2, 1, 3/2, ... of a node that k sub-graphs pick with probability ``picked[k]``."""
    return np.outer(picked, [1 - q, q]).ravel()
