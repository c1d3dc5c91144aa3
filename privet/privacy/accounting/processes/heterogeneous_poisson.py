"""HeterPoisson's heterogeneous Poisson sampling of sub-graphs. The proof is in docs/explanation/accountant.md.

One step, target node of out-degree D, base rate q, multiplier M, p = min(1, M/D), clip 1/2 and noise N(0, sigma^2 I):
given that C ~ Bi(D, q) of its out-neighbours are central, taking part shifts the clipped sum by at most

    1/2  with probability q                     (the node is central, and removed wherever it is peripheral)
    k    with probability (1 - q) Bi(k; C, p)   (k sub-graphs picked it, each moves by at most 1)

so the step is dominated by that scalar mixture of Gaussians against N(0, sigma^2), with C revealed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from privet.privacy.accounting import sml
from privet.privacy.accounting.degrees import over_degrees
from privet.privacy.accounting.losses import Losses
from privet.privacy.accounting.processes._base import DEGREES_ARE_PUBLIC, NODE_ALONE, Comparison, Noise, Part, Process
from privet.privacy.accounting.program import program_epsilon, program_price
from privet.privacy.accounting.steps import Step, bracket_step, left_out, revealed_step, sml_step
from privet.privacy.guarantee import ADJACENCY, Unit

__all__ = ["HeterogeneousPoisson"]


@dataclass(frozen=True, kw_only=True)
class HeterogeneousPoisson(Process):
    """Sub-graphs around Poisson-sampled centres, of which a node is in ``multiplier`` others in expectation.

    Args:
        multiplier: M; a centre picks a neighbour with probability min(1, M / the neighbour's out-degree) (default 1).
        reads_degrees: True if the network's aggregation also reads degrees of the whole graph (default False).
    """

    name: ClassVar[str] = "heterogeneous-poisson"
    noises: ClassVar[tuple[str, ...]] = ("gaussian", "sml")
    claim: ClassVar[str] = (
        "the paper's claim (S&P 2024) for SML noise of the same sigma, which does not hold in more than one dimension; "
        "the authors' later version (arXiv 2311.06888 v2) uses a mixture of Gaussians instead"
    )
    bounds: ClassVar[dict[str, tuple[Step, int]]] = {"gaussian": (bracket_step, 64), "sml": (sml_step, 12)}
    """The losses of a step, and how many brackets of degrees are looked at, by kind of noise."""

    multiplier: float = 1.0
    reads_degrees: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("multiplier", self.multiplier >= 0, "a number of at least 0")

    def published_epsilon(self, noise_multiplier: float, delta: float) -> float | None:
        """Return the paper's Theorem 2 for SML noise of the same standard deviation: a claim, which does not hold."""
        sigma, _, _ = self._checked(noise_multiplier, delta, "gaussian")
        return sml.published_epsilon(sigma, self.rate, self._picks, self.steps, delta, self.num_nodes)

    def published_noise_multiplier(self, target_epsilon: float, delta: float) -> float:
        """Return the noise that the paper would add for this epsilon: to compare with, not to rely on."""

        def claims_more(noise_multiplier: float) -> bool:
            return (self.published_epsilon(noise_multiplier, delta) or 0.0) > target_epsilon

        low, high = 0.0, 1.0
        while claims_more(high):
            low, high = high, 2 * high
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if claims_more(middle) else (low, middle)
        return high

    def comparisons(self, noise_multiplier: float, delta: float, noise: Noise = "gaussian") -> tuple[Comparison, ...]:
        """Return the worst out-degree, and epsilon if the number of sub-graphs were revealed too (sound, larger)."""
        sigma, delta, noise = self._checked(noise_multiplier, delta, noise)
        revealed, left = self.epsilon(noise_multiplier, delta, noise), delta  # for SML noise it reveals k in any case
        if noise == "gaussian":
            left = program_price(lambda left: self._epsilon(sigma, left, noise), delta).real_delta
            looser = program_epsilon(lambda left: self._over_degrees(revealed_step, sigma, left, 12)[0], delta)
            revealed = max(revealed, looser)
        _, degree = _worst_degree(self, sigma, left, noise)
        return (
            Comparison("k_revealed_epsilon", "epsilon if the count of sub-graphs were revealed", revealed),
            Comparison("worst_out_degree", "worst out-degree", degree),
        )

    @property
    def adjacency(self) -> str:
        """With public degrees where they are read, and without any assumption elsewhere."""
        return ADJACENCY[Unit.NODE] if self.public_facts else NODE_ALONE

    @property
    def public_facts(self) -> tuple[str, ...]:
        """Degrees, unless neither the sampler nor the aggregation reads them."""
        return (DEGREES_ARE_PUBLIC,) if self.multiplier > 0 or self.reads_degrees else ()

    @property
    def canary_multiplier(self) -> float | None:
        """M."""
        return self.multiplier

    @property
    def _picks(self) -> float:
        """M, where N does for more: nobody has as many listeners."""
        return min(self.multiplier, self.num_nodes)

    def _epsilon(self, sigma: float, delta: float, noise: Noise) -> float:
        return _worst_degree(self, sigma, delta, noise)[0]

    def _lower_bound(self, sigma: float, delta: float) -> float:
        """The largest degree that is not sampled: usually the worst one."""
        degree = min(math.floor(self._picks), self.num_nodes - 1)
        return self._of_degrees(self.bounds["gaussian"][0], sigma, delta, degree, degree)

    def _losses(self, sigma: float, delta: float) -> tuple[Losses, Losses]:
        """Those of the worst degree."""
        _, degree = _worst_degree(self, sigma, delta, "gaussian")
        return _composed(self, self.bounds["gaussian"][0], sigma, self._share(delta), degree, degree)

    def _epsilon_parts(self, sigma: float, delta: float, epsilon: float) -> tuple[Part, ...]:
        _, degree = _worst_degree(self, sigma, delta, "gaussian")
        alone = max(side.epsilon(delta) for side in self._losses(sigma, delta))
        together = Part("brackets", epsilon - alone, "out-degrees were bounded together instead of one by one")
        whole = Part("worst_degree", alone, f"a node of out-degree {degree}, the worst, in {self.steps} steps")
        return (whole, together) if epsilon > alone else (whole,)

    def _tail_parts(self, sigma: float, delta: float, tails: float) -> tuple[Part, ...]:
        _, degree = _worst_degree(self, sigma, delta, "gaussian")
        counts = min(tails, self.steps * left_out(self.rate, self._picks, self._share(delta), degree))
        return (
            Part("counts", counts, "more central listeners or more picks than were computed"),
            Part("tails", tails - counts, "noise beyond 9 standard deviations"),
        )

    def _sentences(self, sigma: float, delta: float) -> tuple[str, ...]:
        _, degree = _worst_degree(self, sigma, delta, "gaussian")
        pick = min(1.0, self._picks / degree) if degree else 1.0
        own = (
            f"In a step a node is the centre of its own sub-graph with probability {self.rate:.3g}, and moves the sum "
            "by at most the clipping norm."
        )
        central = f"{degree * self.rate:,.{0 if degree * self.rate >= 10 else 2}f}"
        others = (
            f"A node of out-degree {degree:,} has {central} central listeners on average. Each picks it with "
            f"probability {pick:.3g}, and then moves the sum by at most twice the clipping norm."
        )
        return (own, others) if degree and pick else (own,)

    def _share(self, delta: float) -> float:
        """Return a step's part of delta, as a power of 2 so that neighbouring deltas share all losses."""
        return 2.0 ** math.floor(math.log2(delta / self.steps))

    def _of_degrees(self, step: Step, sigma: float, delta: float, low: int, high: int) -> float:
        share = delta / self.steps if step is sml_step else self._share(delta)
        return max(side.epsilon(delta) for side in _composed(self, step, sigma, share, low, high))

    def _over_degrees(self, step: Step, sigma: float, delta: float, most_bounds: int) -> tuple[float, int]:
        def bound(low: int, high: int) -> float:
            return self._of_degrees(step, sigma, delta, low, high)

        return over_degrees(bound, self._picks, self.num_nodes - 1, most_bounds)


# A search looks at up to 64 brackets, and a curve of deltas asks for the same ones again.
@lru_cache(maxsize=96)
def _composed(
    process: HeterogeneousPoisson, step: Step, sigma: float, share: float, low: int, high: int
) -> tuple[Losses, Losses]:
    forward, backward = step(sigma, process.rate, process._picks, share, low, high)
    return forward.composed(process.steps), backward.composed(process.steps)


@lru_cache(maxsize=256)
def _worst_degree(process: HeterogeneousPoisson, sigma: float, delta: float, noise: Noise) -> tuple[float, int]:
    step, most_bounds = process.bounds[noise]
    return process._over_degrees(step, sigma, delta, most_bounds)
