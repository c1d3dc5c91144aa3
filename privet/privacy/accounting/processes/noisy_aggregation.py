"""GAP's noisy aggregation (Sajadmanesh et al. 2023), followed by DP-SGD on its rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from privet.privacy.accounting.losses import Losses, noise_multiplier_of
from privet.privacy.accounting.processes._base import Part, Process, is_count
from privet.privacy.accounting.processes.bounded_degree import BOUNDED_ADJACENCY, BOUNDED_FACT
from privet.privacy.accounting.releases import GaussianReleases, composed_losses

__all__ = ["NoisyAggregation"]


@dataclass(frozen=True, kw_only=True)
class NoisyAggregation(Process):
    """One noisy aggregation of all training nodes, then sampled steps on rows; both have the same noise multiplier.

    With at most D = ``max_degree`` neighbours and listeners of unit norm, taking part moves a node's own aggregate by
    at most D + 1 and the aggregates of D others by at most 1, so the L2 sensitivity of the whole release is
    sqrt((D + 1)^2 + D), where GAP's paper has 1 (HeterPoisson's Section 6.2).

    Args:
        max_degree: The bound on the number of neighbours and of listeners (default 5).
    """

    name: ClassVar[str] = "noisy-aggregation"

    max_degree: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("max_degree", is_count(self.max_degree), "an integer of at least 1")

    @property
    def sensitivity(self) -> float:
        """The L2 sensitivity of the aggregation, which its noise is a multiple of."""
        return math.sqrt((self.max_degree + 1) ** 2 + self.max_degree)

    @property
    def adjacency(self) -> str:
        """Without edges: the bound is put on the whole graph, so the edges that it keeps are not protected."""
        return BOUNDED_ADJACENCY

    @property
    def public_facts(self) -> tuple[str, ...]:
        """The bounded graph."""
        return (BOUNDED_FACT,)

    def _epsilon_parts(self, sigma: float, delta: float, epsilon: float) -> tuple[Part, ...]:
        return (
            Part("noise", epsilon, f"one noisy aggregation and {self.steps} noisy sums, composed as privacy losses"),
        )

    def _losses(self, sigma: float, delta: float) -> tuple[Losses, Losses]:
        noise_multiplier = noise_multiplier_of(sigma)
        once, sampled = GaussianReleases(noise_multiplier), GaussianReleases(noise_multiplier, self.rate, self.steps)
        return composed_losses([sampled, once], finer=2)
