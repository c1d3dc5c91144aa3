"""The release of a trusted holder: a model that was trained with noise, and the promise that comes with it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Self

from privet.errors import InvalidParameter
from privet.privacy import Guarantee, Unit
from privet.privacy.accounting.processes import Noise, Process
from privet.privacy.delta import Delta, chosen_delta, delta_warning
from privet.privacy.ledger import LedgerLine

__all__ = ["CentralRelease"]

_UNPROTECTED = (
    "features, labels and mutual edges of validation and test nodes",
    "the number of nodes",
    "who is a validation or test node; if everybody else is known to have trained, that names the training nodes",
    "the choice of settings, if training nodes decided it",
)
_HOW = "each person's influence on a training step is bounded, and random noise is added to the sum"
_SIMULATED = "anything, from somebody who guesses the seed: a seeded run is a simulation"


@dataclass(frozen=True, kw_only=True)
class CentralRelease:
    """A trained model that does not betray whether a training node took part.

    Everything in it is public, and what it says of itself is what ``account``, ``run`` and a privacy statement say.

    Args:
        process: The sampling process of the training.
        noise_multiplier: The noise's standard deviation over the clipping norm; 0 is a training that protects nobody.
        delta: The probability that the bound may fail with.
        noise: The kind of noise (default "gaussian").
        simulated: True if a seed makes coins and noise repeatable (default False).

    >>> from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling
    >>> process = PoissonSampling(rate=0.1, steps=30, num_nodes=1000)
    >>> CentralRelease.calibrated(process, 2.0).guarantee().epsilon <= 2.0
    True
    """

    process: Process
    noise_multiplier: float
    delta: float
    noise: Noise = "gaussian"
    simulated: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.noise_multiplier < math.inf:
            expected = "a finite number of at least 0"
            raise InvalidParameter("noise_multiplier", expected, self.noise_multiplier)
        if not 0 < self.delta < 1:
            raise InvalidParameter("delta", "between 0 and 1", self.delta)

    @classmethod
    def calibrated(
        cls, process: Process, target_epsilon: float, delta: Delta | None = None, *, simulated: bool = False
    ) -> Self:
        """Return the release with little more Gaussian noise than the target epsilon takes, and never less."""
        chosen = chosen_delta(delta, process.num_nodes)
        noise_multiplier = process.calibrate(target_epsilon, chosen)
        return cls(process=process, noise_multiplier=noise_multiplier, delta=chosen, simulated=simulated)

    @property
    def mechanism(self) -> str:
        """The noise in words, as a ledger and a privacy statement name it."""
        return f"{self.noise} noise on sums of clipped gradients"

    @property
    def unprotected(self) -> tuple[str, ...]:
        """The things that an observer may learn all the same."""
        risk = delta_warning(self.delta, self.process.num_nodes)
        return (*_UNPROTECTED, *self.process.public_facts, *risk, *((_SIMULATED,) if self.simulated else ()))

    def guarantee(self) -> Guarantee | None:
        """Return what holds of the released model; None without noise. So little that nothing holds is an error."""
        if not self.noise_multiplier:
            return None
        epsilon = self.process.epsilon(self.noise_multiplier, self.delta, self.noise)
        if not math.isfinite(epsilon):
            expected = f"so large that epsilon is finite at delta {self.delta:.2g}"
            raise InvalidParameter("noise_multiplier", expected, self.noise_multiplier)
        # A paper's claim about SML noise says nothing about Gaussian noise.
        claimed = self.noise == "sml"
        return Guarantee(
            "central",
            Unit.NODE,
            self.process.adjacency,
            epsilon,
            self.delta,
            published_epsilon=self.process.published_epsilon(self.noise_multiplier, self.delta) if claimed else None,
            unprotected=self.unprotected,
        )

    def lines(self) -> tuple[LedgerLine, ...]:
        """Return the ledger: one line, since steps compose as distributions of losses and not by adding."""
        guarantee = self.guarantee()
        return () if guarantee is None else (LedgerLine.of("training", self.mechanism, guarantee, _HOW),)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "process": self.process.to_dict()}
