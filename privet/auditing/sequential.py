"""An audit that stops when it is sure: runs with many canaries, each of which settles bets against the claim.

The probability of error is that of :mod:`privet.auditing.betting`, and holds at whatever run one stops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from privet.auditing.betting import Betting
from privet.auditing.canary import PAPER_NOISE_MULTIPLIER, PAPER_RUN, claimed
from privet.auditing.graph_canaries import CanaryGraph, ManyCanaries
from privet.mechanisms import SeededBits
from privet.mechanisms.primitives.noise import Noise
from privet.privacy.accounting.delta import default_delta
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.units import paper_sigma

__all__ = ["SequentialAudit", "audit_sequentially"]


@dataclass(frozen=True)
class SequentialAudit:
    """A claim, and the runs after which an audit was sure, or gave up.

    Attributes:
        process: The sampling process under attack.
        noise: The kind of noise.
        noise_multiplier: The noise's standard deviation over the clipping norm.
        claim: The accountant's epsilon, and for SML noise the paper's if there is one.
        claimed_by: "the accountant" or the process's sentence about the paper's claim.
        delta: The delta of the claim.
        broken: True if the claim was refuted.
        epsilon_lower: A lower bound without assumptions that holds at the time of stopping.
        error: The probability with which a true claim is ever refuted.
        runs: The training runs that were played.
        most_runs: The runs after which the audit would have given up.
        canaries: The canaries in each run.
        log_fortune: The logarithm of the fortune against the claim; -log(error) refutes it.
    """

    process: Process
    noise: str
    noise_multiplier: float
    claim: float
    claimed_by: str
    delta: float
    broken: bool
    epsilon_lower: float
    error: float
    runs: int
    most_runs: int
    canaries: int
    log_fortune: float

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
        parameters = {"rate": self.process.rate, "steps": self.process.steps}
        computed = {"multiplier": self.process.canary_multiplier, "sigma": self.sigma, "closeness": self.closeness}
        return {"audit": "sequential", **own, **parameters, **computed}


def audit_sequentially(
    process: Process = PAPER_RUN,
    noise_multiplier: float | None = None,
    noise: Noise = "gaussian",
    *,
    delta: float | None = None,
    runs: int | None = None,
    canaries: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> SequentialAudit:
    """Play runs with many canaries until the claim is refuted or there have been enough.

    Args:
        process: The sampling process (default: the paper's Facebook run).
        noise_multiplier: The noise's standard deviation over the clipping norm (default: that run's at epsilon 2).
        noise: "gaussian" (default), whose claim is the accountant's, or "sml", whose claim is the paper's.
        delta: The delta of the claim (default N^-1.1).
        runs: The most training runs to play (default 200).
        canaries: The canaries in each run (default 4,000).
        confidence: 1 less the probability with which a true claim may ever be refuted (default 0.95).
        seed: The seed of the game (default 0).
    """
    noise_multiplier = PAPER_NOISE_MULTIPLIER if noise_multiplier is None else noise_multiplier
    most = 200 if runs is None else runs
    delta = default_delta(process.num_nodes, "audit_sequentially") if delta is None else delta
    game = ManyCanaries(process, noise_multiplier, noise, 4_000 if canaries is None else canaries)
    claim, claimed_by = claimed(process, noise_multiplier, noise, delta)
    graph, bits = CanaryGraph.planted(game.canaries, game.out_degree), SeededBits(seed)
    betting = Betting(game.canaries, claim, delta, 1 - confidence)
    while betting.runs < most and not betting.refuted:
        betting.see(game.play(bits, graph))
    return SequentialAudit(
        process=process,
        noise=noise,
        noise_multiplier=noise_multiplier,
        claim=claim,
        claimed_by=claimed_by,
        delta=delta,
        broken=betting.refuted,
        epsilon_lower=betting.epsilon_lower(),
        error=1 - confidence,
        runs=betting.runs,
        most_runs=most,
        canaries=game.canaries,
        log_fortune=betting.log_fortune,
    )
