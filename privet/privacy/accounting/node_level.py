"""Node-level accountant of HeterPoisson with Gaussian noise. The proof is in docs/accountant.md.

One step, target node of out-degree D, base rate q, multiplier M, p = min(1, M/D), clip 1/2 and noise N(0, sigma^2 I):
given that C ~ Bi(D, q) of its out-neighbours are central, taking part shifts the clipped sum by at most

    1/2  with probability q                     (the node is central, and removed wherever it is peripheral)
    k    with probability (1 - q) Bi(k; C, p)   (k sub-graphs picked it, each moves by at most 1)

so the step is dominated by that scalar mixture of Gaussians against N(0, sigma^2), with C revealed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

from privet.errors import InvalidParameter
from privet.privacy.accounting.calibration import least_noise
from privet.privacy.accounting.degrees import over_degrees
from privet.privacy.accounting.losses import compose_steps
from privet.privacy.accounting.sml import published_epsilon
from privet.privacy.accounting.steps import Step, bracket_step, revealed_step, sml_step, step_losses
from privet.privacy.guarantee import ADJACENCY, Guarantee, Unit, check_epsilon

__all__ = ["Account", "account", "account_to_target", "calibrate", "default_delta", "epsilon", "step_losses"]

Noise: TypeAlias = Literal["gaussian", "sml"]


@dataclass(frozen=True)
class Account:
    """What HeterPoisson guarantees, beside two comparisons that privet does not rely on.

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


def epsilon(
    sigma: float, q: float, M: float, T: int, delta: float, num_nodes: int, *, noise: Noise = "gaussian"
) -> float:
    """Epsilon of T steps at delta, for nodes of any out-degree in [0, num_nodes - 1].

    With ``noise="sml"`` it is what holds of the paper's noise, rounded up: far more than the paper claims.

    >>> round(epsilon(4.0, 0.2, 1, 50, 1e-5, 1000), 2)
    3.45
    """
    return _worst_degree(_step_of(noise), sigma, q, M, T, delta, num_nodes)[0]


def account(
    sigma: float, q: float, M: float, T: int, delta: float, num_nodes: int, *, noise: Noise = "gaussian"
) -> Account:
    """The guarantee with its comparisons."""
    value, degree = _worst_degree(_step_of(noise), sigma, q, M, T, delta, num_nodes)
    revealed = value  # the bound for SML noise reveals k in any case
    if noise == "gaussian":
        revealed = max(value, _worst_degree(revealed_step, sigma, q, M, T, delta, num_nodes)[0])
    return Account(
        epsilon=value,
        worst_out_degree=degree,
        k_revealed_epsilon=revealed,
        published_epsilon=published_epsilon(sigma, q, M, T, delta, num_nodes),
        sigma=float(sigma),
        delta=float(delta),
    )


def calibrate(
    target_epsilon: float, q: float, M: float, T: int, delta: float, num_nodes: int, *, noise: Noise = "gaussian"
) -> float:
    """A sigma with epsilon(sigma, ...) <= target_epsilon, verified, and little more of it than that takes."""
    target = check_epsilon(target_epsilon, "calibrate", name="target_epsilon")
    _check(1.0, q, M, T, delta, num_nodes)
    step, degree = _step_of(noise), min(math.floor(M), num_nodes - 1)

    def at_largest_unsampled(sigma: float) -> float:
        return compose_steps(step(sigma, q, M, delta / T, degree, degree), T, delta)

    sigma = least_noise(at_largest_unsampled, target, "calibrate")  # usually the worst degree, and quick to compute
    while (found := epsilon(sigma, q, M, T, delta, num_nodes, noise=noise)) > target:
        sigma *= max(1.001, min(found / target, 4.0) ** 0.7)  # epsilon falls about as fast as sigma^-1.4
    return sigma


def account_to_target(
    target_epsilon: float, q: float, M: float, T: int, delta: float, num_nodes: int, *, noise: Noise = "gaussian"
) -> Account:
    """The account of the calibrated sigma."""
    sigma = calibrate(target_epsilon, q, M, T, delta, num_nodes, noise=noise)
    return account(sigma, q, M, T, delta, num_nodes, noise=noise)


def _step_of(noise: str) -> Step:
    steps: dict[str, Step] = {"gaussian": bracket_step, "sml": sml_step}
    if noise not in steps:
        raise InvalidParameter("noise", "the node-level accountant", "gaussian or sml", noise)
    return steps[noise]


def _worst_degree(
    step: Step, sigma: float, q: float, M: float, T: int, delta: float, num_nodes: int
) -> tuple[float, int]:
    _check(sigma, q, M, T, delta, num_nodes)

    def bound(low: int, high: int) -> float:
        return compose_steps(step(sigma, q, M, delta / T, low, high), T, delta)

    return over_degrees(bound, M, num_nodes - 1, 48 if step is bracket_step else 12)


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
