"""The audit in one run: many canaries at once, guesses about the surest of them, and what so many right ones refute.

Several runs may be pooled: they are one mechanism whose canaries are those of all runs. Rare failures need that, such
as the one of SML noise, whose scale is drawn anew in each step and betrays every canary at once when it is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from privet.auditing.central.audited_claim import PAPER_RUN, AuditedClaim
from privet.auditing.central.graph_canaries import CanaryGraph, ManyCanaries, Sightings
from privet.auditing.central.guesses import is_rarer_than, largest_refuted_epsilon
from privet.auditing.central.trade_off import NoiseFamily, TradeOff
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.mechanisms.primitives.noise import Noise
from privet.privacy.accounting.processes import Process

__all__ = ["RULES", "GuessRule", "OneRunAudit", "OneRunBounds", "audit_in_one_run", "bounds_of"]


@dataclass(frozen=True)
class GuessRule:
    """The canaries that are guessed: a share of them, those with the most telling scores.

    Attributes:
        share: The share of canaries that are guessed.
        both: True to guess half of them out, those with the smallest scores; else all of them are guessed in.
    """

    share: float
    both: bool

    def tally(self, seen: Sightings) -> tuple[int, int]:
        """Return the number of guesses and of correct ones."""
        order = np.argsort(seen.scores, kind="stable")
        out = int(self.share * order.size) // 2 if self.both else 0
        into = out if self.both else int(self.share * order.size)
        correct = int(seen.coins[order[order.size - into :]].sum()) + int((~seen.coins[order[:out]]).sum())
        return into + out, correct


RULES = (
    GuessRule(0.5, True),
    GuessRule(0.1, True),
    GuessRule(0.02, True),
    GuessRule(0.02, False),
    GuessRule(0.005, False),
)
"""The rules that an audit tries; each may be wrong with an equal part of the probability of error."""


@dataclass(frozen=True)
class OneRunBounds:
    """Lower bounds on epsilon, each of which holds with the stated confidence.

    Attributes:
        curve_epsilon_lower: Without assumptions: by the trade-off curve of (epsilon, delta) (arXiv 2410.22235).
        steinke_epsilon_lower: Without assumptions: by the theorem of Steinke and others (arXiv 2305.08846).
        family_epsilon_lower: Assuming the curve of the process with *some* Gaussian noise; None without a family.
        guesses: The number of guesses of the rule that gave the first bound.
        correct: The number of those that were right.
    """

    curve_epsilon_lower: float
    steinke_epsilon_lower: float
    family_epsilon_lower: float | None
    guesses: int
    correct: int

    @property
    def epsilon_lower(self) -> float:
        """The larger of the two bounds without assumptions: both are of the same probability."""
        return max(self.curve_epsilon_lower, self.steinke_epsilon_lower)


@dataclass(frozen=True, kw_only=True)
class OneRunAudit(AuditedClaim):
    """A claim, and what the guesses about many canaries show to be necessary.

    Attributes:
        bounds: The lower bounds.
        confidence: The probability with which each bound holds.
        runs: The training runs that were played.
        canaries: The canaries in each run.
        dimension: The dimension of the gradients in the game.
    """

    bounds: OneRunBounds
    confidence: float
    runs: int
    canaries: int
    dimension: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        found = super().to_dict()
        bounds = found.pop("bounds")
        return {"audit": "one-run", **found, **{field.name: getattr(bounds, field.name) for field in fields(bounds)}}


def audit_in_one_run(
    process: Process = PAPER_RUN,
    noise_multiplier: float | None = None,
    noise: Noise = "gaussian",
    *,
    delta: float | None = None,
    runs: int | None = None,
    canaries: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> OneRunAudit:
    """Try to break what is claimed of a training run, with many canaries in one run or in a few.

    Args:
        process: The sampling process (default: the paper's Facebook run).
        noise_multiplier: The noise's standard deviation over the clipping norm (default: that run's at epsilon 2).
        noise: "gaussian" (default), whose claim is the accountant's, or "sml", whose claim is the paper's.
        delta: The delta of the claim (default: the paper's N^-1.1).
        runs: The training runs (default 1, and 60 with SML noise).
        canaries: The canaries in each run (default 100,000, and 4,000 with SML noise).
        confidence: The probability with which a lower bound holds (default 0.95).
        seed: The seed of the game (default 0).
    """
    claim = AuditedClaim.of(process, noise_multiplier, noise, delta)
    usual_runs, usual_canaries = (60, 4_000) if noise == "sml" else (1, 100_000)
    runs = usual_runs if runs is None else runs
    if runs < 1:
        raise InvalidParameter("runs", "at least 1", runs)
    game = ManyCanaries(process, claim.noise_multiplier, noise, usual_canaries if canaries is None else canaries)
    graph, bits = CanaryGraph.planted(game.canaries, game.out_degree), SeededBits(seed)
    seen = Sightings.pooled([game.play(bits, graph) for _ in range(runs)])
    family = NoiseFamily(process, game.out_degree) if noise == "gaussian" else None
    bounds = bounds_of(seen, claim.delta, confidence, family=family, around=claim.noise_multiplier)
    return OneRunAudit(
        **claim.facts(),
        epsilon_lower=bounds.epsilon_lower,
        bounds=bounds,
        confidence=confidence,
        runs=runs,
        canaries=game.canaries,
        dimension=game.dimension,
    )


def bounds_of(
    seen: Sightings,
    delta: float,
    confidence: float = 0.95,
    *,
    rules: Sequence[GuessRule] = RULES,
    family: NoiseFamily | None = None,
    around: float = 1.0,
) -> OneRunBounds:
    """Return the lower bounds that the sightings of independent coins give, whatever mechanism they are of.

    Args:
        seen: The coins and the scores.
        delta: The delta of the claim.
        confidence: The probability with which each bound holds (default 0.95).
        rules: The rules of guessing, chosen before the run; they share the probability of error.
        family: Curves of which one is assumed to be true (default: none).
        around: A noise multiplier near which to look in the family.
    """
    canaries, error = seen.coins.size, (1 - confidence) / len(rules)
    tallies = [tally for tally in (rule.tally(seen) for rule in rules) if tally[0] > 0]
    if not tallies:
        raise InvalidParameter("canaries", "enough for some guesses", canaries)
    found = [(largest_refuted_epsilon(canaries, *tally, delta, error), *tally) for tally in tallies]
    steinke = [largest_refuted_epsilon(canaries, *tally, delta, error, by_curve=False) for tally in tallies]
    best, guesses, correct = max(found)

    def refuted(curve: TradeOff) -> bool:
        return any(is_rarer_than(error, canaries, *tally, curve) for tally in tallies)

    assumed = None if family is None else family.epsilon_lower(refuted, around, delta)
    return OneRunBounds(best, max(steinke), assumed, guesses, correct)
