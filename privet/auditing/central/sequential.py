"""An audit that stops when it is sure: runs with many canaries, each of which settles bets against the claim.

The probability of error is that of :mod:`privet.auditing.central.betting`, and holds at whatever run one stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privet.auditing.central.audited_claim import PAPER_RUN, AuditedClaim
from privet.auditing.central.betting import Betting
from privet.auditing.central.graph_canaries import CanaryGraph, ManyCanaries
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.mechanisms.primitives.noise import Noise
from privet.privacy.accounting.processes import Process

__all__ = ["SequentialAudit", "audit_sequentially"]


@dataclass(frozen=True, kw_only=True)
class SequentialAudit(AuditedClaim):
    """A claim, and the runs after which an audit was sure, or gave up.

    ``epsilon_lower`` holds at the time of stopping.

    Attributes:
        refuted: True if the bets against the claim were won.
        error: The probability with which a true claim is ever refuted.
        runs: The training runs that were played.
        most_runs: The runs after which the audit would have given up.
        canaries: The canaries in each run.
        log_fortune: The logarithm of the fortune against the claim; -log(error) refutes it.
    """

    refuted: bool
    error: float
    runs: int
    most_runs: int
    canaries: int
    log_fortune: float

    @property
    def broken(self) -> bool:
        """True if the claim is refuted."""
        return self.refuted

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"audit": "sequential", **super().to_dict()}


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
        delta: The delta of the claim (default: the paper's N^-1.1).
        runs: The most training runs to play (default 200).
        canaries: The canaries in each run (default 4,000).
        confidence: 1 less the probability with which a true claim may ever be refuted (default 0.95).
        seed: The seed of the game (default 0).
    """
    claim = AuditedClaim.of(process, noise_multiplier, noise, delta)
    most = 200 if runs is None else runs
    if most < 1:
        raise InvalidParameter("runs", "at least 1", runs)
    game = ManyCanaries(process, claim.noise_multiplier, noise, 4_000 if canaries is None else canaries)
    graph, bits = CanaryGraph.planted(game.canaries, game.out_degree), SeededBits(seed)
    betting = Betting(game.canaries, claim.claim, claim.delta, 1 - confidence)
    while betting.runs < most and not betting.refuted:
        betting.see(game.play(bits, graph))
    return SequentialAudit(
        **claim.facts(),
        refuted=betting.refuted,
        epsilon_lower=betting.epsilon_lower(),
        error=1 - confidence,
        runs=betting.runs,
        most_runs=most,
        canaries=game.canaries,
        log_fortune=betting.log_fortune,
    )
