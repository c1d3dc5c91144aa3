"""DPAR's process (Zhang et al. 2024): noisy PageRank vectors of a few nodes, then DP-SGD on rows of few nodes each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from privet.privacy.accounting.losses import Losses, loss_step, noise_multiplier_of
from privet.privacy.accounting.processes._base import Part, Process, is_count
from privet.privacy.accounting.processes.bounded_degree import listened_losses
from privet.privacy.accounting.releases import GaussianReleases

__all__ = ["RankedNeighbours"]


@dataclass(frozen=True, kw_only=True)
class RankedNeighbours(Process):
    """One noisy release of ``ranked`` PageRank vectors, then steps on the rows that it selects, with the same noise.

    A node that takes part may change every vector of every other node. Vectors have no negative entry and norm 1, so
    each moves by at most sqrt(2), and the release has sensitivity sqrt(2 ``ranked``). The neighbours that it selects
    are post-processing: no edge need be public. A node is then in its own row and in up to ``max_listeners`` others.

    Args:
        ranked: The number of nodes whose vectors are released, chosen from all nodes without looking at data
            (default 70).
        max_listeners: The largest number of other rows that a node may be selected for (default 1).
    """

    name: ClassVar[str] = "ranked-neighbours"

    ranked: int = 70
    max_listeners: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("ranked", "max_listeners"):
            self._require(name, is_count(getattr(self, name)), "an integer of at least 1")

    @property
    def sensitivity(self) -> float:
        """The L2 sensitivity of the vectors, which their noise is a multiple of."""
        return math.sqrt(2 * self.ranked)

    def _epsilon_parts(self, sigma: float, delta: float, epsilon: float) -> tuple[Part, ...]:
        return (Part("noise", epsilon, f"noisy vectors of {self.ranked} nodes and {self.steps} noisy sums, composed"),)

    def _losses(self, sigma: float, delta: float) -> tuple[Losses, Losses]:
        step = loss_step(sigma, self.max_listeners + 0.5)
        steps = listened_losses(sigma, self.rate, self.max_listeners, step)
        vectors = GaussianReleases(noise_multiplier_of(sigma)).losses(step)
        forward, backward = (each.composed(self.steps).joined(once) for each, once in zip(steps, vectors, strict=True))
        return forward, backward
