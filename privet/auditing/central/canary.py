"""White-box audit of a sampling process with gradient canaries (Algorithm 5 of HeterPoisson), in two strengths.

The game: a node takes part or not; the adversary knows all other coins and gradients and sees every noisy sum. The
gradients are the worst that clipping allows: each sub-graph that picks the node turns its own round, and the node's
own points the same way, so taking part moves the sum by k or 1/2 along one direction. Coins and noise come from the
code that trains; the last bits of the sums are not looked at. The adversary adds up log likelihood ratios over the
steps, and Clopper-Pearson bounds of how often they exceed a threshold in both worlds give a lower bound on epsilon.
A second bound assumes that the trade-off curve is that of the process with some amount of Gaussian noise.

The paper's audit looks at the projection on the canary only. The full one also uses the norm of the rest of the
vector, which betrays the scale of SML noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import binom

from privet.auditing.central.audited_claim import PAPER_RUN, AuditedClaim, ProcessGame, log_of_sum
from privet.auditing.central.lower_bound import advantage, epsilon_lower_bound, family_lower_bound, largest_advantage
from privet.auditing.central.trade_off import NoiseFamily
from privet.graph.subgraphs import SubgraphSampler
from privet.mechanisms import Bits, SeededBits
from privet.mechanisms.primitives.noise import Noise, sml_noise, standard_normal
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.sml import sml_log_density

__all__ = ["CanaryAudit", "CanaryGame", "audit_process"]

Array = NDArray[np.float64]

_CHUNK = 50_000


@dataclass(frozen=True, kw_only=True)
class CanaryAudit(AuditedClaim):
    """A claim, and the epsilon that an attack shows to be necessary.

    Attributes:
        projection_epsilon_lower: The bound from the paper's statistic; ``epsilon_lower`` is from the whole vector.
        confidence: The probability with which each bound holds.
        runs: The training runs in each world.
        dimension: The dimension of the gradients in the game.
        advantage: The advantage of guessing membership from the same observations.
        family_epsilon_lower: A lower bound that assumes the curve of the process with *some* Gaussian noise; None for
            other noise, for which it would be wrong.
    """

    projection_epsilon_lower: float
    confidence: float
    runs: int
    dimension: int
    advantage: float = 0.0
    family_epsilon_lower: float | None = None

    @property
    def largest_advantage(self) -> float:
        """The advantage that the claim allows."""
        return largest_advantage(self.claim, self.delta)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**super().to_dict(), "largest_advantage": self.largest_advantage}


@dataclass(frozen=True)
class CanaryGame(ProcessGame):
    """Many independent runs in both worlds, of one target node.

    Args:
        dimension: The dimension of the gradients, at least 2 (default 32).
    """

    dimension: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_at_least("dimension", 2)

    def coins(self, games: int, bits: Bits) -> tuple[NDArray[np.int64], Array]:
        """Draw each game's number of central out-neighbours, and the shift of the clipped sum by taking part.

        Games are disjoint copies of a star in one graph, so one batch of the sampler plays all of them.
        """
        size = self.out_degree + 1  # the target comes first in each copy
        targets = np.arange(games, dtype=np.int64) * size
        listeners = np.setdiff1d(np.arange(games * size), targets, assume_unique=True)
        entries = (np.ones(listeners.size, dtype=np.float32), (listeners, listeners // size * size))
        adjacency = sp.coo_array(entries, shape=(games * size, games * size)).tocsr()
        members = np.ones(games * size, dtype=np.bool_)
        batch = SubgraphSampler(adjacency, members, self.process.rate, self.multiplier).draw(bits)
        own = np.zeros(games, dtype=np.bool_)
        own[batch.central[batch.central % size == 0] // size] = True
        others = batch.central[batch.central % size != 0] // size
        picked = np.bincount(batch.peripheral // size, minlength=games)
        return np.bincount(others, minlength=games), picked + 0.5 * own

    def noises(self, count: int, bits: Bits) -> tuple[Array, Array]:
        """Draw ``count`` noise vectors: the first coordinate of each, and the squared norm of the others."""
        first, rest = np.empty(count), np.empty(count)
        for start in range(0, count, _CHUNK):
            rows = min(_CHUNK, count - start)
            if self.noise == "gaussian":
                drawn = self.sigma * standard_normal(rows * self.dimension, bits).reshape(rows, self.dimension)
            else:  # each release has its own scale
                drawn = np.stack([sml_noise((self.dimension,), self.sigma, bits) for _ in range(rows)])
            first[start : start + rows] = drawn[:, 0]
            rest[start : start + rows] = (drawn[:, 1:] ** 2).sum(axis=1)
        return first, rest

    def play(self, runs: int, bits: Bits) -> dict[str, tuple[Array, Array]]:
        """Return log likelihood ratios of each run with and without the target, by statistic.

        The noise is used in both worlds, as in the paper; each world by itself is distributed as it should be.
        """
        count = runs * self.process.steps
        central, shift = self.coins(count, bits)
        first, rest = self.noises(count, bits)
        found = {}
        for statistic in ("projection", "full"):
            pair = (self._log_ratio(_seen(first + s), rest, central, statistic) for s in (shift, 0.0))
            with_target, without = (ratio.reshape(runs, self.process.steps).sum(axis=1) for ratio in pair)
            found[statistic] = with_target, without
        return found

    def _log_ratio(self, first: Array, rest: Array, central: NDArray[np.int64], statistic: str) -> Array:
        """log sum_k Pr[shift = k | C] g(x - k) / g(x)."""
        base, rate = self._log_density(first, rest, statistic), self.process.rate
        shifts = [(0.5, np.full(first.size, rate))]
        shifts += [(k, (1 - rate) * binom.pmf(k, central, self.pick)) for k in range(self.out_degree + 1)]
        return log_of_sum((weight, self._log_density(first - k, rest, statistic) - base) for k, weight in shifts)

    def _log_density(self, first: Array, rest: Array, statistic: str) -> Array:
        """Return the noise's log density up to a constant, of one coordinate or of the whole vector."""
        if self.noise == "gaussian":  # the other coordinates are independent and cancel
            return np.asarray(-(first**2) / (2 * self.sigma**2))
        if statistic == "projection":
            return np.asarray(-math.sqrt(2) * np.abs(first) / self.sigma)
        log_radius = np.log(first**2 + rest) / 2 - math.log(self.sigma)
        return np.interp(log_radius, *_density_table(self.dimension))


