"""The shape that all numeric mechanisms share: report m of d coordinates, each with the budget epsilon / m."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.base import Distribution, Mechanism, check_count, product_distribution
from privet.mechanisms.core.extremes import dense_rows
from privet.mechanisms.core.reports import Reports
from privet.mechanisms.core.shapes import SymbolShape
from privet.mechanisms.core.tally import Channel, Tally, share_p_values, tally_columns
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.sampling import as_matrix, gather, sample_coordinates, unit_positions
from privet.privacy import Guarantee, Unit
from privet.privacy.guarantee import check_epsilon

__all__ = ["CoordinateMechanism"]

_BETWEEN = 8  # inputs of an audit that are no corners


@dataclass(frozen=True, kw_only=True)
class CoordinateMechanism(Mechanism):
    """Perturb ``sample`` uniformly chosen coordinates of a vector in [low, high]^dimension, say nothing of the rest.

    A subclass maps the position u = (x - low) / (high - low) in [0, 1] of one coordinate to an integer symbol g with
    E[g] = slope (2u - 1). Then x' = (low + high) / 2 + (high - low) / 2 * d / (m slope) * g (0 where not sampled) is
    unbiased, with

        Var[x'] = ((high - low) / 2 * d / (m slope))^2 * (m/d E[g^2] - (m/d slope (2u - 1))^2).

    Which coordinates are chosen does not depend on the data, so the budget of a report is the sum of the budgets of
    its symbols: there is no amplification by sampling for a vector whose coordinates may all differ.
    """

    implied: ClassVar[tuple[str, ...]] = ("dimension", "low", "high")
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 1.0, "dimension": 2, "low": -1.0, "high": 1.0}
    epsilon: float
    dimension: int
    low: float | tuple[float, ...]
    high: float | tuple[float, ...]
    sample: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "dimension", check_count(self.dimension, "dimension", 1, (1 << 31) - 1))
        for name in ("low", "high"):
            object.__setattr__(self, name, _as_range(getattr(self, name), name, self.dimension))
        with np.errstate(over="ignore"):
            span = self._high - self._low
        narrow = ~(np.isfinite(span) & (span > 0))
        if narrow.any():
            column = int(np.argmax(narrow))
            found = f"low {self._low[column]:g} and high {self._high[column]:g} in column {column}"
            raise InvalidParameter("low, high", "finite with low < high", found)
        if self.sample is not None:
            object.__setattr__(self, "sample", check_count(self.sample, "sample", 1, self.dimension))
        self._prepare()

    @property
    def sampled(self) -> int:
        """m, the number of coordinates in a report: ``sample``, or the best choice where it is None."""
        return self.sample if self.sample is not None else max(1, min(self.dimension, self._best_sample()))

    def worst_values(self) -> NDArray[np.float64]:
        """The lowest, the middle and the highest vector."""
        return np.stack([self._low, (self._low + self._high) / 2, self._high])

    @property
    def span(self) -> float:
        """The widest range of a feature."""
        return float(np.max(self._high - self._low))

    @property
    def share(self) -> Fraction:
        """The budget of one symbol, epsilon / m, exactly."""
        return Fraction(self.epsilon) / self.sampled

    @cached_property
    def _low(self) -> NDArray[np.float64]:
        return np.broadcast_to(np.asarray(self.low, dtype=np.float64), (self.dimension,))

    @cached_property
    def _high(self) -> NDArray[np.float64]:
        return np.broadcast_to(np.asarray(self.high, dtype=np.float64), (self.dimension,))

    @cached_property
    def _middle(self) -> NDArray[np.float64]:
        return self._low + (self._high - self._low) / 2

    @abstractmethod
    def _prepare(self) -> None:
        """Compute the integer weights, so that a budget beyond finite precision fails at construction."""

    @abstractmethod
    def _best_sample(self) -> int:
        """The m that makes the worst variance smallest; clipped to [1, d] by the caller."""

    @property
    @abstractmethod
    def slope(self) -> float:
        """E[g] = slope (2u - 1)."""

    @property
    @abstractmethod
    def largest_symbol(self) -> int:
        """The alphabet lies in [-largest, largest]."""

    @abstractmethod
    def _draw(self, positions: NDArray[np.float64], bits: Bits) -> NDArray[np.int64]:
        """One symbol for each position."""

    @abstractmethod
    def _symbol_distribution(self, position: float) -> Distribution:
        """The exact distribution of one symbol."""

    @abstractmethod
    def _log_probability(self, positions: NDArray[np.float64], symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        """log Pr[symbol | position], elementwise."""

    @abstractmethod
    def _second_moment(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """E[g^2], elementwise."""

    def _channel(self) -> Channel | None:
        """Return every distribution of one symbol's place; None if reports cannot be screened."""
        return None

    def _places(self, symbols: NDArray[np.signedinteger]) -> NDArray[np.int64]:
        """Return the place of each symbol in the channel."""
        return symbols.astype(np.int64)

    def _log_peak(self) -> float | None:
        """Bound the log-probability of any symbol, over all positions; None if no bound is known."""
        return None

    def in_alphabet(self, symbols: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
        """Which of the symbols a device could have sent."""
        wide = symbols.astype(np.int64)
        return np.asarray((-self.largest_symbol <= wide) & (wide <= self.largest_symbol))

    def perturb(self, values: Any, bits: Bits) -> Reports:
        """Sample m coordinates for each row of a dense or CSR matrix and draw a symbol for each."""
        matrix = as_matrix(values, self.dimension, type(self).__name__)
        coordinates = sample_coordinates(matrix.shape[0], self.dimension, self.sampled, bits)
        positions = unit_positions(matrix, coordinates, self._low, self._high)
        return Reports(self.dimension, self._draw(positions, bits).astype(self.symbol_dtype), coordinates)

    @property
    def shape(self) -> SymbolShape:
        """m of d symbols."""
        return SymbolShape(self.dimension, self.sampled, self.symbol_dtype)

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which rows consist of symbols of the alphabet."""
        return np.asarray(self.in_alphabet(reports.symbols).all(axis=1))

    def sends(self) -> str:
        """Tell how many features a report is about."""
        plural = "feature" if self.sampled == 1 else "features"
        drawn = "" if self.sampled == self.dimension else f", drawn at random from {self.dimension}"
        return f"one noisy symbol about {self.sampled} {plural}{drawn}"

    def estimate(self, reports: Reports) -> AffineFeatures:
        """x', unbiased; a coordinate that was not sampled is at the middle of its range."""
        symbols = self.validate(reports).to_sparse()
        return AffineFeatures(symbols, self._scale, self._middle)

    def strongest(self, directions: Any, reports: Reports) -> Reports:
        """The ends of the alphabet, at the coordinates where they move the estimate furthest."""
        count = self.sampled
        coordinates = np.empty((len(reports), count), dtype=np.int32)
        symbols = np.empty((len(reports), count), dtype=self.symbol_dtype)
        for rows, block in dense_rows(directions):
            reach = np.abs(block) * self._scale
            best = np.sort(np.argsort(-reach, axis=1, kind="stable")[:, :count], axis=1)
            signs = np.where(np.take_along_axis(block, best, axis=1) < 0, -1, 1)
            coordinates[rows], symbols[rows] = best, signs * self.largest_symbol
        return Reports(self.dimension, symbols, None if count == self.dimension else coordinates)

    def uniform(self, reports: Reports, bits: Bits) -> Reports:
        """Uniform coordinates with uniform symbols."""
        coordinates = sample_coordinates(len(reports), self.dimension, self.sampled, bits)
        symbols = np.zeros((len(reports), self.sampled), dtype=np.int64)
        waiting = np.ones(symbols.shape, dtype=np.bool_)
        while waiting.any():  # integers between the ends that are no symbols are drawn again
            drawn = bits.below(2 * self.largest_symbol + 1, (int(waiting.sum()),))
            symbols[waiting] = drawn - self.largest_symbol
            waiting = ~self.in_alphabet(symbols)
        return Reports(self.dimension, symbols.astype(self.symbol_dtype), coordinates)

    def influence(self) -> float:
        """From one end of the alphabet to the other, in the widest range."""
        return float(2 * self.largest_symbol * self._scale.max())

    def guarantee(self) -> Guarantee:
        """epsilon-LDP of the feature vector, whichever coordinates differ."""
        return Guarantee.local(Unit.FEATURES, self.epsilon, unprotected=("that the user took part",))

    def tallies(self, reports: Reports) -> tuple[Tally, ...]:
        """One column a coordinate; given which coordinates are drawn, symbols are independent."""
        channel = self._channel()
        if channel is None:
            return ()
        places = self._places(self.validate(reports).symbols)
        return tally_columns((channel,), np.zeros(self.dimension, dtype=np.int8), reports.coordinates, places)

    def drawn_columns(self, reports: Reports) -> tuple[NDArray[np.int64], float] | None:
        """Each coordinate is drawn with probability m / d."""
        if reports.indices is None:
            return None
        return np.bincount(reports.indices.ravel(), minlength=self.dimension), self.sampled / self.dimension

    def log_peaks(self, reports: Reports) -> NDArray[np.float64] | None:
        """m times a symbol's peak, over the number of subsets of coordinates."""
        peak, subsets = self._log_peak(), math.comb(self.dimension, self.sampled)
        return None if peak is None else np.full(len(reports), self.sampled * peak - math.log(subsets))

    def p_values(self, reports: Reports, most: int | None = None) -> NDArray[np.float64]:
        """From the share of each symbol within a report."""
        channel = self._channel()
        if channel is None:
            return np.ones(len(reports))
        return share_p_values(channel, self._places(self.validate(reports).symbols))

    def log_likelihood(self, reports: Reports, values: Any) -> NDArray[np.float64]:
        """log of 1 / C(d, m) times the product over the sampled coordinates."""
        self.validate(reports)
        matrix = as_matrix(values, self.dimension, type(self).__name__)
        positions = unit_positions(matrix, reports.indices, self._low, self._high)
        subsets = math.comb(self.dimension, self.sampled)
        likelihood = self._log_probability(positions, reports.symbols.astype(np.int64))
        return np.asarray(likelihood.sum(axis=1) - math.log(subsets))

    def variance(self, values: Any) -> NDArray[np.float64]:
        """Var[x'] of every coordinate, N x d."""
        dense = gather(as_matrix(values, self.dimension, type(self).__name__), None)
        positions = np.clip((dense - self._low) / (self._high - self._low), 0.0, 1.0)
        rate = self.sampled / self.dimension
        mean = rate * self.slope * (2 * positions - 1)
        return np.asarray(self._scale**2 * (rate * self._second_moment(positions) - mean**2))

    def exact_distribution(self, value: ArrayLike) -> Distribution:
        """All subsets times all symbols: sum over C(d, m) |alphabet|^m reports."""
        matrix = as_matrix(value, self.dimension, type(self).__name__)
        positions = unit_positions(matrix, None, self._low, self._high)[0]
        symbols = [self._symbol_distribution(float(position)) for position in positions]
        subsets = list(itertools.combinations(range(self.dimension), self.sampled))
        result: Distribution = {}
        for subset in subsets:
            for key, (lower, upper) in product_distribution([symbols[i] for i in subset]).items():
                result[subset, key] = (lower / len(subsets), upper / len(subsets))
        return result

    @property
    @abstractmethod
    def num_symbols(self) -> int:
        """The size of one coordinate's alphabet."""

    @property
    def num_reports(self) -> int:
        """C(d, m) |alphabet|^m."""
        return int(math.comb(self.dimension, self.sampled) * self.num_symbols**self.sampled)

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """All pairs of corners of the domain and its middle: a symbol's chance is extreme at the ends of the range.

        Coordinates are treated alike, so beyond four dimensions the two opposite corners stand for all.
        """
        ends = list(zip(self._low.tolist(), self._high.tolist(), strict=True))
        corners = itertools.product(*ends) if self.dimension <= 4 else zip(*ends, strict=True)
        return itertools.permutations([*corners, tuple(self._middle.tolist())], 2)

    def inputs(self) -> Iterator[Any]:
        """The corners and the middle, and vectors whose entries are ends, the middle or anything between."""
        yield from super().inputs()
        generator = np.random.default_rng(0)
        for _ in range(_BETWEEN):
            between = generator.uniform(self._low, self._high)
            kinds = np.stack([self._low, self._middle, self._high, between, between])
            yield tuple(kinds[generator.integers(len(kinds), size=self.dimension), np.arange(self.dimension)].tolist())

    def report_key(self, reports: Reports, row: int) -> Hashable:
        """The coordinates and their symbols."""
        return tuple(reports.coordinates[row].tolist()), tuple(reports.symbols[row].tolist())

    @cached_property
    def _scale(self) -> NDArray[np.float64]:
        return (self._high - self._low) / 2 * self.dimension / (self.sampled * self.slope)

    @property
    def symbol_dtype(self) -> np.dtype[Any]:
        """The integers that hold every symbol."""
        return np.min_scalar_type(-self.largest_symbol - 1)


def _as_range(value: object, name: str, dimension: int) -> float | tuple[float, ...]:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter(name, "a number or one number a feature", value) from None
    if array.ndim == 0:
        return float(array)
    if array.shape != (dimension,):
        shape = " x ".join(map(str, array.shape))
        raise InvalidParameter(name, f"a number or {dimension} numbers", f"{shape} numbers")
    return tuple(array.tolist())
