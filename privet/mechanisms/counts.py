"""The number of a user's neighbours in each class, with two-sided geometric noise cut to a finite alphabet."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidData
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.base import Distribution, Mechanism, check_count, product_distribution
from privet.mechanisms.core.reports import Reports
from privet.mechanisms.core.shapes import SymbolShape
from privet.mechanisms.core.tally import Channel, Tally, share_p_values, tally_columns
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.geometric import MOST_CAP, GeometricWeights, geometric_weights
from privet.privacy import Guarantee
from privet.privacy.guarantee import check_epsilon

__all__ = ["Counts"]

_BLOCK = 1 << 20  # symbols that are drawn at once: the memory beside the reports does not grow with the users


@dataclass(frozen=True, kw_only=True)
class Counts(Mechanism):
    """Add noise k with Pr[k] proportional to e^(-epsilon |k|) to each count, and cut the sum to 0..cap.

    The two ends of the alphabet hold the tails. Cutting there loses nothing: all noisy counts beyond an end have the
    same likelihood ratios. The estimate of a count is the report itself, and 1 / (e^epsilon - 1) beyond it at an end,
    which makes up for the tail.

    Formal guarantee: epsilon for one bit of a neighbour list. A neighbour more or less moves one count by one, and the
    integer weights of two such counts differ by a factor of at most e^epsilon for every report, by exact arithmetic.

    Attributes:
        epsilon: The privacy budget of one bit of the list, from about 1e-6 to 29.
        classes: The number of classes.
        cap: The largest count, from 1 to 1023 (default 32). Clip larger ones on the device.

    >>> Counts(epsilon=1.0, classes=3, cap=2).likelihood_table().round(3).tolist()
    [[0.731, 0.17, 0.099], [0.269, 0.462, 0.269], [0.099, 0.17, 0.731]]
    """

    name = "counts"
    words = "random noise is added to the number of contacts in each class"
    implied = ("classes",)
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 1.0, "classes": 4}
    small: ClassVar[Mapping[str, Any]] = {"cap": 4}
    epsilon: float
    classes: int
    cap: int = 32

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "classes", check_count(self.classes, "classes", 1, 1 << 20))
        object.__setattr__(self, "cap", check_count(self.cap, "cap", 1, MOST_CAP))
        _ = self.weights

    @cached_property
    def weights(self) -> GeometricWeights:
        """The integer weights by the distance of a report from the count."""
        return geometric_weights(Fraction(self.epsilon), self.cap)

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        return np.array([self.weights.row(count) for count in range(self.cap + 1)])

    def likelihood_table(self) -> NDArray[np.float64]:
        """Return P[t, v] = Pr[report v | count t], (cap + 1) x (cap + 1)."""
        return self._rows / self.weights.total

    @cached_property
    def _thresholds(self) -> NDArray[np.int64]:
        """Where each report of each count ends among the draws, the draws of count t beginning at t * total."""
        starts = np.arange(self.cap + 1)[:, None] * self.weights.total
        return np.asarray((starts + np.cumsum(self._rows, axis=1)).ravel())

    @cached_property
    def _readings(self) -> NDArray[np.float64]:
        """The estimate that each symbol stands for."""
        readings = np.arange(self.cap + 1, dtype=np.float64)
        beyond = 1 / math.expm1(self.epsilon)
        readings[0] -= beyond
        readings[-1] += beyond
        return readings

    @cached_property
    def _variances(self) -> NDArray[np.float64]:
        """The variance of the estimate of each count."""
        errors = self._readings - np.arange(self.cap + 1)[:, None]
        return np.asarray((self.likelihood_table() * errors**2).sum(axis=1))

    def perturb(self, values: Any, bits: Bits) -> Reports:
        """One symbol for each class, from one draw and a binary search each."""
        counts = self._counts(values)
        symbols = np.empty(counts.shape, dtype=self.symbol_dtype)
        step = max(1, _BLOCK // self.classes)
        for start in range(0, len(counts), step):
            block = counts[start : start + step].astype(np.int64)
            draws = bits.below(self.weights.total, block.shape)
            places = np.searchsorted(self._thresholds, block * self.weights.total + draws, side="right")
            symbols[start : start + step] = places - block * (self.cap + 1)
        return Reports(self.classes, symbols)

    @property
    def shape(self) -> SymbolShape:
        """One symbol a class."""
        return SymbolShape(self.classes, self.classes, self.symbol_dtype)

    @property
    def symbol_dtype(self) -> np.dtype[Any]:
        """The integers that hold every symbol."""
        return np.min_scalar_type(-self.cap - 1)

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which rows lie between 0 and the cap."""
        return np.asarray(((reports.symbols >= 0) & (reports.symbols <= self.cap)).all(axis=1))

    def estimate(self, reports: Reports) -> AffineFeatures:
        """The unbiased counts, N x classes."""
        symbols = self.validate(reports).to_sparse()
        symbols.data = self._readings.astype(np.float32)[reports.symbols.ravel()]
        return AffineFeatures(symbols, np.ones(self.classes), np.zeros(self.classes))

    def guarantee(self) -> Guarantee:
        """epsilon for one bit of one list; both ends of a relationship may count it."""
        return Guarantee.of_list_bit(self.epsilon)

    def tallies(self, reports: Reports) -> tuple[Tally, ...]:
        """One column a class; counts have nothing to do with each other for a report's noise."""
        symbols = self.validate(reports).symbols.astype(np.int64)
        channel = Channel(self.likelihood_table(), ordered=True)
        return tally_columns((channel,), np.zeros(self.classes, dtype=np.int8), reports.coordinates, symbols)

    def log_peaks(self, reports: Reports) -> NDArray[np.float64]:
        """The sum of log P[v, v]: the report may be the truth."""
        return np.asarray(np.log(np.diagonal(self.likelihood_table()))[self.validate(reports).symbols].sum(axis=1))

    def p_values(self, reports: Reports, most: int | None = None) -> NDArray[np.float64]:
        """From the share of each symbol and, if a list has at most ``most`` entries, from the sum of the counts.

        A noisy count exceeds the true one by no more than the noise of a count of 0 does, in distribution, so the sum
        exceeds ``most`` by no more than a sum of such noises.
        """
        symbols = self.validate(reports).symbols.astype(np.int64)
        found = share_p_values(Channel(self.likelihood_table()), symbols)
        if most is None:
            return found
        noise = np.ones(1)
        for _ in range(self.classes):
            noise = np.convolve(noise, self.likelihood_table()[0])
        tail = np.minimum(np.cumsum(noise[::-1])[::-1], 1.0)
        sums = np.maximum(symbols.sum(axis=1) - most, 0)
        return np.asarray(np.minimum(1.0, 2 * np.minimum(found, tail[sums])))

    def sends(self) -> str:
        """Tell how large the noise is."""
        size = math.sqrt(2 * math.exp(-self.epsilon)) / -math.expm1(-self.epsilon)
        return f"each number, from 0 to {self.cap}, plus noise of about {size:.3g} either way"

    def log_likelihood(self, reports: Reports, values: Any) -> NDArray[np.float64]:
        """The sum over classes of log P[t, v]."""
        table = np.log(self.likelihood_table())
        return np.asarray(table[self._counts(values), self.validate(reports).symbols].sum(axis=1))

    def worst_values(self) -> NDArray[np.int64]:
        """People with the count whose estimate varies most, in every class: one far from both ends."""
        return np.full((3, self.classes), int(np.argmax(self._variances)))

    @property
    def span(self) -> float:
        """From nobody to the cap."""
        return float(self.cap)

    def variance(self, values: Any) -> NDArray[np.float64]:
        """The sum over v of P[t, v] (reading of v - t)^2, N x classes."""
        return np.asarray(self._variances[self._counts(values)])

    def exact_distribution(self, value: Any) -> Distribution:
        """The weights over their total, for all classes together."""
        total = self.weights.total
        rows = (self.weights.row(count) for count in self._counts(np.atleast_2d(value))[0].tolist())
        return product_distribution([{v: (Fraction(w, total),) * 2 for v, w in enumerate(row)} for row in rows])

    @property
    def num_reports(self) -> int:
        """cap + 1 symbols for each class."""
        return int((self.cap + 1) ** self.classes)

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """All counts of the first class that differ by one, either way: classes are treated alike and independently."""
        others = (0,) * (self.classes - 1)
        for low in range(self.cap):
            yield (low, *others), (low + 1, *others)
            yield (low + 1, *others), (low, *others)

    def inputs(self) -> Iterator[Any]:
        """Those of the pairs, each for every class, and random counts of all classes."""
        for value in super().inputs():
            for shift in range(self.classes):
                yield tuple(np.roll(value, shift).tolist())
        yield from map(tuple, np.random.default_rng(0).integers(self.cap + 1, size=(16, self.classes)).tolist())

    def report_key(self, reports: Reports, row: int) -> Hashable:
        """The symbols."""
        return tuple(reports.symbols[row].tolist())

    def _counts(self, values: Any) -> NDArray[np.integer]:
        counts = values.toarray() if sp.issparse(values) else np.asarray(values)
        if counts.ndim != 2 or counts.shape[1] != self.classes or not np.issubdtype(counts.dtype, np.integer):
            found = f"{counts.dtype} of shape {counts.shape}"
            raise InvalidData("counts given to Counts", f"integers, {self.classes} in a row (one a class)", found)
        wrong = (counts < 0) | (counts > self.cap)
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1)))  # which number it is, and in which class, is private
            raise InvalidData(f"Counts takes counts from 0 to {self.cap}; row {row} has one outside.")
        return counts