def audit_process(
    process: Process = PAPER_RUN,
    noise_multiplier: float | None = None,
    noise: Noise = "gaussian",
    *,
    delta: float | None = None,
    runs: int | None = None,
    dimension: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> CanaryAudit:
    """Try to break what is claimed of a training run.

    Args:
        process: The sampling process (default: the paper's Facebook run).
        noise_multiplier: The noise's standard deviation over the clipping norm (default: that run's at epsilon 2).
        noise: "gaussian" (default), whose claim is the accountant's, or "sml", whose claim is the paper's.
        delta: The delta of the claim (default: the paper's N^-1.1).
        runs: The training runs to play in each world (default 100,000, and 15,000 with SML noise).
        dimension: The dimension of the gradients (default 2, and 32 with SML noise).
        confidence: The probability with which a lower bound holds (default 0.95).
        seed: The seed of the game (default 0).
    """
    claim = AuditedClaim.of(process, noise_multiplier, noise, delta)
    usual_runs, usual_dimension = (15_000, 32) if noise == "sml" else (100_000, 2)  # more betray nothing of Gaussians
    runs = usual_runs if runs is None else runs
    dimension = usual_dimension if dimension is None else dimension
    game = CanaryGame(process, claim.noise_multiplier, noise, dimension)
    played = game.play(runs, SeededBits(seed))
    lower = {name: epsilon_lower_bound(*worlds, claim.delta, confidence) for name, worlds in played.items()}
    family = NoiseFamily(process, game.out_degree) if noise == "gaussian" else None
    return CanaryAudit(
        **claim.facts(),
        epsilon_lower=lower["full"],
        projection_epsilon_lower=lower["projection"],
        confidence=confidence,
        runs=runs,
        dimension=dimension,
        advantage=advantage(*played["full"]),
        family_epsilon_lower=(
            family_lower_bound(*played["full"], family, claim.noise_multiplier, claim.delta, confidence)
            if family
            else None
        ),
    )


def _seen(observed: Array) -> Array:
    """Round off the last bits, which betray that something was added: this audit is of the mathematics."""
    return np.asarray(np.round(observed * 2.0**30) / 2.0**30)


@lru_cache
def _density_table(dimension: int) -> tuple[Array, Array]:
    grid = np.linspace(-20.0, math.log(60 + 9 * math.sqrt(dimension)), 6001)
    return grid, sml_log_density(grid, dimension)
