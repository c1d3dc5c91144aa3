"""Symmetric multivariate Laplace noise: what the paper claims of it, and what is true.

The noise is sqrt(W) Z with W ~ Exp(1) and Z ~ N(0, sigma^2 I) in d dimensions. Its coordinates share W, so they are
dependent: in high dimension the norm reveals W, and what remains is Gaussian noise of scale sigma sqrt(W), which is
tiny when W is.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

__all__ = ["published_epsilon"]


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
