"""DP-SGD without a graph: a node is in its own example and in no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privet.privacy.accounting.losses import Losses, compose_steps, noise_multiplier_of
from privet.privacy.accounting.processes._base import Noise, Process
from privet.privacy.accounting.releases import GaussianReleases, composed_losses
from privet.privacy.accounting.steps import sml_step

__all__ = ["PoissonSampling"]


@dataclass(frozen=True, kw_only=True)
class PoissonSampling(Process):
    """Each training node's own clipped gradient, drawn with probability ``rate`` in each of ``steps`` steps.

    No edge is read, so neither degrees nor a bound on them need be public.

    >>> process = PoissonSampling(rate=0.1, steps=30, num_nodes=1000)
    >>> process.epsilon(process.calibrate(2.0, 1e-4), 1e-4) <= 2.0
    True
    """

    name: ClassVar[str] = "poisson-sampling"
    noises: ClassVar[tuple[str, ...]] = ("gaussian", "sml")

    @property
    def canary_multiplier(self) -> float:
        """0: nobody else's sub-graph contains the node."""
        return 0.0

    def _epsilon(self, sigma: float, delta: float, noise: Noise) -> float:
        if noise == "sml":
            return compose_steps(sml_step(sigma, self.rate, 0, delta / self.steps, 0, 0), self.steps, delta)
        return super()._epsilon(sigma, delta, noise)

    def _losses(self, sigma: float, delta: float) -> tuple[Losses, Losses]:
        return composed_losses([GaussianReleases(noise_multiplier_of(sigma), self.rate, self.steps)])
