"""The family of trade-off curves of one process with more or less Gaussian noise.

A bound that assumes that the truth is one of these curves is another statement than a bound without assumptions. It
says how much noise the observations still allow, and what that noise is worth at delta. Since the shape of the curve
is given, all observations count for it, and not only the rare ones that happen with a probability around delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from privet.auditing.central.trade_off import TradeOff
from privet.privacy.accounting.losses import Losses, paper_sigma
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.steps import step_losses

__all__ = ["NoiseFamily"]

_MOST = 16.0  # times the noise of the run: a family member so private is not told from perfect privacy
_LEAST = 0.25  # times that noise: nobody claims to have added so much more than was added
_CLOSE = 0.002  # relative precision of the noise


@dataclass(frozen=True)
class NoiseFamily:
    """The dominating pairs of a canary with a number of listeners, for every noise multiplier.

    Args:
        process: A sampling process whose ``canary_multiplier`` is not None.
        degree: The number of nodes that listen to the canary.
    """

    process: Process
    degree: int

    def curve(self, noise_multiplier: float) -> TradeOff:
        """Return the trade-off curve of a run with this noise."""
        return _curve(self, noise_multiplier)

    def epsilon(self, noise_multiplier: float, delta: float) -> float:
        """Return epsilon at delta of a run with this noise."""
        return max(losses.epsilon(delta) for losses in _losses(self.process, self.degree, noise_multiplier))

    def least_refuted(self, refuted: Callable[[TradeOff], bool], around: float) -> float:
        """Return the least noise multiplier whose curve is refuted; infinite if none is.

        Args:
            refuted: Tells whether the observations refute a curve.
            around: A noise multiplier near which to look.
        """
        low, high = _LEAST * around, _MOST * around
        if not refuted(self.curve(high)):
            return math.inf
        middle = 1.2 * around  # most audits end near here
        while high > low * (1 + _CLOSE):
            low, high = (low, middle) if refuted(self.curve(middle)) else (middle, high)
            middle = math.sqrt(low * high)
        return high

    def epsilon_lower(self, refuted: Callable[[TradeOff], bool], around: float, delta: float) -> float:
        """Return the epsilon at delta of the noisiest member that is not refuted; 0 if all are possible.

        Args:
            refuted: Tells whether the observations refute a curve.
            around: A noise multiplier near which to look.
            delta: The delta at which to read epsilon.
        """
        noise = self.least_refuted(refuted, around)
        return self.epsilon(noise, delta) if math.isfinite(noise) else 0.0


@lru_cache(maxsize=64)
def _curve(family: NoiseFamily, noise_multiplier: float) -> TradeOff:
    return TradeOff.of_losses(_losses(family.process, family.degree, noise_multiplier))


@lru_cache(maxsize=64)
def _losses(process: Process, degree: int, noise_multiplier: float) -> tuple[Losses, Losses]:
    multiplier = process.canary_multiplier or 0.0
    pick = min(1.0, multiplier / degree) if degree else 1.0
    forward, backward = step_losses(paper_sigma(noise_multiplier), process.rate, degree, pick)
    return forward.composed(process.steps), backward.composed(process.steps)
