"""HeterPoisson without lines 15 to 22 of its Algorithm 2: centres stay in the sub-graphs of others.

A node that is a centre then shifts the clipped sum by 1/2 *and* by 1 for each sub-graph that picked it. With
C ~ Bi(D, q) central out-neighbours and k ~ Bi(C, p) picks, independent of whether the node is central, the shift is at
most

    k        with probability (1 - q) Bi(k; C, p)
    k + 1/2  with probability q Bi(k; C, p)

and the rest of the proof in docs/explanation/accountant.md is unchanged: given all other coins it is a mixture of
Gaussians against one Gaussian, dominated by aligned shifts, and a law of k that is larger in distribution gives
larger shifts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privet.privacy.accounting.processes._base import Comparison, Noise
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson
from privet.privacy.accounting.steps import Step, kept_step

__all__ = ["OverlappingPoisson"]


@dataclass(frozen=True, kw_only=True)
class OverlappingPoisson(HeterogeneousPoisson):
    """Heterogeneous Poisson sampling that keeps centres in the sub-graphs of others: it needs more noise."""

    name: ClassVar[str] = "overlapping-poisson"
    noises: ClassVar[tuple[str, ...]] = ("gaussian",)
    claim: ClassVar[str] = ""
    bounds: ClassVar[dict[str, tuple[Step, int]]] = {"gaussian": (kept_step, 24)}

    def published_epsilon(self, noise_multiplier: float, delta: float) -> None:
        """Return None: the paper's theorem is about the sampler that removes centres."""

    def comparisons(self, noise_multiplier: float, delta: float, noise: Noise = "gaussian") -> tuple[Comparison, ...]:
        """Return nothing."""
        return ()

    @property
    def canary_multiplier(self) -> None:
        """None: the canary game removes centres."""
