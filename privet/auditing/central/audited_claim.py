"""The claim about a training run that audits with canaries try to refute."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Self

from privet.mechanisms.primitives.noise import Noise
from privet.privacy.accounting.losses import noise_multiplier_of, paper_sigma
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson
from privet.privacy.delta import Delta, chosen_delta

__all__ = ["PAPER_NOISE_MULTIPLIER", "PAPER_RUN", "AuditedClaim"]

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
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "process"}
        run = {"rate": self.process.rate, "steps": self.process.steps, "multiplier": self.process.canary_multiplier}
        return {**own, **run, "sigma": self.sigma, "broken": self.broken, "closeness": self.closeness}
