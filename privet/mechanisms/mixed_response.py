"""Randomised response on a few sampled answers of a mixed questionnaire, each column treated by its kind."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.base import Distribution, Mechanism, check_count, product_distribution
from privet.mechanisms.core.extremes import dense_rows
from privet.mechanisms.core.reports import Reports
from privet.mechanisms.core.shapes import SymbolShape
from privet.mechanisms.core.tally import Channel, Tally, tally_columns
from privet.mechanisms.primitives.bits import WORD_RESOLUTION, Bits
from privet.mechanisms.primitives.odds import Odds, odds
from privet.mechanisms.primitives.sampling import as_matrix, gather, sample_coordinates
from privet.mechanisms.randomized_response import answer
from privet.privacy import Guarantee, Unit
from privet.privacy.guarantee import check_epsilon

__all__ = ["MixedResponse"]

ColumnKind: TypeAlias = tuple[str, float, float, int]
_KINDS = ("number", "category", "several")
_MOST_CHOICES = 30
_MOST_CATEGORIES = 1 << 20
Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class MixedResponse(Mechanism):
    """Report ``sample`` = m of d answers, drawn at random, each with the budget epsilon / m.

    Every answer becomes one of L levels, and randomised response tells the true level with probability p, each other
    one with q = p / e^(epsilon / m):

    - a number is first rounded at random to an end of its range, so that its mean is kept: two levels;
    - a category is its own level, "yes" and "no" among them;
    - of several choices one is drawn, all alike, and the levels are "not chosen" and "chosen".

    An answer of its own, such as "prefer not to say", is one more level. A column codes it as the next whole number
    above its largest value. The estimate of a category is its unbiased one-hot code; of several choices, the unbiased
    0 or 1 of each; of a number its unbiased value, which counts 0 where an answer of its own was given. Answers of
    their own follow, one-hot.

    Formal guarantee: epsilon-LDP of all answers together. Which answers and choices are drawn does not depend on any
    value, rounding mixes inputs of randomised response, and the integer weights of two levels differ by a factor of at
    most e^(epsilon / m), so m symbols differ by e^epsilon at most.

    Attributes:
        epsilon: The privacy budget of a report.
        columns: For each answer its kind ("number", "category" or "several"), its smallest and largest value, and how
            many answers of their own it has. Categories are coded 0 to the largest; several choices are the sum of 2^j
            over the chosen ones.
        sample: The number of answers in a report; by default epsilon / 2.18, at least one.

    >>> mechanism = MixedResponse(epsilon=1.0, columns=(("number", 0.0, 12.0, 0), ("category", 0.0, 2.0, 1)))
    >>> mechanism.sampled, mechanism.widths
    (1, (1, 4))
    """

    name = "mixed-response"
    words = "a few answers are drawn at random, and each is sent truly with some probability and otherwise replaced"
    implied: ClassVar[tuple[str, ...]] = ("columns",)
    example: ClassVar[Mapping[str, Any]] = {
        "epsilon": 1.0,
        "columns": (("number", 0.0, 1.0, 1), ("category", 0.0, 2.0, 0), ("several", 0.0, 3.0, 0)),
    }
    epsilon: float
    columns: tuple[ColumnKind, ...]
    sample: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "columns", tuple(map(_checked, self.columns)))
        if not self.columns:
            raise InvalidParameter("columns must have an entry for each answer; it is empty.")
        if self.sample is not None:
            object.__setattr__(self, "sample", check_count(self.sample, "sample", 1, self.dimension))
        _ = self._odds

    @property
    def dimension(self) -> int:
        """d, the number of answers."""
        return len(self.columns)

    @property
    def sampled(self) -> int:
        """m, the number of answers in a report."""
        best = max(1, min(self.dimension, int(self.epsilon / 2.18)))
        return best if self.sample is None else self.sample

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of columns of an estimate that belong to each answer."""
        own = {"number": 1}
        return tuple(
            own.get(kind, int(choices if kind == "several" else levels - extras)) + extras
            for (kind, _, _, extras), choices, levels in zip(self.columns, self._choices, self._levels, strict=True)
        )

    @cached_property
    def _choices(self) -> NDArray[np.int64]:
        """The number of choices of which one is drawn; 1 where nothing is."""
        sizes = [int(high + 1).bit_length() - 1 if kind == "several" else 1 for kind, _, high, _ in self.columns]
        return np.array(sizes, dtype=np.int64)

    @cached_property
    def _levels(self) -> NDArray[np.int64]:
        sizes = [(int(high) + 1 if kind == "category" else 2) + extras for kind, _, high, extras in self.columns]
        return np.array(sizes, dtype=np.int64)

    @cached_property
    def _alphabet(self) -> NDArray[np.int64]:
        """The number of symbols of each answer."""
        return self._choices * self._levels

    @cached_property
    def _odds(self) -> dict[int, Odds]:
        share = Fraction(self.epsilon) / self.sampled
        return {levels: odds(share, lows=levels - 1) for levels in sorted(set(self._levels.tolist()))}

    @cached_property
    def _weights(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The weights of the true level and of each other one, by column."""
        pairs = [(self._odds[levels].high, self._odds[levels].low) for levels in self._levels.tolist()]
        high, low = np.array(pairs, dtype=np.int64).T
        return high, low

    @property
    def keep(self) -> Array:
        """p of each answer when it is drawn."""
        high, low = self._weights
        return np.asarray(high / (high + (self._levels - 1) * low))

    @property
    def flip(self) -> Array:
        """q of each answer when it is drawn."""
        high, low = self._weights
        return np.asarray(low / (high + (self._levels - 1) * low))

    @cached_property
    def _bounds(self) -> tuple[Array, Array, NDArray[np.int64], Array]:
        """Smallest and largest value, answers of their own, and the bound of the first draw, by column."""
        lows, highs, extras = (np.array([each[place] for each in self.columns]) for place in (1, 2, 3))
        first = [WORD_RESOLUTION if kind == "number" else choices for kind, choices in self._kinds()]
        return lows, highs, extras.astype(np.int64), np.array(first, dtype=np.int64)

    def _kinds(self) -> Iterator[tuple[str, int]]:
        return zip((each[0] for each in self.columns), self._choices.tolist(), strict=True)

    @cached_property
    def _is(self) -> dict[str, NDArray[np.bool_]]:
        return {kind: np.array([each[0] == kind for each in self.columns]) for kind in _KINDS}

    def perturb(self, values: Any, bits: Bits) -> Reports:
        """Draw m answers for each row of a dense or CSR matrix, and a symbol for each."""
        matrix = self._values(values)
        users = matrix.shape[0]
        chosen = sample_coordinates(users, self.dimension, self.sampled, bits)
        columns = np.broadcast_to(np.arange(self.dimension), (users, self.dimension)) if chosen is None else chosen
        given = gather(matrix, chosen)
        first = bits.below(self._bounds[3][columns], columns.shape)  # every answer takes one, so that none shows by it
        truth, option = self._truth(given, columns, first)
        high, low = (weights[columns] for weights in self._weights)
        level = answer(truth, self._levels[columns], high, low, bits)
        symbols = option * self._levels[columns] + level
        return Reports(self.dimension, symbols.astype(self.symbol_dtype), chosen)

    def _truth(
        self, given: Array, columns: NDArray[Any], first: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the true level of each drawn answer, and which of several choices it is about."""
        lows, highs = self._bounds[0][columns], self._bounds[1][columns]
        own = given > highs  # an answer of its own
        number, several = self._is["number"][columns], self._is["several"][columns]
        place = np.clip((np.minimum(given, highs) - lows) / (highs - lows), 0.0, 1.0)
        rounded = first < np.floor(place * float(WORD_RESOLUTION)).astype(np.int64)
        option = np.where(several, first, 0)
        inside = np.where(own, 0, np.clip(given, lows, highs)).astype(np.int64)
        level = np.where(number, rounded, np.where(several, (inside >> option) & 1, inside))
        extras = self._bounds[2][columns]
        beyond = self._levels[columns] - extras - 1 + np.minimum(np.rint(given - highs), np.maximum(extras, 1))
        return np.where(own & (extras > 0), beyond, level).astype(np.int64), option.astype(np.int64)

    @property
    def shape(self) -> SymbolShape:
        """m of d symbols."""
        return SymbolShape(self.dimension, self.sampled, self.symbol_dtype)

    @property
    def symbol_dtype(self) -> np.dtype[Any]:
        """The integers that hold every symbol."""
        return np.min_scalar_type(-int(self._alphabet.max()))

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which rows consist of symbols of their answers."""
        return np.asarray(
            ((reports.symbols >= 0) & (reports.symbols < self._alphabet[reports.coordinates])).all(axis=1)
        )

    def sends(self) -> str:
        """Tell how many answers a report is about."""
        plural = "answer" if self.sampled == 1 else "answers"
        drawn = "" if self.sampled == self.dimension else f", drawn at random from {self.dimension}"
        return f"one noisy symbol about {self.sampled} {plural}{drawn}"

    @cached_property
    def _readings(self) -> sp.csr_array:
        """The value of each symbol of each answer in the columns of an estimate, without their offset."""
        blocks = []
        gap = self.keep - self.flip
        for place, (kind, low, high, extras) in enumerate(self.columns):
            levels, choices, width = int(self._levels[place]), int(self._choices[place]), self.widths[place]
            block = np.zeros((choices, levels, width))
            hot = (np.eye(levels) - self.flip[place]) / gap[place]  # level x estimated level
            if kind == "number":
                block[0, :, 0] = hot[:, 0] * low + hot[:, 1] * high - (low + high) / 2
            elif kind == "several":
                for option in range(choices):
                    block[option, :, option] = choices * hot[:, 1]
            names = levels if kind == "category" else extras
            block[:, levels - names :, width - names :] += np.eye(names) / gap[place]
            blocks.append(block.reshape(choices * levels, width))
        return sp.csr_array(sp.block_diag(blocks, format="csr"))

    @cached_property
    def _offset(self) -> Array:
        """The value of an answer that was not drawn, by the columns of an estimate."""
        parts: list[float] = []
        for place, (kind, low, high, extras) in enumerate(self.columns):
            empty = -float(self.flip[place] / (self.keep[place] - self.flip[place]))
            plain = {"number": [(low + high) / 2], "several": [0.0] * int(self._choices[place])}
            names = int(self._levels[place]) if kind == "category" else extras
            parts += [*plain.get(kind, []), *[empty] * names]
        return np.array(parts)

    def estimate(self, reports: Reports) -> AffineFeatures:
        """The unbiased estimates, N x sum(widths)."""
        self.validate(reports)
        starts = np.cumsum(self._alphabet) - self._alphabet
        rows = starts[reports.coordinates] + reports.symbols
        users, width = rows.shape
        hot = sp.csr_array(
            (np.ones(rows.size), rows.ravel(), np.arange(users + 1) * width), shape=(users, int(self._alphabet.sum()))
        )
        scale = np.full(len(self._offset), self.dimension / self.sampled)
        return AffineFeatures(sp.csr_array(hot @ self._readings), scale, self._offset)

    def strongest(self, directions: Any, reports: Reports) -> Reports:
        """The best symbol of each answer, of the answers where it moves the estimate furthest."""
        width, ends = self.sampled, np.cumsum(self._alphabet)
        coordinates = np.empty((len(reports), width), dtype=np.int32)
        symbols = np.empty((len(reports), width), dtype=self.symbol_dtype)
        for rows, block in dense_rows(directions):
            reach = np.asarray(block @ self._readings.T)
            parts = np.split(reach, ends[:-1], axis=1)
            best = np.stack([part.argmax(axis=1) for part in parts], axis=1)
            most = np.stack([part.max(axis=1) for part in parts], axis=1)
            chosen = np.sort(np.argsort(-most, axis=1, kind="stable")[:, :width], axis=1)
            coordinates[rows], symbols[rows] = chosen, np.take_along_axis(best, chosen, axis=1)
        return Reports(self.dimension, symbols, None if width == self.dimension else coordinates)

    def uniform(self, reports: Reports, bits: Bits) -> Reports:
        """Uniform answers with uniform symbols."""
        chosen = sample_coordinates(len(reports), self.dimension, self.sampled, bits)
        counts = self._alphabet if chosen is None else self._alphabet[chosen]
        symbols = bits.below(counts, (len(reports), self.sampled))
        return Reports(self.dimension, symbols.astype(self.symbol_dtype), chosen)

    def guarantee(self) -> Guarantee:
        """epsilon-LDP of all answers together, whichever of them differ."""
        unprotected = ("that the user took part", "which features were sampled")
        return Guarantee.local(Unit.FEATURES, self.epsilon, unprotected=unprotected)

    def tallies(self, reports: Reports) -> tuple[Tally, ...]:
        """One column an answer; given which answers are drawn, symbols are independent."""
        kinds, places = np.unique(np.stack([self._levels, self._choices]), axis=1, return_inverse=True)
        channels = []
        for levels, choices in kinds.T.tolist():
            each = self._odds[levels]
            keep, flip = each.high / each.total, each.low / each.total
            if choices == 1:
                channels.append(Channel.response(keep, flip, levels))
            else:  # every subset of choices is somebody's, so each symbol has its largest or smallest probability
                ends = np.array([[keep], [flip]]) / choices
                channels.append(Channel(np.repeat(ends, levels * choices, axis=1)))
        symbols = self.validate(reports).symbols.astype(np.int64)
        return tally_columns(channels, places.ravel(), reports.coordinates, symbols)

    def drawn_columns(self, reports: Reports) -> tuple[NDArray[np.int64], float] | None:
        """Each answer is drawn with probability m / d."""
        if reports.indices is None:
            return None
        return np.bincount(reports.indices.ravel(), minlength=self.dimension), self.sampled / self.dimension

    def log_peaks(self, reports: Reports) -> Array:
        """All answers true, over the number of subsets of answers."""
        peak = np.log(self.keep / self._choices)[self.validate(reports).coordinates].sum(axis=1)
        return np.asarray(peak - math.log(math.comb(self.dimension, self.sampled)))

    def log_likelihood(self, reports: Reports, values: Any) -> Array:
        """log of 1 / C(d, m) times the product over the drawn answers."""
        matrix, columns = self._values(values), self.validate(reports).coordinates
        dense = gather(matrix, None)
        result = np.full(len(reports), -math.log(math.comb(self.dimension, self.sampled)))
        for place in range(self.dimension):
            rows, where = np.nonzero(columns == place)
            chances = self._chances(place, dense[rows, place])
            result[rows] += np.log(chances[np.arange(len(rows)), reports.symbols[rows, where]])
        return result

    def _chances(self, place: int, values: Array) -> Array:
        """Return Pr[symbol | value] of one answer when it is drawn, values x symbols."""
        levels, choices = int(self._levels[place]), int(self._choices[place])
        ends = (np.full(len(values), end) for end in (0, WORD_RESOLUTION - 1))
        columns, flip = np.full(len(values), place), self.flip[place]
        table = np.full((levels, levels), flip) + (self.keep[place] - flip) * np.eye(levels)
        if self.columns[place][0] == "number":
            up, down = (table[self._truth(values, columns, end)[0]] for end in ends)
            _, low, high, _ = self.columns[place]
            share = np.floor(np.clip((values - low) / (high - low), 0, 1) * float(WORD_RESOLUTION)) / WORD_RESOLUTION
            return np.asarray(share[:, None] * up + (1 - share[:, None]) * down)
        options = (np.full(len(values), option) for option in range(choices))
        return np.concatenate([table[self._truth(values, columns, each)[0]] / choices for each in options], axis=1)

    def variance(self, values: Any) -> Array:
        """(d/m)^2 (m/d E[r^2] - (m/d E[r])^2) with r the reading of a symbol, N x sum(widths)."""
        dense, rate = gather(self._values(values), None), self.sampled / self.dimension
        ends, widths = np.cumsum(self._alphabet), np.cumsum(self.widths)
        blocks = []
        for place in range(self.dimension):
            rows = slice(ends[place] - self._alphabet[place], ends[place])
            readings = self._readings[rows, widths[place] - self.widths[place] : widths[place]].toarray()
            chances = self._chances(place, dense[:, place])
            blocks.append((rate * chances @ readings**2 - (rate * chances @ readings) ** 2) / rate**2)
        return np.concatenate(blocks, axis=1)

    def worst_values(self) -> Array:
        """The lowest, the middle and the highest answers."""
        lows, highs = self._bounds[:2]
        middle = np.where(self._is["number"], (lows + highs) / 2, np.floor((lows + highs) / 2))
        return np.stack([lows, middle, highs])

    @property
    def span(self) -> float:
        """The widest range of a number; 1, from no share of a category to all of it, where that is wider."""
        return max([1.0, *(high - low for kind, low, high, _ in self.columns if kind == "number")])

    def exact_distribution(self, value: Any) -> Distribution:
        """All subsets of answers times all symbols."""
        dense = gather(self._values(value), None)[0]
        factors = [self._exact(place, float(dense[place])) for place in range(self.dimension)]
        subsets = list(itertools.combinations(range(self.dimension), self.sampled))
        result: Distribution = {}
        for subset in subsets:
            for key, (lower, upper) in product_distribution([factors[i] for i in subset]).items():
                result[subset, key] = (lower / len(subsets), upper / len(subsets))
        return result

    def _exact(self, place: int, value: float) -> Distribution:
        """Return the exact distribution of one answer's symbol."""
        levels, choices = int(self._levels[place]), int(self._choices[place])
        kind, low, high, _ = self.columns[place]
        each = self._odds[levels]
        if kind == "number":
            share = np.floor(np.clip((min(value, high) - low) / (high - low), 0.0, 1.0) * float(WORD_RESOLUTION))
            up = Fraction(int(share), WORD_RESOLUTION)
            draws = [(0, up), (WORD_RESOLUTION - 1, 1 - up)]
        else:
            draws = [(option, Fraction(1, choices)) for option in range(choices)]
        result: dict[Hashable, Fraction] = dict.fromkeys(range(levels * choices), Fraction(0))
        for first, chance in draws:
            truth, option = (
                int(part[0]) for part in self._truth(np.array([value]), np.array([place]), np.array([first]))
            )
            for level in range(levels):
                weight = Fraction(each.high if level == truth else each.low, each.total)
                result[option * levels + level] += chance * weight
        return {symbol: (chance, chance) for symbol, chance in result.items()}

    @property
    def num_reports(self) -> int:
        """C(d, m) times the most symbols that m answers have together."""
        most = math.prod(sorted(self._alphabet.tolist())[-self.sampled :])
        return int(math.comb(self.dimension, self.sampled) * most)

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """All pairs of vectors whose answers are at an end of their range, or one of their own.

        Answers are treated alike within their kind, so beyond four of them the two opposite vectors stand for all.
        """
        ends = [(low, high, high + extras) if extras else (low, high) for _, low, high, extras in self.columns]
        few = itertools.product(*ends) if self.dimension <= 4 else [[each[0] for each in ends], [e[-1] for e in ends]]
        return itertools.permutations(map(tuple, few), 2)

    def inputs(self) -> Iterator[Any]:
        """Those of the pairs, and answers between the ends."""
        yield from super().inputs()
        rng = np.random.default_rng(0)
        lows, highs, extras, _ = self._bounds
        for _ in range(12):
            between = np.where(self._is["number"], rng.uniform(lows, highs), np.floor(rng.uniform(lows, highs + 1)))
            own = (rng.random(self.dimension) < 0.2) & (extras > 0)
            yield tuple(np.where(own, highs + 1, between).tolist())

    def report_key(self, reports: Reports, row: int) -> Hashable:
        """The answers and their symbols."""
        return tuple(reports.coordinates[row].tolist()), tuple(reports.symbols[row].tolist())

    def _values(self, values: Any) -> Any:
        """Refuse codes that are no whole numbers; numbers outside their range are moved to its nearest end."""
        matrix = as_matrix(values, self.dimension, type(self).__name__)
        dense = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        codes = ~self._is["number"] | (dense > self._bounds[1])
        if (codes & (dense != np.floor(dense)) & (self._bounds[2] + ~self._is["number"] > 0)).any():
            raise InvalidData("MixedResponse takes whole numbers as codes of categories; one value is a fraction.")
        return matrix


def _checked(column: Any) -> ColumnKind:
    """Return one column's declaration, or raise one clear sentence."""
    shaped = isinstance(column, tuple | list) and len(column) == 4
    kind, low, high, extras = column if shaped else ("", 0, 0, 0)
    try:
        ends = float(low), float(high)
    except (TypeError, ValueError):
        ends = math.nan, math.nan
    whole = ends[0] == 0 and ends[1] == int(ends[1]) if math.isfinite(ends[1]) else False
    fits = {
        "number": math.isfinite(ends[1] - ends[0]),
        "category": whole and 1 <= ends[1] < _MOST_CATEGORIES,
        "several": whole and ends[1] + 1 in {2.0**k for k in range(2, _MOST_CHOICES + 1)},
    }
    if kind not in _KINDS or not fits[kind] or not ends[0] < ends[1] or type(extras) is not int or not 0 <= extras <= 2:
        raise InvalidParameter(
            "Each of the columns must be a kind (number, category or several), its smallest and largest value, and the "
            f"number of answers of its own, from 0 to 2; {column!r} is not."
        )
    return str(kind), *ends, extras
