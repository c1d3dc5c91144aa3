"""The public description of a sampling process, and its price: what systems, accounts and audits share."""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import asdict, dataclass
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeAlias

from privet.errors import InvalidParameter
from privet.privacy.accounting.calibration import least_noise
from privet.privacy.accounting.losses import ROUND_OFF, Losses, paper_sigma
from privet.privacy.accounting.program import program_epsilon, program_price
from privet.privacy.guarantee import check_epsilon

__all__ = ["DEGREES_ARE_PUBLIC", "NODE_ALONE", "Comparison", "Explanation", "Noise", "Part", "Process", "is_count"]

Noise: TypeAlias = Literal["gaussian", "sml"]

NODE_ALONE = "add or remove one training node with its features, label and edges"
DEGREES_ARE_PUBLIC = "each node's degree in the whole graph"


@dataclass(frozen=True)
class Part:
    """One part of an epsilon or of a delta.

    Attributes:
        key: Its name in JSON.
        value: The amount.
        words: What it pays for.
    """

    key: str
    value: float
    words: str


@dataclass(frozen=True)
class Explanation:
    """The parts that a guarantee's figures are made of.

    Attributes:
        epsilon: Parts that add up to epsilon.
        delta: Parts that add up to delta (default: none).
        sentences: The rest that a reader should know (default: nothing).
    """

    epsilon: tuple[Part, ...]
    delta: tuple[Part, ...] = ()
    sentences: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "epsilon": [asdict(part) for part in self.epsilon],
            "delta": [asdict(part) for part in self.delta],
            "sentences": list(self.sentences),
        }


