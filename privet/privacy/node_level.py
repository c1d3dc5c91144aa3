"""Node-level accountant of HeterPoisson with Gaussian noise. The proof is in docs/accountant.md.

One step, target node of out-degree D, base rate q, multiplier M, p = min(1, M/D), clip 1/2 and noise N(0, sigma^2 I):
given that C ~ Bi(D, q) of its out-neighbours are central, taking part shifts the clipped sum by at most

    1/2  with probability q                     (the node is central, and removed wherever it is peripheral)
    k    with probability (1 - q) Bi(k; C, p)   (k sub-graphs picked it, each moves by at most 1)

so the step is dominated by that scalar mixture of Gaussians against N(0, sigma^2), with C revealed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from privet.errors import InvalidParameter
from privet.privacy.degrees import (
    binomial,
    binomial_fractions,
    over_degrees,
    poisson,
    rounded_up,
    shift_weights,
)
from privet.privacy.guarantee import ADJACENCY, Guarantee, Unit, check_epsilon
from privet.privacy.losses import Losses, compose_steps, mixed_losses
from privet.privacy.sml import published_epsilon

__all__ = ["Account", "account", "account_to_target", "calibrate", "default_delta", "epsilon", "step_losses"]

_TRUNCATED = 1e-6  # the part of delta that truncations of C and of k may use together
Step = Callable[[float, float, float, float, int, int | None], tuple[Losses, Losses]]


@dataclass(frozen=True)
class Account:
    """What HeterPoisson with Gaussian noise guarantees, beside two comparisons that privet does not rely on.

    ``k_revealed_epsilon`` also reveals how many sub-graphs picked the node (sound, larger). ``published_epsilon`` is
    the paper's Theorem 2 for symmetric multivariate Laplace noise of the same sigma (not sound).
    """

    epsilon: float
    worst_out_degree: int
    k_revealed_epsilon: float
    published_epsilon: float
    sigma: float
    delta: float

    def guarantee(self) -> Guarantee:
        """The guarantee of a training run with these settings."""
        return Guarantee(
            "central",
            Unit.NODE,
            ADJACENCY[Unit.NODE],
            self.epsilon,
            self.delta,
            published_epsilon=self.published_epsilon,
            unprotected=(
                "the degrees of all nodes in the whole graph (scenario S2)",
                "nodes outside the training set, their features and the edges among them",
                "the choice of hyper-parameters, if it was made on the training data",
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command line prints them."""
        return {
            "epsilon": self.epsilon,
            "k_revealed_epsilon": self.k_revealed_epsilon,
            "published_epsilon": self.published_epsilon,
            "worst_out_degree": self.worst_out_degree,
            "sigma": self.sigma,
            "delta": self.delta,
        }


def default_delta(num_nodes: int) -> float:
    """N^-1.1, as in the paper."""
    return float(num_nodes**-1.1)


def epsilon(sigma: float, q: float, M: float, T: int, delta: float, num_nodes: int) -> float:
    """Epsilon of T steps at delta, for nodes of any out-degree in [0, num_nodes - 1].

    >>> round(epsilon(4.0, 0.2, 1, 50, 1e-5, 1000), 2)
    3.45
    """
    return _worst_degree(_step, sigma, q, M, T, delta, num_nodes)[0]


def account(sigma: float, q: float, M: float, T: int, delta: float, num_nodes: int) -> Account:
    """The guarantee with its comparisons."""
    value, degree = _worst_degree(_step, sigma, q, M, T, delta, num_nodes)
    revealed, _ = _worst_degree(_revealed_step, sigma, q, M, T, delta, num_nodes)
    return Account(
        epsilon=value,
        worst_out_degree=degree,
        k_revealed_epsilon=max(value, revealed),
        published_epsilon=published_epsilon(sigma, q, M, T, delta, num_nodes),
        sigma=float(sigma),
        delta=float(delta),
    )


