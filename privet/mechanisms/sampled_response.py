"""GRR-FS (RGNN): generalised randomised response on a few sampled categorical features."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.base import Distribution, Mechanism, check_count, product_distribution
from privet.mechanisms.core.extremes import dense_rows
from privet.mechanisms.core.reports import Reports
from privet.mechanisms.core.shapes import SymbolShape
from privet.mechanisms.core.tally import Channel, Tally, tally_columns
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.odds import Odds, odds
from privet.mechanisms.primitives.sampling import as_matrix, gather, sample_coordinates, warn_if_outside
from privet.mechanisms.randomized_response import answer
from privet.privacy import Guarantee, Unit
from privet.privacy.guarantee import check_epsilon

__all__ = ["SampledResponse"]

Fill: TypeAlias = Literal["uniform", "none"]


@dataclass(frozen=True, kw_only=True)
class SampledResponse(Mechanism):
    """Answer ``sample`` = m of d categorical features by randomised response with eps_x each.

    ``fill="uniform"`` is the paper's GRR-FS: the other d - m features are reported uniformly at random, so a report is
    d symbols long. ``fill="none"`` reports the m answers and nothing else: the same guarantee, a smaller variance
    summed over a feature's categories, and O(m) a user.

    Formal guarantee: (m eps_x)-LDP of the feature vector, exactly. The paper's Theorem 1 claims
    ln(1 + (m/d) (e^(m eps_x) - 1)) by amplification through sampling, but a user's own features are what is
    sampled: two vectors that differ in every feature differ in every sample. That figure is ``published_epsilon``.

    With value j's share lambda_j among the reports, pi_j = lambda_j d / (m (p - q)) + (m - d - m c q) / (m c (p - q))
    (eq. 2, c the number of categories) is an unbiased estimate of its share among the users.
    """

    name = "sampled-response"
    words = (
        "a few features are drawn at random, and each is answered truly with some probability and otherwise with "
        "another of its categories"
    )
    implied = ("categories",)
    example: ClassVar[Mapping[str, Any]] = {"epsilon_per_feature": 1.0, "categories": (2, 2, 2, 2), "sample": 2}
    epsilon_per_feature: float
    categories: tuple[int, ...]
    sample: int
    fill: Fill = "uniform"

    def __post_init__(self) -> None:
        budget = check_epsilon(self.epsilon_per_feature, name="epsilon_per_feature")
        object.__setattr__(self, "epsilon_per_feature", budget)
        counts = (check_count(c, f"categories[{i}]", 2, 1 << 20) for i, c in enumerate(self.categories))
        object.__setattr__(self, "categories", tuple(counts))
        if not self.categories:
            raise InvalidParameter("categories must have one count for each feature; it is empty.")
        object.__setattr__(self, "sample", check_count(self.sample, "sample", 1, self.dimension))
        if self.fill not in ("uniform", "none"):
            raise InvalidParameter("fill", "'uniform' or 'none'", self.fill)
        _ = self._high

    @classmethod
    def declare(  # type: ignore[override]
        cls, public: Any, *, epsilon: float, sample: int | None = None, fill: Fill = "none"
    ) -> SampledResponse:
        """Make the mechanism with a total (true) budget of ``epsilon`` for ``sample`` features, all by default."""
        population = Population.of(public)
        count = check_count(population.dimension if sample is None else sample, "sample", 1, population.dimension)
        share = check_epsilon(epsilon) / count
        while count * share > epsilon:  # never more than was asked for, not even by rounding
            share = math.nextafter(share, 0.0)
        return cls(epsilon_per_feature=share, categories=population.categories, sample=count, fill=fill)

    def parameters(self) -> dict[str, Any]:
        """Return the total budget and what is sampled."""
        return {"epsilon": self.epsilon, "sample": self.sample, "fill": self.fill}

    @property
    def dimension(self) -> int:
        """d, the number of features."""
        return len(self.categories)

    @property
    def epsilon(self) -> float:
        """The true budget of a report, m eps_x."""
        return self.sample * self.epsilon_per_feature

    @property
    def published_epsilon(self) -> float:
        """Theorem 1's claim, which does not hold."""
        if self.epsilon > 700:
            return self.epsilon + math.log(self.sample / self.dimension)
        return math.log1p(self.sample / self.dimension * math.expm1(self.epsilon))

    @cached_property
    def _odds(self) -> dict[int, Odds]:
        share = Fraction(check_epsilon(self.epsilon)) / self.sample
        return {c: odds(share, lows=c - 1) for c in sorted(set(self.categories))}

    @cached_property
    def _high(self) -> NDArray[np.int64]:
        return np.array([self._odds[c].high for c in self.categories])

    @cached_property
    def _low(self) -> NDArray[np.int64]:
        return np.array([self._odds[c].low for c in self.categories])

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        return np.array(self.categories, dtype=np.int64)

    @property
    def keep(self) -> NDArray[np.float64]:
        """p of each feature when it is sampled."""
        return self._high / (self._high + (self._counts - 1) * self._low)

    @property
    def flip(self) -> NDArray[np.float64]:
        """q of each feature when it is sampled."""
        return self._low / (self._high + (self._counts - 1) * self._low)

    def perturb(self, values: Any, bits: Bits) -> Reports:
        """Category codes, dense or CSR, to category codes."""
        matrix = self._codes(values)
        users = matrix.shape[0]
        chosen = sample_coordinates(users, self.dimension, self.sample, bits)
        columns = np.arange(self.dimension)[None, :].repeat(users, axis=0) if chosen is None else chosen
        truth = np.clip(gather(matrix, chosen), 0, self._counts[columns] - 1).astype(np.int64)
        answers = answer(truth, self._counts[columns], self._high[columns], self._low[columns], bits)
        if self.fill == "none" or chosen is None:
            return Reports(self.dimension, answers.astype(self.symbol_dtype), chosen)
        symbols = bits.below(self._counts, (users, self.dimension))
        np.put_along_axis(symbols, chosen.astype(np.int64), answers, axis=1)
        return Reports(self.dimension, symbols.astype(self.symbol_dtype))

    @property
    def shape(self) -> SymbolShape:
        """m symbols, or d where the others are filled in."""
        width = self.sample if self.fill == "none" else self.dimension
        return SymbolShape(self.dimension, width, self.symbol_dtype)

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which rows consist of category codes."""
        return np.asarray(((reports.symbols >= 0) & (reports.symbols < self._counts[reports.coordinates])).all(axis=1))

    def sends(self) -> str:
        """Tell how many features a report is about."""
        plural = "feature" if self.sample == 1 else "features"
        drawn = "" if self.sample == self.dimension else f", drawn at random from {self.dimension}"
        return f"one noisy symbol about {self.sample} {plural}{drawn}"

    def estimate(self, reports: Reports) -> AffineFeatures:
        """The unbiased one-hot code of each feature, side by side: N x sum(categories)."""
        self.validate(reports)
        starts = np.concatenate([[0], np.cumsum(self._counts)])
        columns = starts[reports.coordinates] + reports.symbols
        users, width = columns.shape
        hot = sp.csr_array(
            (np.ones(columns.size, dtype=np.float32), columns.ravel(), np.arange(users + 1) * width),
            shape=(users, int(starts[-1])),
        )
        rate, gap = self.sample / self.dimension, self.keep - self.flip
        offset = -(rate * self.flip + self._idle_chance) / (rate * gap)
        return AffineFeatures(hot, np.repeat(1 / (rate * gap), self._counts), np.repeat(offset, self._counts))

    def strongest(self, directions: Any, reports: Reports) -> Reports:
        """The best category of each feature, of the features where it moves the estimate furthest."""
        width = self.shape.width
        starts = np.cumsum(self._counts) - self._counts
        within = np.arange(self._counts.sum()) - np.repeat(starts, self._counts)
        scale = np.repeat(1 / (self.keep - self.flip), self._counts)
        coordinates = np.empty((len(reports), width), dtype=np.int32)
        symbols = np.empty((len(reports), width), dtype=self.symbol_dtype)
        for rows, block in dense_rows(directions):
            reach = block * scale
            most = np.maximum.reduceat(reach, starts, axis=1)
            first = np.where(reach == np.repeat(most, self._counts, axis=1), within, len(within))
            category = np.minimum.reduceat(first, starts, axis=1)
            best = np.sort(np.argsort(-most, axis=1, kind="stable")[:, :width], axis=1)
            coordinates[rows], symbols[rows] = best, np.take_along_axis(category, best, axis=1)
        return Reports(self.dimension, symbols, None if width == self.dimension else coordinates)

    def uniform(self, reports: Reports, bits: Bits) -> Reports:
        """Uniform features with uniform categories."""
        width = self.shape.width
        chosen = sample_coordinates(len(reports), self.dimension, width, bits)
        counts = self._counts if chosen is None else self._counts[chosen]
        symbols = bits.below(counts, (len(reports), width))
        return Reports(self.dimension, symbols.astype(self.symbol_dtype), chosen)

    def influence(self) -> float:
        """A category that is reported instead of another: d / (m (p - q)) of the feature with most categories."""
        return float(np.max(self.dimension / (self.sample * (self.keep - self.flip))))

    def frequencies(self, reports: Reports) -> list[NDArray[np.float64]]:
        """Each feature's estimated shares of its values (eq. 2)."""
        return np.split(self.estimate(reports).mean(), np.cumsum(self._counts)[:-1])

    def frequency_variance(self, frequencies: list[NDArray[np.float64]], users: int) -> list[NDArray[np.float64]]:
        """The estimated variance of :meth:`frequencies` over ``users`` reports (eq. 3).

        d^2 lambda (1 - lambda) / (m^2 (n - 1) (p - q)^2) with lambda = Pr[report j] as in :meth:`variance`. (The
        paper prints lambda without its factor 1 / c.)
        """
        check_count(users, "users", 2)
        rate = self.sample / self.dimension
        result = []
        for share, p, q, idle in zip(frequencies, self.keep, self.flip, self._idle_chance, strict=True):
            observed = np.clip(rate * (share * (p - q) + q) + idle, 0.0, 1.0)
            result.append(observed * (1 - observed) / ((users - 1) * (rate * (p - q)) ** 2))
        return result

    def guarantee(self) -> Guarantee:
        """m eps_x, with Theorem 1's claim beside it."""
        unprotected = ("that the user took part", "which features were sampled")[: 1 + (self.fill == "none")]
        published = self.published_epsilon
        return Guarantee.local(Unit.FEATURES, self.epsilon, published_epsilon=published, unprotected=unprotected)

    def tallies(self, reports: Reports) -> tuple[Tally, ...]:
        """One column a feature; a feature that was filled in is reported as if somebody's truth had been drawn."""
        sizes, kinds = np.unique(self._counts, return_inverse=True)
        odds = [self._odds[int(size)] for size in sizes]
        channels = [
            Channel.response(each.high / each.total, each.low / each.total, int(size))
            for each, size in zip(odds, sizes, strict=True)
        ]
        symbols = self.validate(reports).symbols.astype(np.int64)
        return tally_columns(channels, kinds, reports.coordinates, symbols)

    def drawn_columns(self, reports: Reports) -> tuple[NDArray[np.int64], float] | None:
        """Each feature is drawn with probability m / d."""
        if reports.indices is None:
            return None
        return np.bincount(reports.indices.ravel(), minlength=self.dimension), self.sample / self.dimension

    def log_peaks(self, reports: Reports) -> NDArray[np.float64]:
        """All answers true; features that were filled in are uniform."""
        peak = np.log(self.keep)[self.validate(reports).coordinates].sum(axis=1)
        if self.fill == "none":
            return np.asarray(peak - math.log(math.comb(self.dimension, self.sample)))
        gains = np.sort(np.log(self.keep * self._counts))[::-1][: self.sample].sum()
        return np.full(len(reports), gains - np.log(self._counts).sum())

    def log_likelihood(self, reports: Reports, values: Any) -> NDArray[np.float64]:
        """Exact for ``fill="none"``; for ``fill="uniform"`` the sum over the subsets that may have been sampled.

        That sum is the elementary symmetric polynomial of degree m in a_i = Pr[answer i] c_i, over C(d, m) prod c_i.
        """
        columns = self.validate(reports).coordinates
        codes = np.clip(gather(self._codes(values), reports.indices), 0, self._counts[columns] - 1).astype(np.int64)
        same = reports.symbols == codes
        answers = np.where(same, self.keep[columns], self.flip[columns])
        subsets = math.log(math.comb(self.dimension, self.sample))
        if self.fill == "none":
            return np.asarray(np.log(answers).sum(axis=1) - subsets)
        ratios = answers * self._counts
        # e_m by the usual recursion over features, carried as e_k / C(d, k) would overflow: scale by logs instead.
        polynomial = np.full((len(reports), self.sample + 1), -np.inf)
        polynomial[:, 0] = 0.0
        for column in range(self.dimension):
            shifted = polynomial[:, :-1] + np.log(ratios[:, [column]])
            polynomial[:, 1:] = np.logaddexp(polynomial[:, 1:], shifted)
        return np.asarray(polynomial[:, self.sample] - subsets - np.log(self._counts).sum())

    def worst_values(self) -> NDArray[np.float64]:
        """People of the first category in every feature: all are alike."""
        return np.zeros((3, self.dimension))

    @property
    def span(self) -> float:
        """From no share of a category to all of it."""
        return 1.0

    def variance(self, values: Any) -> NDArray[np.float64]:
        """lambda (1 - lambda) / (rate (p - q))^2 with lambda = Pr[report j], N x sum(categories)."""
        codes = np.clip(gather(self._codes(values), None), 0, self._counts - 1).astype(np.int64)
        rate = self.sample / self.dimension
        blocks = []
        for column, count in enumerate(self.categories):
            p, q = self.keep[column], self.flip[column]
            chance = np.where(codes[:, [column]] == np.arange(count), p, q) * rate + self._idle_chance[column]
            blocks.append(chance * (1 - chance) / (rate * (p - q)) ** 2)
        return np.concatenate(blocks, axis=1)

    def exact_distribution(self, value: ArrayLike) -> Distribution:
        """All subsets times all answers."""
        codes = np.clip(gather(self._codes(value), None)[0], 0, self._counts - 1).astype(np.int64)
        answered: list[Distribution] = []
        idle: list[Distribution] = []
        for code, count in zip(codes.tolist(), self.categories, strict=True):
            weights = self._odds[count]
            total = weights.total
            answered.append(
                {c: (Fraction(weights.high if c == code else weights.low, total),) * 2 for c in range(count)}
            )
            idle.append({c: (Fraction(1, count),) * 2 for c in range(count)})
        subsets = list(itertools.combinations(range(self.dimension), self.sample))
        result: Distribution = {}
        for subset in subsets:
            reported = subset if self.fill == "none" else tuple(range(self.dimension))
            factors = product_distribution([answered[i] if i in subset else idle[i] for i in reported])
            for key, (chance, _) in factors.items():
                before = result.get((reported, key), (Fraction(0),) * 2)[0]
                result[reported, key] = (before + chance / len(subsets),) * 2
        return result

    @property
    def num_reports(self) -> int:
        """prod(c) for GRR-FS; each subset's answers where nothing is filled in."""
        if self.fill == "uniform":
            return math.prod(self.categories)
        return int(math.comb(self.dimension, self.sample) * max(self.categories) ** self.sample)

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """All pairs of vectors whose features are at their first or last value."""
        return itertools.permutations(itertools.product(*((0, count - 1) for count in self.categories)), 2)

    def inputs(self) -> Iterator[Any]:
        """Those of the pairs, and random categories."""
        yield from super().inputs()
        yield from map(tuple, np.random.default_rng(0).integers(self.categories, size=(16, self.dimension)).tolist())

    def report_key(self, reports: Reports, row: int) -> Hashable:
        """The features and their codes."""
        return tuple(reports.coordinates[row].tolist()), tuple(reports.symbols[row].tolist())

    @property
    def _idle_chance(self) -> NDArray[np.float64]:
        """The chance that a value is reported without having been asked for."""
        fake = 0.0 if self.fill == "none" else 1 - self.sample / self.dimension
        return fake / self._counts

    @property
    def symbol_dtype(self) -> np.dtype[Any]:
        """The integers that hold every symbol."""
        return np.min_scalar_type(-max(self.categories))

    def _codes(self, values: Any) -> Any:
        matrix = as_matrix(values, self.dimension, type(self).__name__)
        stored = matrix.data if sp.issparse(matrix) else matrix
        if np.any(stored != np.floor(stored)):
            raise InvalidData("SampledResponse takes whole numbers, the codes of categories; one value is a fraction.")
        warn_if_outside(matrix, np.zeros(self.dimension), (self._counts - 1).astype(np.float64))
        return matrix
