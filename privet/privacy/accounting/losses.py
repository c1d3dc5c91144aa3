"""Privacy losses of Gaussian mixtures: rounded so that a bound can only become safer, mixed, composed, read out.

privet speaks of the noise multiplier as Opacus does: the noise's standard deviation over the clipping norm. The paper
of HeterPoisson clips gradients to 1/2 and speaks of the standard deviation itself, sigma; so do the losses here. Two
functions at the end convert one into the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp, ndtr

__all__ = [
    "Losses",
    "compose_steps",
    "loss_step",
    "mixed_losses",
    "mixture_losses",
    "noise_multiplier_of",
    "paper_sigma",
]

TAIL = 9.0  # standard deviations that are kept: 1e-19 of the mass lies beyond
ROUND_OFF = 1e-14  # floating-point error of the transforms for each release that is composed, given to delta
_LARGEST_SIGMA = 1e4  # more noise is counted as this much: cells would become too many, and epsilon is tiny already
_RESOLUTION = 4_096  # loss steps between zero and the largest loss
_FINEST_STEP = 1e-4
_CLIP = 0.5  # the paper's clipping norm
_LARGEST_POWER = 600.0  # e to this power is a double with room to spare

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Losses:
    """A privacy-loss distribution: mass ``masses[i]`` at loss (first + i) * step, and ``infinite`` at infinity."""

    step: float
    first: int
    masses: Array
    infinite: float

    @classmethod
    def mixed(cls, parts: Iterable[tuple[float, Losses]], infinite: float = 0.0) -> Losses:
        """The loss of a pair that also reveals which part was drawn: the masses, weighted; ``infinite`` is the rest."""
        chosen = list(parts)
        first = min(losses.first for _, losses in chosen)
        masses = np.zeros(max(losses.first + losses.masses.size for _, losses in chosen) - first)
        for weight, losses in chosen:
            masses[losses.first - first :][: losses.masses.size] += weight * losses.masses
        infinite += sum(weight * losses.infinite for weight, losses in chosen)
        negligible = masses < 1e-100  # would overflow logarithms; counts as infinite loss
        infinite += float(masses[negligible].sum())
        kept = np.flatnonzero(~negligible)
        masses[negligible] = 0.0
        return cls(chosen[0][1].step, first + int(kept[0]), masses[kept[0] : kept[-1] + 1], infinite)

    def composed(self, times: int) -> Losses:
        """The loss of ``times`` independent releases: the distribution convolved with itself."""
        if times == 1:
            return self  # no transform, so no rounding to pay for
        from dp_accounting.pld.pld_pmf import DensePLDPmf

        whole = DensePLDPmf(self.step, self.first, self.masses, self.infinite, True).self_compose(times, 1e-15)
        return self._from_pmf(whole, times)

    def joined(self, other: Losses) -> Losses:
        """The loss of this release and another one with the same step."""
        from dp_accounting.pld.pld_pmf import DensePLDPmf

        ours, theirs = (DensePLDPmf(x.step, x.first, x.masses, x.infinite, True) for x in (self, other))
        return self._from_pmf(ours.compose(theirs, 1e-15), 1)

    def _from_pmf(self, pmf: Any, times: int) -> Losses:
        infinite = pmf._infinity_mass + ROUND_OFF * times
        return Losses(self.step, pmf._lower_loss, np.maximum(0.0, pmf._probs), infinite)

    def delta(self, epsilon: float) -> float:
        """Pr[infinite] + E[(1 - e^(epsilon - loss))+], the hockey-stick divergence."""
        gap = epsilon - (self.first + np.arange(self.masses.size)) * self.step
        return min(1.0, self.infinite + float(-np.expm1(np.minimum(gap, 0.0)) @ self.masses))

    def epsilon(self, delta: float) -> float:
        """The least epsilon with delta(epsilon) <= delta.

        delta(epsilon) is the largest of U_i - e^epsilon V_i, with U_i and V_i the masses of losses >= i under the
        upper and the lower distribution, so epsilon is the largest of log((U_i - delta) / V_i).
        """
        if self.infinite > delta:
            return math.inf
        log_masses = np.log(np.maximum(self.masses, 1e-320))[::-1]
        losses = ((self.first + np.arange(self.masses.size)) * self.step)[::-1]
        upper = self.infinite + np.cumsum(self.masses[::-1])
        log_lower = np.logaddexp.accumulate(log_masses - losses)
        above = upper > delta
        if not above.any():
            return 0.0
        return max(0.0, float((np.log(upper[above] - delta) - log_lower[above]).max()))


def loss_step(sigma: float, largest_shift: float, finer: int = 2) -> float:
    """A step that resolves the largest loss of N(shift, sigma^2) against N(0, sigma^2) well."""
    largest = largest_shift / sigma * (largest_shift / (2 * sigma) + TAIL)
    return max(_FINEST_STEP, largest / (_RESOLUTION * finer))


def mixture_losses(sigma: float, weights: Array, step: float) -> tuple[Losses, Losses]:
    """Losses of sum_i weights[i] N(i/2, sigma^2) against N(0, sigma^2), and of the second against the first.

    Weights that sum to less than 1 leave the rest to an outcome that only the first distribution has.
    """
    return mixed_losses(sigma, [weights], np.ones(1), step=step)


def mixed_losses(
    sigma: float, mixtures: Sequence[Array], chances: Array, infinite: float = 0.0, *, step: float | None = None
) -> tuple[Losses, Losses]:
    """Losses in both directions when mixture i is drawn with ``chances[i]`` and revealed; ``infinite`` is the rest.

    Space is cut into cells. Inside a cell the log ratio lies between its values at the ends, so moving the cell's
    mass to two grid points around them, with its mass under both distributions unchanged, spreads the likelihood
    ratio and can only increase every hockey-stick divergence.

    ``step`` is the grid's; by default one that resolves the largest loss.
    """
    shifts = np.arange(max(mixture.size for mixture in mixtures)) / 2
    weights = np.stack([np.pad(mixture, (0, shifts.size - mixture.size)) for mixture in mixtures])
    used = np.flatnonzero(weights.any(axis=0))
    weights, shifts, largest = weights[:, used], shifts[used], float(shifts[used].max(initial=0.0))
    if step is None:
        step = loss_step(sigma, largest, 1 if len(mixtures) > 4 else 4)  # finer where it costs little
    sigma = min(sigma, _LARGEST_SIGMA)
    if largest == 0:
        pairs = [_without_shift(float(mixture.sum()), step) for mixture in weights]
    else:
        pairs = _cut_into_cells(sigma, weights, shifts, step)
    forward, backward = zip(*pairs, strict=True)
    return Losses.mixed(zip(chances, forward, strict=True), infinite), Losses.mixed(
        zip(chances, backward, strict=True), infinite
    )


def _without_shift(kept: float, step: float) -> tuple[Losses, Losses]:
    """Losses where nothing moves, and the first distribution has an outcome of its own with probability 1 - kept."""
    forward = Losses(step, 0, np.array([kept]), max(0.0, 1.0 - kept))  # log kept <= 0 is rounded up to 0
    return forward, Losses(step, math.ceil(-math.log(kept) / step) if kept < 1 else 0, np.ones(1), 0.0)


def _cut_into_cells(sigma: float, weights: Array, shifts: Array, step: float) -> list[tuple[Losses, Losses]]:
    """Losses in both directions of each row of weights, on one grid of cells."""
    largest = float(shifts[-1])
    per_half = math.ceil(largest / (sigma**2 * step))  # cells in a shift of 1/2; a cell spans at most half a step
    width = 0.5 / per_half
    start, cells = math.floor(-TAIL * sigma / width), math.ceil((largest + 2 * TAIL * sigma) / width)
    reach = per_half * int(2 * largest)
    edges = np.arange(start - reach, start + cells + 1, dtype=float) * width
    noise = _cell_masses(edges / sigma)
    alone = noise[reach:]
    mixed = weights @ np.stack([noise[reach - int(2 * shift) * per_half :][:cells] for shift in shifts])
    edges = edges[reach:]
    ratios = _log_ratios(edges, shifts, weights, sigma)
    below, rest_above = float(ndtr(edges[0] / sigma)), float(ndtr(-edges[-1] / sigma))
    above = np.maximum(0.0, 1.0 - weights.sum(axis=1)) + weights @ ndtr((shifts - edges[-1]) / sigma)
    rest_below = weights @ ndtr((edges[0] - shifts) / sigma)
    with np.errstate(divide="ignore"):
        log_alone = np.log(alone)
    pairs = []
    for i, ratio in enumerate(ratios):
        first, forward, backward = _spread(mixed[i], alone, log_alone, ratio, step)
        forward[0] += rest_below[i]  # put at the smallest loss of each direction
        backward[0] += rest_above
        last = first + forward.size - 1
        pairs.append((Losses(step, first, forward, float(above[i])), Losses(step, -last, backward, below)))
    return pairs


def compose_steps(directions: tuple[Losses, Losses], times: int, delta: float) -> float:
    """Epsilon of ``times`` releases, in the worse of the two directions of adjacency."""
    return max(losses.composed(times).epsilon(delta) for losses in directions)


def _log_ratios(x: Array, shifts: Array, weights: Array, sigma: float) -> Array:
    """log sum_i weights[:, i] N(x; shifts[i], sigma^2) / N(x; 0, sigma^2), which grows with x."""
    terms = np.outer(shifts / sigma**2, x)
    terms -= (shifts**2 / (2 * sigma**2))[:, None]
    if np.abs(terms).max() < _LARGEST_POWER:
        return np.maximum.accumulate(np.log(weights @ np.exp(terms, out=terms)), axis=1)
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    return np.stack([np.maximum.accumulate(logsumexp(terms + row[:, None], axis=0)) for row in logs])


def _cell_masses(edges: Array) -> Array:
    """Pr[edges[i] < Z <= edges[i + 1]] of a standard normal Z, accurate in both tails."""
    mirrored = np.where(edges[1:] > 0, -edges[:-1], edges[1:]), np.where(edges[1:] > 0, -edges[1:], edges[:-1])
    high, low = log_ndtr(mirrored[0]), log_ndtr(mirrored[1])
    masses: Array = np.exp(high) * -np.expm1(low - high)
    return masses


def _spread(mixed: Array, alone: Array, log_alone: Array, ratio: Array, step: float) -> tuple[int, Array, Array]:
    """Move each cell's mass to the grid points below its least and above its largest loss, keeping both its masses.

    With l and r these two, the part b of a cell's mixed mass that goes to r solves (mixed - b) e^-l + b e^-r = alone,
    and the part of its mass alone that goes to -l, where the loss is the negative one, solves the same the other way
    round.

    Returns:
        The first grid point of the losses of ``mixed`` against ``alone``, their masses, and those of the opposite
        losses, which end at the same point negated.
    """
    left = np.floor(ratio[:-1] / step).astype(np.int64)
    right = np.maximum(np.ceil(ratio[1:] / step).astype(np.int64), left + 1)
    apart = right - left
    gap = -np.expm1(-step * np.arange(apart.max() + 1.0))[apart]
    with np.errstate(divide="ignore", over="ignore"):
        to_right = np.clip((mixed - np.exp(log_alone + left * step)) / gap, 0.0, mixed)
        to_left = np.clip((alone - np.exp(np.log(mixed) - right * step)) / gap, 0.0, alone)
    first = int(left[0])
    left, right, size = left - first, right - first, int(right[-1]) - first + 1
    forward = np.asarray(np.bincount(left, mixed - to_right, size) + np.bincount(right, to_right, size), dtype=float)
    backward = np.asarray(np.bincount(left, to_left, size) + np.bincount(right, alone - to_left, size), dtype=float)
    return first, forward, backward[::-1].copy()


def paper_sigma(noise_multiplier: float) -> float:
    """Return the noise's standard deviation where gradients are clipped to 1/2.

    >>> paper_sigma(4.0), noise_multiplier_of(2.0)
    (2.0, 4.0)
    """
    return _CLIP * noise_multiplier


def noise_multiplier_of(sigma: float) -> float:
    """Return the noise multiplier of a standard deviation that is meant for gradients clipped to 1/2."""
    return sigma / _CLIP
