"""Randomised response over c classes, for labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from privet.errors import InvalidData
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.base import Distribution, Mechanism, check_count
from privet.mechanisms.core.reports import Reports
from privet.mechanisms.core.shapes import SymbolShape
from privet.mechanisms.core.tally import Channel, Tally
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.odds import Odds, odds
from privet.privacy import Guarantee, Unit
from privet.privacy.guarantee import check_epsilon

__all__ = ["RandomizedResponse", "answer"]


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(Mechanism):
    """Tell the true class with probability p = e^epsilon / (e^epsilon + c - 1), each other one with q = p / e^epsilon.

    The estimate of a user's one-hot label is (onehot(report) - q) / (p - q), which is unbiased: it is the report's
    row of the transition matrix's inverse.

    Formal guarantee: epsilon-LDP of the label, since high / low <= e^epsilon by exact arithmetic.

    >>> RandomizedResponse(epsilon=1.0, classes=2).transition.round(3).tolist()
    [[0.731, 0.269], [0.269, 0.731]]
    """

    name = "randomized-response"
    words = "the true class is answered with some probability, and otherwise another one"
    implied = ("classes",)
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 1.0, "classes": 4}
    epsilon: float
    classes: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "classes", check_count(self.classes, "classes", 2, 1 << 30))
        _ = self.odds

    @cached_property
    def odds(self) -> Odds:
        """The weights of the true and of each other class."""
        return odds(Fraction(self.epsilon), lows=self.classes - 1)

    @property
    def keep(self) -> float:
        """p, the probability of the true class."""
        return self.odds.high / self.odds.total

    @property
    def flip(self) -> float:
        """q, the probability of each other class."""
        return self.odds.low / self.odds.total

    @property
    def transition(self) -> NDArray[np.float64]:
        """T[i, j] = Pr[report j | class i]."""
        return np.full((self.classes,) * 2, self.flip) + (self.keep - self.flip) * np.eye(self.classes)

    @property
    def inverse(self) -> NDArray[np.float64]:
        """The inverse of the transition matrix, (I - q) / (p - q)."""
        return (np.eye(self.classes) - self.flip) / (self.keep - self.flip)

    def perturb(self, values: ArrayLike, bits: Bits) -> Reports:
        """One class for each label."""
        labels = self._labels(values)
        reported = answer(labels, np.int64(self.classes), self.odds.high, self.odds.low, bits)
        return Reports(1, reported[:, None].astype(self.symbol_dtype))

    @property
    def shape(self) -> SymbolShape:
        """One symbol."""
        return SymbolShape(1, 1, self.symbol_dtype)

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which rows name a class."""
        return np.asarray((reports.symbols[:, 0] >= 0) & (reports.symbols[:, 0] < self.classes))

    def sends(self) -> str:
        """Tell how often the truth is sent."""
        return f"the true one with {self.keep:.0%} probability, otherwise another one"

    def estimate(self, reports: Reports) -> AffineFeatures:
        """The unbiased one-hot label of each user, N x c."""
        reported = self.validate(reports).symbols[:, 0].astype(np.int32)
        users = len(reported)
        hot = sp.csr_array(
            (np.ones(users, dtype=np.float32), reported, np.arange(users + 1)), shape=(users, self.classes)
        )
        gap = self.keep - self.flip
        return AffineFeatures(hot, np.full(self.classes, 1 / gap), np.full(self.classes, -self.flip / gap))

    def influence(self) -> float:
        """Return 1 / (keep - flip): a report counts fully for a class, or not at all."""
        return 1 / (self.keep - self.flip)

    def guarantee(self) -> Guarantee:
        """epsilon-LDP of the label."""
        return Guarantee.local(Unit.LABEL, self.epsilon, unprotected=("that the user took part",))

    def tallies(self, reports: Reports) -> tuple[Tally, ...]:
        """One column; a class is reported with a probability between q and p."""
        counts = np.bincount(self.validate(reports).symbols[:, 0], minlength=self.classes)
        return (Tally(Channel.response(self.keep, self.flip, self.classes), counts[None]),)

    def log_peaks(self, reports: Reports) -> NDArray[np.float64]:
        """log p: the report may be the truth."""
        return np.full(len(reports), math.log(self.keep))

    def log_likelihood(self, reports: Reports, values: ArrayLike) -> NDArray[np.float64]:
        """log p where the report is the label, log q elsewhere."""
        same = self.validate(reports).symbols[:, 0] == self._labels(values)
        return np.log(np.where(same, self.keep, self.flip))

    def worst_values(self) -> NDArray[np.int64]:
        """People of the first class: all are alike."""
        return np.zeros(3, dtype=np.int64)

    @property
    def span(self) -> float:
        """From no share of a class to all of it."""
        return 1.0

    def variance(self, values: ArrayLike) -> NDArray[np.float64]:
        """Pr (1 - Pr) / (p - q)^2 of each class, N x c."""
        chance = np.where(self._labels(values)[:, None] == np.arange(self.classes), self.keep, self.flip)
        return np.asarray(chance * (1 - chance) / (self.keep - self.flip) ** 2)

    def exact_distribution(self, value: Any) -> Distribution:
        """The weights over their total."""
        label = int(self._labels(value)[0])
        weights = {c: Fraction(self.odds.high if c == label else self.odds.low) for c in range(self.classes)}
        return {c: (weight / self.odds.total,) * 2 for c, weight in weights.items()}

    @property
    def num_reports(self) -> int:
        """One a class."""
        return self.classes

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """The first two classes, either way: classes are treated alike, and all pairs where they are few."""
        return itertools.permutations(range(min(self.classes, 16)), 2)

    def inputs(self) -> Iterator[Any]:
        """All classes."""
        return iter(range(self.classes))

    def report_key(self, reports: Reports, row: int) -> Hashable:
        """The reported class."""
        return int(reports.symbols[row, 0])

    @property
    def symbol_dtype(self) -> np.dtype[Any]:
        """The integers that hold every symbol."""
        return np.min_scalar_type(-self.classes)

    def _labels(self, values: ArrayLike) -> NDArray[np.int64]:
        labels = np.atleast_1d(np.asarray(values))
        if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
            found = f"{labels.dtype} of {labels.ndim} dimensions"
            raise InvalidData("labels given to RandomizedResponse", "a vector of integers", found)
        outside = (labels < 0) | (labels >= self.classes)
        if outside.any():
            row = int(np.argmax(outside))
            raise InvalidData(
                f"RandomizedResponse takes classes in [0, {self.classes}); the label in row {row} is outside."
            )
        return labels.astype(np.int64)


def answer(truth: NDArray[np.int64], choices: Any, high: Any, low: Any, bits: Bits) -> NDArray[np.int64]:
    """Keep the truth with weight ``high``, move to each of the other choices with weight ``low``; one draw each."""
    draws = bits.below(np.asarray(high) + (choices - 1) * low, truth.shape)
    other = (draws - high) // low
    return np.where(draws < high, truth, other + (other >= truth))
