"""Dominating privacy losses of one step of HeterPoisson, for one out-degree and for whole brackets of them.

Each takes (sigma, q, M, share, low, high) and returns losses in both directions that hold for every out-degree in
[low, high]; ``share`` is the part of delta that belongs to one step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from privet.privacy.accounting.degrees import binomial, binomials, kept_weights, listeners, poisson, shift_weights
from privet.privacy.accounting.losses import TAIL, Array, Losses, mixed_losses, mixture_losses

__all__ = ["Step", "bracket_step", "kept_step", "left_out", "revealed_step", "sml_step", "step_losses"]

Step = Callable[[float, float, float, float, int, int], tuple[Losses, Losses]]
Weights = Callable[[float, Array], Array]

_TRUNCATED = 1e-6  # the part of delta that truncations of C and of k may use together
_SML_TRUNCATED = 0.25  # the part of delta that noise which is too small to resolve may use
_SML_PARTS = 40
_SML_RESOLUTION = 32_768


def step_losses(
    sigma: float, q: float, degree: int, p: float, *, truncated: float = 1e-15, weights: Weights = shift_weights
) -> tuple[Losses, Losses]:
    """The step of a node with this out-degree that each central out-neighbour picks with probability p.

    ``truncated`` bounds the probability of the values of C and of k that are left out; they count as infinite losses.
    ``weights`` turns a law of k into one of shifts.
    """
    law = listeners(q, float(degree), degree, degree, truncated / 2)
    picked, _ = binomials(law.counts, p, truncated / 2)
    return mixed_losses(sigma, [weights(q, each) for each in picked], law.chances, law.lost)


def bracket_step(
    sigma: float, q: float, M: float, share: float, low: int, high: int, weights: Weights = shift_weights
) -> tuple[Losses, Losses]:
    """Gaussian noise, the number of listeners revealed: the accountant's own."""
    return mixed_losses(sigma, *_bracket_mixtures(q, M, _TRUNCATED * share, low, high, weights))


def left_out(q: float, M: float, share: float, degree: int) -> float:
    """The probability of all numbers of listeners and of picks that :func:`bracket_step` leaves out at a degree."""
    mixtures, chances, lost = _bracket_mixtures(q, M, _TRUNCATED * share, degree, degree, shift_weights)
    return lost + float(chances @ [max(0.0, 1.0 - float(mixture.sum())) for mixture in mixtures])


@lru_cache(maxsize=1024)
def _bracket_mixtures(
    q: float, M: float, truncated: float, low: int, high: int, weights: Weights
) -> tuple[tuple[Array, ...], Array, float]:
    """The law of the shift for each number of listeners, their chances, and what is lost: the same for any noise."""
    law = listeners(q, M, low, high, truncated / 2)
    picked, _ = binomials(law.counts, law.pick, truncated / 2)
    return tuple(weights(q, each) for each in picked), law.chances, law.lost


def kept_step(sigma: float, q: float, M: float, share: float, low: int, high: int) -> tuple[Losses, Losses]:
    """Gaussian noise, C revealed, centres stay in the sub-graphs of others: shifts k, or k + 1/2 for a centre."""
    return bracket_step(sigma, q, M, share, low, high, kept_weights)


def revealed_step(sigma: float, q: float, M: float, share: float, low: int, high: int) -> tuple[Losses, Losses]:
    """Gaussian noise, k revealed: each shift by itself."""
    marginal, lost = _marginal(q, M, _TRUNCATED * share, low, high)
    shifts = np.flatnonzero(marginal)
    return mixed_losses(sigma, [_alone(int(shift)) for shift in shifts], marginal[shifts], lost)


def sml_step(sigma: float, q: float, M: float, share: float, low: int, high: int) -> tuple[Losses, Losses]:
    """SML noise, k and W revealed: Gaussian noise of scale sigma sqrt(W), with W ~ Exp(1) rounded down to a grid."""
    marginal, lost = _marginal(q, M, _TRUNCATED * share, low, high)
    square = float(marginal @ (np.arange(marginal.size) / 2) ** 2)
    grid = np.geomspace(_SML_TRUNCATED * share / max(1.0, square), 40.0, _SML_PARTS)  # a shift s needs W / s^2
    chances = np.append(-np.diff(np.exp(-grid)), math.exp(-grid[-1]))
    largest = _largest_loss(1.0, sigma * math.sqrt(grid[0]))
    step = max(largest / _SML_RESOLUTION, 1e-4)
    parts, lost = [], lost - math.expm1(-grid[0])
    for shift in np.flatnonzero(marginal):
        for w, chance in zip(grid, chances, strict=True):
            if _largest_loss(shift / 2, sigma * math.sqrt(w)) > largest * 1.001:
                lost += chance * marginal[shift]
            else:
                pair = mixture_losses(sigma * math.sqrt(w), _alone(int(shift)), step)
                parts.append((float(chance * marginal[shift]), pair))
    forward, backward = (Losses.mixed(((weight, pair[side]) for weight, pair in parts), lost) for side in (0, 1))
    return forward, backward


def _marginal(q: float, M: float, truncated: float, low: int, high: int) -> tuple[Array, float]:
    """The law of the shift over all coins, and the probability that was left out."""
    rate = q * min(1.0, M / low) if low else q
    narrow = _narrow(M, low, high)
    law = binomial(high, rate, truncated)[0] if narrow else poisson(-low * math.log1p(-rate), truncated)
    weights = shift_weights(q, law)
    return weights, max(0.0, 1.0 - float(weights.sum()))


def _narrow(M: float, low: int, high: int) -> bool:
    """Tell whether D = high with p = M / low is sharper than a Poisson law of mean -low log(1 - M / low)."""
    return M == 0 or low <= M or high / low <= -low / M * math.log1p(-M / low)


def _alone(shift: int) -> Array:
    """All weight on one shift, in halves."""
    weights = np.zeros(shift + 1)
    weights[-1] = 1.0
    return weights


def _largest_loss(shift: float, sigma: float) -> float:
    return shift / sigma * (shift / (2 * sigma) + TAIL)
