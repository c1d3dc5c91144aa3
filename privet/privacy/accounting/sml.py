"""Symmetric multivariate Laplace (SML) noise: what the paper claims of it, and what is true.

The noise is sqrt(W) Z with W ~ Exp(1) and Z ~ N(0, sigma^2 I) in d dimensions. Its coordinates share W, so they are
dependent: in high dimension the norm reveals W, and what remains is Gaussian noise of scale sigma sqrt(W), which is
tiny when W is. The paper's Lemma 1 looks at one coordinate only, which is Laplace. The authors' later version (arXiv
2311.06888 v2) has another noise, a mixture of Gaussians, so nothing here is a claim of that version.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betainc, gammaln, log_ndtr

from privet.errors import InvalidParameter
from privet.privacy.accounting.losses import Array

__all__ = ["published_epsilon", "sml_delta", "sml_log_density"]


def sml_delta(epsilon: float, shift: float, sigma: float, dimension: int | None = None) -> float:
    """The true delta at epsilon of one release with L2 sensitivity ``shift``; in the limit of high dimension if None.

    The limit is E_W[delta of a Gaussian with noise sigma sqrt(W)]. It bounds every dimension, since more coordinates
    only reveal more.

    >>> f"{sml_delta(1.0, 0.1, 1.0):.1e}, {sml_delta(1.0, 0.1, 1.0, dimension=10):.1e}"
    '5.0e-03, 3.5e-03'
    >>> sml_delta(1.0, 0.1, 1.0, dimension=1)  # the lemma's case
    0.0
    """
    _check(epsilon, shift, sigma, dimension)
    if shift == 0:
        return 0.0
    if dimension is None:
        log_w = np.linspace(-60, 4.5, 20_001)  # W = e^u has density e^(u - e^u)
        ratio = shift / (sigma * np.exp(log_w / 2))
        upper, lower = log_ndtr(ratio / 2 - epsilon / ratio), epsilon + log_ndtr(-ratio / 2 - epsilon / ratio)
        deltas = np.exp(upper) * -np.expm1(np.minimum(0.0, lower - upper))
        return float(np.trapezoid(deltas * np.exp(log_w - np.exp(log_w)), log_w))
    if dimension == 1:  # Laplace noise of scale sigma / sqrt(2)
        return max(0.0, -math.expm1((epsilon - math.sqrt(2) * shift / sigma) / 2))
    return _radial_delta(epsilon, shift / sigma, dimension)


def published_epsilon(sigma: float, q: float, M: float, T: int, delta: float, num_nodes: int) -> float:
    """The paper's Theorem 2 with its Theorem 1: a claim for comparison only, since Lemma 1 fails for d > 1.

    gamma(alpha) = T / (alpha - 1) ln E_k[alpha / (2 alpha - 1) exp(sqrt(2) (alpha - 1) k / sigma) + 1/2], where k is
    1/2 with probability q and else Bi(D, q M / D); the expectation of the exponential grows with D, so D = N - 1.
    """
    degree = max(num_nodes - 1, 0)
    rate = q * min(1.0, M / degree) if degree else 0.0

    def at(log_order: float) -> float:
        excess = math.exp(log_order)  # alpha - 1
        alpha = 1 + excess
        tilt = math.sqrt(2) * excess / sigma
        log_mean = math.log(q) + tilt / 2
        if q < 1:
            picked = degree * math.log1p(rate * math.expm1(min(tilt, 700.0)))
            log_mean = float(np.logaddexp(log_mean, math.log1p(-q) + picked))
        log_total = float(np.logaddexp(math.log(alpha / (2 * alpha - 1)) + log_mean, math.log(0.5)))
        return T * log_total / excess + math.log(excess / alpha) - (math.log(delta) + math.log(alpha)) / excess

    orders = np.linspace(math.log(1e-3), math.log(1e3), 200)
    best = int(np.argmin([at(order) for order in orders]))
    bounds = orders[max(best - 1, 0)], orders[min(best + 1, orders.size - 1)]
    return max(0.0, float(minimize_scalar(at, bounds=bounds, method="bounded").fun))


def _radial_delta(epsilon: float, shift: float, dimension: int) -> float:
    """Exact by symmetry: only the distances r to the true and r' to the other centre matter (sigma = 1).

    The loss log g(r) - log g(r') exceeds epsilon iff r' > far(r), which asks the direction u of the noise for
    u_1 < (r^2 + s^2 - far(r)^2) / (2 s r); the other distribution's mass of that set follows in the same way from
    r < near(r'). (1 + u_1) / 2 is Beta((d - 1) / 2, (d - 1) / 2).
    """
    log_r = np.linspace(-30.0, math.log(60.0 + 2 * shift + 9 * math.sqrt(dimension)), 6001)
    r, log_g = np.exp(log_r), sml_log_density(log_r, dimension)
    mass = np.exp(log_g + dimension * log_r + math.log(2) + dimension / 2 * math.log(math.pi) - gammaln(dimension / 2))
    far = np.exp(np.interp(epsilon - log_g, -log_g, log_r, right=math.inf))
    near = np.exp(np.interp(-epsilon - log_g, -log_g, log_r, left=-math.inf))
    with np.errstate(invalid="ignore"):
        cosine = (r**2 + shift**2 - far**2) / (2 * shift * r)
        other = (near**2 - r**2 - shift**2) / (2 * shift * r)
    under_one = np.trapezoid(mass * _below(cosine, dimension), log_r)
    under_other = np.trapezoid(mass * _below(other, dimension), log_r)
    return float(np.clip(under_one - math.exp(epsilon) * under_other, 0.0, 1.0))


def _below(cosine: Array, dimension: int) -> Array:
    """Pr[u_1 < cosine] for a uniform direction u."""
    half = (dimension - 1) / 2
    probability: Array = betainc(half, half, np.clip((1 + cosine) / 2, 0.0, 1.0))
    return probability


def sml_log_density(log_r: Array, dimension: int) -> Array:
    """log E_W[(2 pi W)^(-d/2) exp(-r^2 / (2 W))] for W ~ Exp(1), over u = log W."""
    log_w = np.linspace(-66.0, 5.0, 2001)
    base = log_w - np.exp(log_w) - dimension / 2 * (log_w + math.log(2 * math.pi))
    chunks = [base - np.exp(2 * part[:, None] - log_w) / 2 for part in np.array_split(log_r, 16)]
    largest = [terms.max(axis=1) for terms in chunks]
    sums = [top + np.log(np.exp(terms - top[:, None]).sum(axis=1)) for terms, top in zip(chunks, largest, strict=True)]
    return np.concatenate(sums) + math.log(log_w[1] - log_w[0])


def _check(epsilon: float, shift: float, sigma: float, dimension: int | None) -> None:
    if not 0 <= epsilon < math.inf:
        raise InvalidParameter("epsilon", "a finite number of at least 0", epsilon)
    if not 0 <= shift < math.inf:
        raise InvalidParameter("shift", "a finite number of at least 0", shift)
    if not 0 < sigma < math.inf:
        raise InvalidParameter("sigma", "a finite number above 0", sigma)
    if dimension is not None and dimension < 1:
        raise InvalidParameter("dimension", "None or a whole number of at least 1", dimension)