@dataclass(frozen=True)
class Comparison:
    """A figure that is shown beside an epsilon and that privet does not rely on.

    Attributes:
        key: The figure's name in JSON.
        title: The same in words.
        value: The figure.
    """

    key: str
    title: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Process(ABC):
    """Repeated noisy sums over randomly sampled training nodes; all parameters are public.

    Formal guarantee: a run of the process with noise of standard deviation ``noise_multiplier`` times the clipping
    norm is (epsilon(noise_multiplier, delta), delta)-private for data sets that are adjacent as ``adjacency`` says.

    Args:
        rate: q, the probability of a training node to be drawn in a step, in (0, 1].
        steps: T, the number of steps.
        num_nodes: N, the number of nodes of the whole graph.
    """

    name: ClassVar[str]
    noises: ClassVar[tuple[str, ...]] = ("gaussian",)
    """The kinds of noise that this process can be priced with."""
    claim: ClassVar[str] = ""
    """A sentence to be shown with ``published_epsilon``."""

    rate: float
    steps: int
    num_nodes: int

    def __post_init__(self) -> None:
        self._require("rate", _is_number(self.rate) and 0 < self.rate <= 1, "a sampling rate in (0, 1]")
        for name in ("steps", "num_nodes"):
            self._require(name, is_count(getattr(self, name)), "a whole number of at least 1")

    def epsilon(self, noise_multiplier: float, delta: float, noise: Noise = "gaussian") -> float:
        """Return an epsilon that holds, rounded up; infinite where none does.

        Args:
            noise_multiplier: The noise's standard deviation over the clipping norm, above 0.
            delta: The probability that the bound may fail with, in [1e-10, 1).
            noise: The kind of noise (default "gaussian").
        """
        return _priced(self, *self._checked(noise_multiplier, delta, noise))

    def calibrate(self, target_epsilon: float, delta: float) -> float:
        """Return a multiplier of Gaussian noise whose epsilon is at most the target: never weaker than asked."""
        target = check_epsilon(target_epsilon, name="target_epsilon")
        self._checked(1.0, delta, "gaussian")
        return _calibrated(self, target, delta)

    def published_epsilon(self, noise_multiplier: float, delta: float) -> float | None:
        """Return what a paper claims of its own noise of the same standard deviation; None without such a claim."""
        return None

    def comparisons(self, noise_multiplier: float, delta: float, noise: Noise = "gaussian") -> tuple[Comparison, ...]:
        """Return further figures of the same run for a reader who wants to know how the epsilon comes about."""
        return ()

    def explain(self, noise_multiplier: float, delta: float, noise: Noise = "gaussian") -> Explanation:
        """Return the parts that the epsilon and the delta of a run are made of."""
        sigma, delta, noise = self._checked(noise_multiplier, delta, noise)
        if noise == "sml":
            whole = Part("noise", self.epsilon(noise_multiplier, delta, noise), f"{self.steps} sums with SML noise")
            return Explanation((whole,))
        price = program_price(lambda left: self._epsilon(sigma, left, noise), delta)
        inexact = "the program's noise is Gaussian only up to its grid, tables and coins"
        program = Part("program", price.epsilon - price.real_epsilon, inexact)
        set_aside = Part("program", delta - price.real_delta, f"set aside because {inexact}")
        return Explanation(
            (*self._epsilon_parts(sigma, price.real_delta, price.real_epsilon), program),
            (*self._delta_parts(sigma, price.real_delta), set_aside),
            self._sentences(sigma, price.real_delta),
        )

    @property
    def sensitivity(self) -> float:
        """The L2 sensitivity of what is released before the steps; 0 if nothing is."""
        return 0.0

    @property
    def adjacency(self) -> str:
        """The data sets that the guarantee compares, in words."""
        return NODE_ALONE

    @property
    def public_facts(self) -> tuple[str, ...]:
        """The facts about protected nodes that the process takes as known to everybody."""
        return ()

    @property
    def canary_multiplier(self) -> float | None:
        """The M of the game with canaries that attacks this process; None without a game."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """The name and the public parameters, for JSON."""
        return {"process": self.name, **asdict(self)}

    def _epsilon(self, sigma: float, delta: float, noise: Noise) -> float:
        """Return epsilon for the paper's sigma, by default from :meth:`_losses`; the arguments have been checked."""
        losses = self._losses(sigma, delta)
        if losses is None:
            raise NotImplementedError(f"{type(self).__name__} has neither _losses nor _epsilon.")
        return max(side.epsilon(delta) for side in losses)

    def _losses(self, sigma: float, delta: float) -> tuple[Losses, Losses] | None:
        """Return the losses of a run with Gaussian noise in both directions; None if a process does not tell them."""
        return None

    def _epsilon_parts(self, sigma: float, delta: float, epsilon: float) -> tuple[Part, ...]:
        """Return the parts of the epsilon that real Gaussian noise needs."""
        sums = "one noisy sum" if self.steps == 1 else f"{self.steps} noisy sums, composed as privacy losses"
        return (Part("noise", epsilon, sums),)

    def _delta_parts(self, sigma: float, delta: float) -> tuple[Part, ...]:
        """Return the parts of the delta that is left to real Gaussian noise."""
        exceeded = "runs in which the privacy loss exceeds epsilon, weighted with the excess"
        losses = self._losses(sigma, delta)
        if losses is None:
            return (Part("exceeded", delta, exceeded),)
        infinite = max(losses, key=lambda side: side.epsilon(delta)).infinite
        arithmetic = min(infinite, ROUND_OFF * self.steps)
        return (
            Part("exceeded", delta - infinite, exceeded),
            *self._tail_parts(sigma, delta, infinite - arithmetic),
            Part("arithmetic", arithmetic, "rounding errors of the convolution"),
        )

    def _tail_parts(self, sigma: float, delta: float, tails: float) -> tuple[Part, ...]:
        """Return the parts of the probability of outcomes that count as an infinite loss."""
        return (Part("tails", tails, "noise beyond 9 standard deviations"),)

    def _sentences(self, sigma: float, delta: float) -> tuple[str, ...]:
        """Return what else a reader should know about the figure."""
        return ()

    def _lower_bound(self, sigma: float, delta: float) -> float:
        """Return an epsilon of Gaussian noise that is quick to compute and not above the true one."""
        return _priced(self, sigma, delta, "gaussian")

    def _checked(self, noise_multiplier: float, delta: float, noise: Noise) -> tuple[float, float, Noise]:
        if not _is_number(noise_multiplier) or not 0 < noise_multiplier < math.inf:
            raise InvalidParameter("noise_multiplier", "a finite number above 0", noise_multiplier)
        if not _is_number(delta) or not 1e-10 <= delta < 1:
            raise InvalidParameter("delta", "a number in [1e-10, 1)", delta)
        if noise not in self.noises:
            raise InvalidParameter("noise", " or ".join(self.noises), noise)
        return paper_sigma(noise_multiplier), float(delta), noise

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise InvalidParameter(name, expected, getattr(self, name))


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: object) -> bool:
    """Tell if a value is a whole number of at least 1."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


# An accountant may take seconds, and a table asks for the same figure often.
@lru_cache(maxsize=256)
def _priced(process: Process, sigma: float, delta: float, noise: Noise) -> float:
    if noise == "sml":  # reproduced in double precision, and never relied on
        return process._epsilon(sigma, delta, noise)
    return program_epsilon(lambda left: process._epsilon(sigma, left, noise), delta)


@lru_cache(maxsize=64)
def _calibrated(process: Process, target: float, delta: float) -> float:
    return least_noise(
        lambda noise_multiplier: process.epsilon(noise_multiplier, delta),
        target,
        lambda noise_multiplier: process._lower_bound(paper_sigma(noise_multiplier), delta),
    )
