"""White-box audit of HeterPoisson with gradient canaries (Algorithm 5 of its paper), in two strengths.

The game: a node takes part or not; the adversary knows all other coins and gradients and sees every noisy sum. The
gradients are the worst that clipping allows: each sub-graph that picks the node turns its own round, and the node's
own points the same way, so taking part moves the sum by k or 1/2 along one direction. Coins and noise come from the
code that trains; the last bits of the sums are not looked at. The adversary adds up log likelihood ratios over the
steps, and Clopper-Pearson bounds of how often they exceed a threshold in both worlds give a lower bound on epsilon.

The paper's audit looks at the projection on the canary only. The full one also uses the norm of the rest of the
vector, which betrays the scale of SML noise.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import binom

from privet.auditing.lower_bound import epsilon_lower_bound
from privet.auditing.membership import largest_advantage, membership
from privet.errors import InvalidParameter
from privet.graph.subgraphs import SubgraphSampler
from privet.mechanisms import Bits, SeededBits
from privet.mechanisms.primitives.noise import Noise, noisy_sum
from privet.privacy.accounting import node_level
from privet.privacy.accounting.sml import published_epsilon, sml_log_density

__all__ = ["CanaryAudit", "CanaryGame", "audit_heterpoisson"]

Array = NDArray[np.float64]

_CHUNK = 50_000


@dataclass(frozen=True)
class CanaryAudit:
    """A claim, and the epsilon that an attack shows to be necessary.

    ``epsilon_lower`` is from the full statistic and ``projection_epsilon_lower`` from the paper's; both hold with
    probability ``confidence``. The ``claim`` is the accountant's epsilon, and for SML noise the paper's.
    ``advantage`` is that of guessing membership from the same observations; the claim allows ``largest_advantage``.
    """

    noise: str
    claim: float
    delta: float
    epsilon_lower: float
    projection_epsilon_lower: float
    confidence: float
    runs: int
    sigma: float
    rate: float
    multiplier: float
    steps: int
    dimension: int
    advantage: float = 0.0

    @property
    def broken(self) -> bool:
        """Whether the claim is refuted."""
        return self.epsilon_lower > self.claim

    @property
    def closeness(self) -> float:
        """The part of the claim that the attack reaches."""
        return self.epsilon_lower / self.claim if self.claim else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        largest = largest_advantage(self.claim, self.delta)
        return {**asdict(self), "largest_advantage": largest, "broken": self.broken, "closeness": self.closeness}


@dataclass(frozen=True)
class CanaryGame:
    """Many independent runs in both worlds, of a node with out-degree ``degree`` (by default M, the worst)."""

    sigma: float
    rate: float
    multiplier: float
    steps: int
    noise: Noise = "gaussian"
    dimension: int = 32
    degree: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("dimension", 2), ("sigma", 1e-9)):
            if not getattr(self, name) >= least:
                raise InvalidParameter(name, "CanaryGame", f"at least {least}", getattr(self, name))

    @property
    def out_degree(self) -> int:
        """How many nodes listen to the target."""
        return math.floor(self.multiplier) if self.degree is None else self.degree

    def coins(self, games: int, bits: Bits) -> tuple[NDArray[np.int64], Array]:
        """Of each game the number of central out-neighbours, and how far taking part moves the clipped sum.

        Games are disjoint copies of a star in one graph, so one batch of the sampler plays all of them.
        """
        size = self.out_degree + 1  # the target comes first in each copy
        targets = np.arange(games, dtype=np.int64) * size
        listeners = np.setdiff1d(np.arange(games * size), targets, assume_unique=True)
        entries = (np.ones(listeners.size, dtype=np.float32), (listeners, listeners // size * size))
        adjacency = sp.coo_array(entries, shape=(games * size, games * size)).tocsr()
        members = np.ones(games * size, dtype=np.bool_)
        batch = SubgraphSampler(adjacency, members, self.rate, self.multiplier).draw(bits)
        own = np.zeros(games, dtype=np.bool_)
        own[batch.central[batch.central % size == 0] // size] = True
        others = batch.central[batch.central % size != 0] // size
        picked = np.bincount(batch.peripheral // size, minlength=games)
        return np.bincount(others, minlength=games), picked + 0.5 * own

    def noises(self, count: int, bits: Bits) -> tuple[Array, Array]:
        """Of ``count`` noise vectors the first coordinate and the squared norm of the others."""
        first, rest = np.empty(count), np.empty(count)
        for start in range(0, count, _CHUNK):
            rows = min(_CHUNK, count - start)
            nothing = np.zeros((rows, self.dimension))
            if self.noise == "gaussian":
                drawn = noisy_sum(nothing, self.sigma, bits)
            else:  # each release has its own scale
                drawn = np.stack([noisy_sum(row, self.sigma, bits, noise=self.noise) for row in nothing])
            first[start : start + rows] = drawn[:, 0]
            rest[start : start + rows] = (drawn[:, 1:] ** 2).sum(axis=1)
        return first, rest

    def play(self, runs: int, bits: Bits) -> dict[str, tuple[Array, Array]]:
        """Log likelihood ratios of each run with and without the target, by statistic.

        The noise is used in both worlds, as in the paper; each world by itself is distributed as it should be.
        """
        count = runs * self.steps
        central, shift = self.coins(count, bits)
        first, rest = self.noises(count, bits)
        found = {}
        for statistic in ("projection", "full"):
            pair = (self._log_ratio(_seen(first + s), rest, central, statistic) for s in (shift, 0.0))
            with_target, without = (ratio.reshape(runs, self.steps).sum(axis=1) for ratio in pair)
            found[statistic] = with_target, without
        return found

    def _log_ratio(self, first: Array, rest: Array, central: NDArray[np.int64], statistic: str) -> Array:
        """log sum_k Pr[shift = k | C] g(x - k) / g(x)."""
        pick = min(1.0, self.multiplier / self.out_degree) if self.out_degree else 0.0
        base, total = self._log_density(first, rest, statistic), np.full(first.size, -np.inf)
        shifts = [(0.5, np.full(first.size, self.rate))]
        shifts += [(k, (1 - self.rate) * binom.pmf(k, central, pick)) for k in range(self.out_degree + 1)]
        for shift, weight in shifts:
            with np.errstate(divide="ignore"):
                log_weight = np.log(weight)
            total = np.logaddexp(total, log_weight + self._log_density(first - shift, rest, statistic) - base)
        return total

    def _log_density(self, first: Array, rest: Array, statistic: str) -> Array:
        """Of the noise, up to a constant: of one coordinate, or of the whole vector."""
        if self.noise == "gaussian":  # the other coordinates are independent and cancel
            return np.asarray(-(first**2) / (2 * self.sigma**2))
        if statistic == "projection":
            return np.asarray(-math.sqrt(2) * np.abs(first) / self.sigma)
        log_radius = np.log(first**2 + rest) / 2 - math.log(self.sigma)
        return np.interp(log_radius, *_density_table(self.dimension))


def audit_heterpoisson(
    noise: Noise = "gaussian",
    *,
    sigma: float | None = None,
    rate: float = 4096 / 22_470,
    multiplier: float = 1.0,
    steps: int = 50,
    num_nodes: int = 22_470,
    delta: float | None = None,
    runs: int | None = None,
    dimension: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> CanaryAudit:
    """Try to break what is claimed of a training run; by default the paper's Facebook run at epsilon 2, sigma 12.73."""
    sigma = 12.7312 if sigma is None else sigma
    runs = (100_000 if noise == "gaussian" else 15_000) if runs is None else runs
    dimension = (
        (2 if noise == "gaussian" else 32) if dimension is None else dimension
    )  # more betray nothing of Gaussians
    delta = node_level.default_delta(num_nodes) if delta is None else delta
    if noise == "gaussian":
        claim = node_level.epsilon(sigma, rate, multiplier, steps, delta, num_nodes)
    else:
        claim = published_epsilon(sigma, rate, multiplier, steps, delta, num_nodes)
    game = CanaryGame(sigma, rate, multiplier, steps, noise, dimension)
    played = game.play(runs, SeededBits(seed))
    lower = {name: epsilon_lower_bound(*worlds, delta, confidence) for name, worlds in played.items()}
    return CanaryAudit(
        noise=noise,
        claim=claim,
        delta=delta,
        epsilon_lower=lower["full"],
        projection_epsilon_lower=lower["projection"],
        confidence=confidence,
        runs=runs,
        sigma=sigma,
        rate=rate,
        multiplier=multiplier,
        steps=steps,
        dimension=dimension,
        advantage=membership(*played["full"]).advantage,
    )


def _seen(observed: Array) -> Array:
    """Without the last bits, which betray that something was added: this audit is of the mathematics."""
    return np.asarray(np.round(observed * 2.0**30) / 2.0**30)


@lru_cache
def _density_table(dimension: int) -> tuple[Array, Array]:
    grid = np.linspace(-20.0, math.log(60 + 9 * math.sqrt(dimension)), 6001)
    return grid, sml_log_density(grid, dimension)
