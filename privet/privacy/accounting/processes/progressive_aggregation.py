"""ProGAP's stages (Sajadmanesh and Gatica-Perez 2024): noisy aggregations of learnt embeddings, DP-SGD between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privet.privacy.accounting.losses import Losses, noise_multiplier_of
from privet.privacy.accounting.processes._base import Part, is_count
from privet.privacy.accounting.processes.noisy_aggregation import NoisyAggregation
from privet.privacy.accounting.releases import GaussianReleases, composed_losses

__all__ = ["ProgressiveAggregation"]


@dataclass(frozen=True, kw_only=True)
class ProgressiveAggregation(NoisyAggregation):
    """``depth`` noisy aggregations and ``depth`` + 1 trainings of ``steps`` steps, all of one noise multiplier.

    Given what was released before, an embedding is a function of one node's own features and released aggregates, so
    each aggregation has the sensitivity of GAP's, sqrt((D + 1)^2 + D), where ProGAP's paper has sqrt(D).

    Args:
        depth: The number of aggregations (default 1).
    """

    name: ClassVar[str] = "progressive-aggregation"

    depth: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("depth", is_count(self.depth), "an integer of at least 1")

    def _epsilon_parts(self, sigma: float, delta: float, epsilon: float) -> tuple[Part, ...]:
        sums = (self.depth + 1) * self.steps
        return (Part("noise", epsilon, f"{self.depth} noisy aggregations and {sums} noisy sums, composed"),)

    def _losses(self, sigma: float, delta: float) -> tuple[Losses, Losses]:
        noise_multiplier = noise_multiplier_of(sigma)
        aggregations = GaussianReleases(noise_multiplier, count=self.depth)
        trainings = GaussianReleases(noise_multiplier, self.rate, (self.depth + 1) * self.steps)
        return composed_losses([trainings, aggregations], finer=2)
