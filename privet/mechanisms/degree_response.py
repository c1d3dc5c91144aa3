"""The number of a user's neighbours, with discrete Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.base import Distribution, Mechanism, check_count
from privet.mechanisms.core.extremes import dense_rows
from privet.mechanisms.core.reports import Reports
from privet.mechanisms.core.shapes import SymbolShape
from privet.mechanisms.laplace import discrete_laplace
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.odds import exp_enclosure
from privet.privacy import Guarantee
from privet.privacy.guarantee import check_epsilon

__all__ = ["DegreeResponse"]

_TAIL = 45  # reports are clipped 45 scales beyond the range, which has probability below e^-45 < 2^-64


@dataclass(frozen=True, kw_only=True)
class DegreeResponse(Mechanism):
    """steps d + k with Pr[k] proportional to exp(-|k| / scale): the degree in units of 1 / steps.

    The scale is the smallest whole number above steps / epsilon. The report is clipped 45 scales beyond the range.

    Formal guarantee: epsilon-edge-LDP. One bit of a list changes d by 1 and the likelihood of a report by a factor of
    at most exp(steps / scale) < e^epsilon; clipping is post-processing. With ``one_sided`` d counts only neighbours of
    larger id, so that a relationship is counted by one endpoint and not by both.
    """

    name = "degree-response"
    words = "random noise is added to the number of contacts"
    implied = ("num_nodes",)
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 1.0, "num_nodes": 6}
    small: ClassVar[Mapping[str, Any]] = {"steps": 16}
    epsilon: float
    num_nodes: int
    one_sided: bool = False
    steps: int = 1 << 8

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "num_nodes", check_count(self.num_nodes, "num_nodes", 2, (1 << 31) - 1))
        if not isinstance(self.one_sided, bool):
            raise InvalidParameter("one_sided", "True or False", self.one_sided)
        object.__setattr__(self, "steps", check_count(self.steps, "steps", 1, 1 << 20))
        if not 2 <= self.scale <= 1 << 30:
            expected = f"between {self.steps / (1 << 30):.2g} and {self.steps} (finite precision)"
            raise InvalidParameter("epsilon", expected, self.epsilon)

    @cached_property
    def scale(self) -> int:
        """The scale of the noise, in 1 / steps of an edge; strictly more than steps / epsilon."""
        return math.floor(self.steps / Fraction(self.epsilon)) + 1

    @property
    def smallest_symbol(self) -> int:
        """45 scales below no neighbour."""
        return -_TAIL * self.scale

    @property
    def largest_symbol(self) -> int:
        """45 scales above all others."""
        return self.steps * (self.num_nodes - 1) + _TAIL * self.scale

    @property
    def num_reports(self) -> int:
        """The integers from the smallest to the largest symbol."""
        return self.largest_symbol - self.smallest_symbol + 1

    def perturb(self, values: Any, bits: Bits) -> Reports:
        """One report for each degree."""
        degrees = self._degrees(values)
        noisy = self.steps * degrees + discrete_laplace(self.scale, degrees.shape, bits)
        return Reports(1, np.clip(noisy, self.smallest_symbol, self.largest_symbol)[:, None])

    @property
    def shape(self) -> SymbolShape:
        """One symbol."""
        return SymbolShape(1, 1, np.dtype(np.int64))

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which rows lie between the smallest and the largest symbol."""
        symbols = reports.symbols[:, 0]
        return np.asarray((symbols >= self.smallest_symbol) & (symbols <= self.largest_symbol))

    def estimate(self, reports: Reports) -> AffineFeatures:
        """symbol / steps, unbiased up to the clipping."""
        return AffineFeatures(self.validate(reports).to_sparse(), np.array([1 / self.steps]), np.zeros(1))

    def strongest(self, directions: Any, reports: Reports) -> Reports:
        """The smallest or the largest symbol."""
        symbols = np.empty((len(reports), 1), dtype=np.int64)
        for rows, block in dense_rows(directions):
            symbols[rows] = np.where(block < 0, self.smallest_symbol, self.largest_symbol)
        return Reports(1, symbols)

    def uniform(self, reports: Reports, bits: Bits) -> Reports:
        """A uniform integer from the smallest to the largest symbol."""
        return Reports(1, self.smallest_symbol + bits.below(self.num_reports, (len(reports), 1)))

    def influence(self) -> float:
        """From the smallest to the largest symbol."""
        return (self.largest_symbol - self.smallest_symbol) / self.steps

    def guarantee(self) -> Guarantee:
        """epsilon for one bit of one list."""
        return Guarantee.of_list_bit(self.epsilon)

    def log_peaks(self, reports: Reports) -> NDArray[np.float64]:
        """The log-probability of no noise."""
        return np.full(len(reports), math.log(-math.expm1(-1 / self.scale)) - math.log1p(math.exp(-1 / self.scale)))

    def p_values(self, reports: Reports, most: int | None = None) -> NDArray[np.float64]:
        """A number below 0, or beyond ``most``, by more than the noise: Pr[k >= j] = e^(-j / scale) / (1 + g)."""
        symbols = self.validate(reports).symbols[:, 0]
        beyond = -symbols if most is None else np.maximum(-symbols, symbols - self.steps * most)
        tail = np.exp(-beyond / self.scale) / (1 + math.exp(-1 / self.scale))
        return np.asarray(np.where(beyond > 0, np.minimum(1.0, 2 * tail), 1.0))

    def sends(self) -> str:
        """Tell how large the noise is."""
        return f"their number plus noise of about {math.sqrt(2) * self.scale / self.steps:.3g} either way"

    def log_likelihood(self, reports: Reports, values: Any) -> NDArray[np.float64]:
        """log((1 - g) / (1 + g)) - |k| / scale with g = exp(-1 / scale); the ends hold the whole tail."""
        symbols = reports.symbols[:, 0].astype(np.int64)
        distance = np.abs(symbols - self.steps * self._degrees(values))
        end = (symbols == self.smallest_symbol) | (symbols == self.largest_symbol)
        constant = np.where(end, 0.0, math.log(-math.expm1(-1 / self.scale)))
        return np.asarray(constant - distance / self.scale - math.log1p(math.exp(-1 / self.scale)))

    def worst_values(self) -> NDArray[np.int64]:
        """People who know nobody."""
        return np.zeros(3, dtype=np.int64)

    @property
    def span(self) -> float:
        """From nobody to everybody else."""
        return float(self.num_nodes - 1)

    def variance(self, values: Any) -> NDArray[np.float64]:
        """2 g / (1 - g)^2 / steps^2, whatever the degree."""
        noise = 2 * math.exp(-1 / self.scale) / math.expm1(-1 / self.scale) ** 2
        return np.broadcast_to(np.float64(noise / self.steps**2), (len(self._degrees(values)), 1))

    def exact_distribution(self, value: Any) -> Distribution:
        """Every symbol with rational bounds of its probability."""
        origin = self.steps * int(self._degrees(np.atleast_1d(value))[0])
        small, large = exp_enclosure(Fraction(-1, self.scale))
        result: Distribution = {}
        for symbol in range(self.smallest_symbol, self.largest_symbol + 1):
            below, above = exp_enclosure(Fraction(-abs(symbol - origin), self.scale))
            inner = symbol not in (self.smallest_symbol, self.largest_symbol)
            left, right = (1 - large, 1 - small) if inner else (Fraction(1), Fraction(1))
            result[symbol] = (below * left / (1 + large), above * right / (1 + small))
        return result

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """Degrees that differ by one, at either end of the range."""
        for low in {0, self.num_nodes - 2}:
            yield low, low + 1
            yield low + 1, low

    def inputs(self) -> Iterator[Any]:
        """All degrees."""
        return iter(range(self.num_nodes))

    def report_key(self, reports: Reports, row: int) -> Hashable:
        """The symbol."""
        return int(reports.symbols[row, 0])

    def _degrees(self, values: Any) -> NDArray[np.int64]:
        degrees = np.asarray(values)
        if degrees.ndim != 1 or not np.issubdtype(degrees.dtype, np.integer):
            found = f"{degrees.ndim}-d {degrees.dtype}"
            raise InvalidData("degrees given to DegreeResponse", "a vector of integers", found)
        wrong = (degrees < 0) | (degrees >= self.num_nodes)
        if wrong.any():
            row = int(np.argmax(wrong))  # which number it is, is private
            raise InvalidData(
                f"DegreeResponse takes degrees from 0 to {self.num_nodes - 1}; the one in row {row} is outside."
            )
        return degrees.astype(np.int64)