def calibrate(target_epsilon: float, q: float, M: float, T: int, delta: float, num_nodes: int) -> float:
    """A sigma with epsilon(sigma, ...) <= target_epsilon, verified, and little more of it than that takes."""
    target = check_epsilon(target_epsilon, "calibrate", name="target_epsilon")
    _check(1.0, q, M, T, delta, num_nodes)

    def at_largest_unsampled(sigma: float) -> float:
        degree = min(math.floor(M), num_nodes - 1)
        return compose_steps(step_losses(sigma, q, degree, 1.0, truncated=_TRUNCATED * delta / T), T, delta)

    sigma = _least_sigma(at_largest_unsampled, target)  # usually the worst degree, and quick to compute
    while (found := epsilon(sigma, q, M, T, delta, num_nodes)) > target:
        sigma *= max(1.001, min(found / target, 2.0))  # epsilon falls at least about as fast as 1 / sigma
    return sigma


def account_to_target(target_epsilon: float, q: float, M: float, T: int, delta: float, num_nodes: int) -> Account:
    """The account of the calibrated sigma."""
    return account(calibrate(target_epsilon, q, M, T, delta, num_nodes), q, M, T, delta, num_nodes)


def step_losses(sigma: float, q: float, degree: int, p: float, *, truncated: float = 1e-15) -> tuple[Losses, Losses]:
    """The dominating privacy losses of one step in both directions (with the node against without it, and back).

    ``truncated`` bounds the probability of the values of C and of k that are left out; they count as infinite losses.
    """
    counts, chances, lost = rounded_up(*binomial(degree, q, truncated / 2))
    picked = [binomial(int(count), p, truncated / 2)[0] for count in counts]
    return mixed_losses(sigma, [shift_weights(q, law) for law in picked], chances, lost)


def _step(sigma: float, q: float, M: float, truncated: float, low: int, high: int | None) -> tuple[Losses, Losses]:
    """Losses that dominate the step of every out-degree in [low, high], or in [low, infinity) if high is None."""
    if high is not None:
        return step_losses(sigma, q, high, min(1.0, M / low) if low else 1.0, truncated=truncated)
    fractions, chances, lost = binomial_fractions(low, q, truncated / 2)
    picked = [poisson(-u * low * math.log1p(-M / low), truncated / 2) for u in fractions]
    return mixed_losses(sigma, [shift_weights(q, law) for law in picked], chances, lost)


def _revealed_step(
    sigma: float, q: float, M: float, truncated: float, low: int, high: int | None
) -> tuple[Losses, Losses]:
    """As :func:`_step`, but k is revealed too: each shift by itself."""
    rate = q * min(1.0, M / low) if low else q
    law = poisson(-low * math.log1p(-rate), truncated) if high is None else binomial(high, rate, truncated)[0]
    marginal = shift_weights(q, law)
    shifts = np.flatnonzero(marginal)
    alone = [np.eye(1, int(shift) + 1, int(shift))[0] for shift in shifts]
    return mixed_losses(sigma, alone, marginal[shifts], max(0.0, 1.0 - float(marginal.sum())))


def _worst_degree(
    step: Step, sigma: float, q: float, M: float, T: int, delta: float, num_nodes: int
) -> tuple[float, int]:
    _check(sigma, q, M, T, delta, num_nodes)

    def bound(low: int, high: int | None) -> float:
        return compose_steps(step(sigma, q, M, _TRUNCATED * delta / T, low, high), T, delta)

    return over_degrees(bound, M, num_nodes - 1, 64 if step is _step else 12)


def _least_sigma(at: Callable[[float], float], target: float) -> float:
    """Bisection to 0.1 %: what is returned was evaluated, and at(sigma) <= target."""
    low, high = 0.5, 1.0
    while at(high) > target:
        low, high = high, 2 * high
    while high <= 1.0 and at(low) <= target:
        low, high = low / 2, low
    while high > low * 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if at(middle) <= target else (middle, high)
    return high


def _check(sigma: float, q: float, M: float, T: int, delta: float, num_nodes: int) -> None:
    for name, value, expected, valid in (
        ("sigma", sigma, "a finite number above 0", lambda x: 0 < x < math.inf),
        ("q", q, "a sampling rate in (0, 1]", lambda x: 0 < x <= 1),
        ("M", M, "a finite number of at least 0", lambda x: 0 <= x < math.inf),
        ("delta", delta, "a number in [1e-10, 1)", lambda x: 1e-10 <= x < 1),
    ):
        if not isinstance(value, Real) or isinstance(value, bool) or not valid(value):
            raise InvalidParameter(name, "the node-level accountant", expected, value)
    for name, count in (("T", T), ("num_nodes", num_nodes)):
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
            raise InvalidParameter(name, "the node-level accountant", "a whole number of at least 1", count)
