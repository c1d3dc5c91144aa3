"""The claim about a training run that audits with canaries try to refute, and the game that they play."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.primitives.noise import Noise
from privet.privacy.accounting.losses import noise_multiplier_of, paper_sigma
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson
from privet.privacy.delta import Delta, chosen_delta

__all__ = ["PAPER_NOISE_MULTIPLIER", "PAPER_RUN", "AuditedClaim", "ProcessGame", "log_of_sum"]

Array = NDArray[np.float64]

PAPER_RUN = HeterogeneousPoisson(rate=4096 / 22_470, steps=50, num_nodes=22_470)
"""The Facebook run of HeterPoisson's paper."""
PAPER_NOISE_MULTIPLIER = noise_multiplier_of(12.7312)
"""The noise of that run at its claimed epsilon 2."""


@dataclass(frozen=True, kw_only=True)
class AuditedClaim:
    """An epsilon that somebody claims of a training run; an audit adds what it found.

    Attributes:
        process: The sampling process under attack.
        noise: The kind of noise.
        noise_multiplier: The noise's standard deviation over the clipping norm.
        claim: The accountant's epsilon, and for SML noise the paper's if there is one.
        claimed_by: "the accountant" or the process's sentence about the paper's claim.
        delta: The delta of the claim.
        epsilon_lower: The lower bound without assumptions that was found (default 0).
    """

    process: Process
    noise: Noise
    noise_multiplier: float
    claim: float
    claimed_by: str
    delta: float

    epsilon_lower: float = 0.0

    @classmethod
    def of(cls, process: Process, noise_multiplier: float | None, noise: Noise, delta: Delta | None) -> Self:
        """Return the claim about a run, before anything was tried.

        Args:
            process: The sampling process.
            noise_multiplier: The noise's standard deviation over the clipping norm (None: that of the paper's run).
            noise: The kind of noise.
            delta: The delta of the claim (None: N^-1.1, the paper's, whose run is audited unless another one is given).
        """
        multiplier = PAPER_NOISE_MULTIPLIER if noise_multiplier is None else noise_multiplier
        chosen = chosen_delta("paper" if delta is None else delta, process.num_nodes)
        published = process.published_epsilon(multiplier, chosen) if noise == "sml" else None
        claim = process.epsilon(multiplier, chosen, noise) if published is None else published
        by = "the accountant" if published is None else process.claim
        return cls(process=process, noise=noise, noise_multiplier=multiplier, claim=claim, claimed_by=by, delta=chosen)

    def facts(self) -> dict[str, Any]:
        """Return the claim as arguments of an audit that adds what it found."""
        names = ("process", "noise", "noise_multiplier", "claim", "claimed_by", "delta")
        return {name: getattr(self, name) for name in names}

    @property
    def broken(self) -> bool:
        """True if the claim is refuted."""
        return self.epsilon_lower > self.claim

    @property
    def closeness(self) -> float:
        """The part of the claim that the attack reaches without assumptions."""
        return self.epsilon_lower / self.claim if self.claim else math.inf

    @property
    def sigma(self) -> float:
        """The noise in the units of HeterPoisson's paper."""
        return paper_sigma(self.noise_multiplier)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "process"}
        run = {"rate": self.process.rate, "steps": self.process.steps, "multiplier": self.process.canary_multiplier}
        return {**own, **run, "sigma": self.sigma, "broken": self.broken, "closeness": self.closeness}


@dataclass(frozen=True)
class ProcessGame:
    """A game against a sampling process, of one canary or of many.

    Args:
        process: A sampling process whose ``canary_multiplier`` is not None.
        noise_multiplier: The noise's standard deviation over the clipping norm.
        noise: "gaussian" (default) or "sml".
        degree: The number of nodes that listen to a canary (default M, the worst).
    """

    process: Process
    noise_multiplier: float
    noise: Noise = "gaussian"
    degree: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.process.canary_multiplier is None:
            raise InvalidParameter("process", "one that a canary game plays", self.process.name)
        self._check_at_least("noise_multiplier", 1e-9)

    def _check_at_least(self, name: str, least: float) -> None:
        if not getattr(self, name) >= least:
            raise InvalidParameter(name, f"at least {least}", getattr(self, name))

    @property
    def multiplier(self) -> float:
        """The sampling's multiplier, M."""
        return self.process.canary_multiplier or 0.0

    @property
    def sigma(self) -> float:
        """The noise's standard deviation in the game, whose gradients have norm 1/2."""
        return paper_sigma(self.noise_multiplier)

    @property
    def out_degree(self) -> int:
        """The number of nodes that listen to a canary."""
        return math.floor(self.multiplier) if self.degree is None else self.degree

    @property
    def pick(self) -> float:
        """The probability with which a listener that is central picks the canary."""
        return min(1.0, self.multiplier / self.out_degree) if self.out_degree else 0.0


def log_of_sum(weights_and_ratios: Iterable[tuple[Array, Array]]) -> Array:
    """Compute log sum_k w_k e^(r_k) from weights w, which may be 0, and log ratios r."""
    total: Array = np.asarray(-np.inf)
    for weight, log_ratio in weights_and_ratios:
        with np.errstate(divide="ignore"):
            total = np.logaddexp(total, np.log(weight) + log_ratio)
    return total
