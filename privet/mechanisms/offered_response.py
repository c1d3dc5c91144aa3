"""Randomised response among the options that were offered to each user."""

from __future__ import annotations

import itertools
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
from privet.mechanisms.core.base import Distribution, Mechanism, check_count
from privet.mechanisms.core.extremes import dense_rows
from privet.mechanisms.core.reports import Reports
from privet.mechanisms.core.shapes import SymbolShape
from privet.mechanisms.core.tally import Channel, Tally
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.odds import Odds, odds
from privet.mechanisms.randomized_response import answer
from privet.privacy import Guarantee, Unit
from privet.privacy.guarantee import check_epsilon

__all__ = ["OfferedResponse"]


@dataclass(frozen=True, kw_only=True)
class OfferedResponse(Mechanism):
    """Tell the true one of g options with probability p_g = e^epsilon / (e^epsilon + g - 1), each other with q_g.

    A value is two integers: the position a of the true answer among the options, and the number g of options that
    this user was offered, which is public. A report is the one symbol (g - 2)(g + 1) / 2 + a', from which both the
    reported position a' and g can be read. The estimate of a user's one-hot position is (1[j = a'] - q_g) /
    (p_g - q_g) for j < g, which is unbiased, and nothing beyond.

    Formal guarantee: epsilon-LDP of whatever the answer was computed from, since the weights of any two positions
    differ by a factor of at most e^epsilon by exact arithmetic, whatever g is.

    Attributes:
        epsilon: The privacy budget of an answer.
        most: The largest number of options, from 2 to 255 (default 15, the most for which a report is one byte).

    >>> OfferedResponse(epsilon=1.0, most=3).keep.round(3).tolist()
    [0.731, 0.576]
    """

    name = "offered-response"
    words = "the true one of the offered options is answered with some probability, and otherwise another one"
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 1.0, "most": 4}
    epsilon: float
    most: int = 15

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "most", check_count(self.most, "most", 2, 255))
        _ = self._odds

    @cached_property
    def _odds(self) -> tuple[Odds, ...]:
        """The weights for 2, 3, ... options."""
        share = Fraction(self.epsilon)
        return tuple(odds(share, lows=others) for others in range(1, self.most))

    @cached_property
    def _high(self) -> NDArray[np.int64]:
        return np.array([each.high for each in self._odds])

    @cached_property
    def _low(self) -> NDArray[np.int64]:
        return np.array([each.low for each in self._odds])

    @cached_property
    def _total(self) -> NDArray[np.int64]:
        return np.array([each.total for each in self._odds])

    @property
    def keep(self) -> NDArray[np.float64]:
        """p_g, the probability of the true option, for g = 2 to ``most``."""
        return self._high / self._total

    @property
    def flip(self) -> NDArray[np.float64]:
        """q_g, the probability of each other option, for g = 2 to ``most``."""
        return self._low / self._total

    def perturb(self, values: Any, bits: Bits) -> Reports:
        """One symbol for each user, from one draw."""
        positions, options = self._answers(values)
        reported = answer(positions, options, self._high[options - 2], self._low[options - 2], bits)
        return Reports(1, (_first_code(options) + reported)[:, None].astype(self.symbol_dtype))

    def decode(self, reports: Reports) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return each user's symbol among those of as many options, here a position, and the number of options."""
        codes = self.validate(reports).symbols[:, 0]
        choices = np.arange(2, self.most + 1)
        options = np.repeat(choices, choices)[codes]
        return codes - _first_code(options), options

    @property
    def shape(self) -> SymbolShape:
        """One symbol."""
        return SymbolShape(1, 1, self.symbol_dtype)

    @property
    def symbol_dtype(self) -> np.dtype[Any]:
        """The integers that hold every symbol."""
        return np.min_scalar_type(-self.num_reports)

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which rows are codes of a position among at most ``most`` options."""
        return np.asarray((reports.symbols[:, 0] >= 0) & (reports.symbols[:, 0] < self.num_reports))

    def sends(self) -> str:
        """Tell how often the truth is sent."""
        least, most = self.keep[-1], self.keep[0]
        often = f"between {least:.0%} and {most:.0%}" if self.most > 2 else f"{most:.0%}"
        return f"the true option with {often} probability, otherwise another one that you were offered"

    def estimate(self, reports: Reports) -> AffineFeatures:
        """The unbiased one-hot position of each user, N x most; nothing is stored beyond the offered options."""
        positions, options = self.decode(reports)
        starts = np.concatenate([[0], np.cumsum(options)])
        gap = self.keep - self.flip
        entries = np.repeat((-self.flip / gap).astype(np.float32)[options - 2], options)
        entries[starts[:-1] + positions] += (1 / gap).astype(np.float32)[options - 2]
        columns = np.arange(starts[-1]) - np.repeat(starts[:-1], options)
        stored = sp.csr_array((entries, columns, starts), shape=(len(options), self.most))
        return AffineFeatures(stored, np.ones(self.most), np.zeros(self.most))

    def strongest(self, directions: Any, reports: Reports) -> Reports:
        """The offered position that lies furthest in each direction."""
        _, options = self.decode(reports)
        positions = np.zeros(len(reports), dtype=np.int64)
        for rows, block in dense_rows(directions):
            offered = np.arange(self.most) < options[rows, None]
            positions[rows] = np.where(offered, block, -np.inf).argmax(axis=1)
        return Reports(1, (_first_code(options) + positions)[:, None].astype(self.symbol_dtype))

    def uniform(self, reports: Reports, bits: Bits) -> Reports:
        """A uniform one of the options that each person was offered."""
        _, options = self.decode(reports)
        drawn = bits.below(options, options.shape)
        return Reports(1, (_first_code(options) + drawn)[:, None].astype(self.symbol_dtype))

    def influence(self) -> float:
        """An option answered or not, 1 / (p_g - q_g), among the most options."""
        return float(np.max(1 / (self.keep - self.flip)))

    def guarantee(self) -> Guarantee:
        """epsilon-LDP of the feature vector."""
        unprotected = ("that the user took part", "how many options the user was offered")
        return Guarantee.local(Unit.FEATURES, self.epsilon, unprotected=unprotected)

    def tallies(self, reports: Reports) -> tuple[Tally, ...]:
        """One column for each number of options, which is public."""
        counts = np.bincount(self.validate(reports).symbols[:, 0], minlength=self.num_reports)
        parts = np.split(counts, [_first_code(options) for options in range(3, self.most + 1)])
        chances = zip(self.keep, self.flip, parts, strict=True)
        return tuple(Tally(Channel.response(p, q, len(part)), part[None]) for p, q, part in chances)

    def log_peaks(self, reports: Reports) -> NDArray[np.float64]:
        """log p_g: the report may be the truth."""
        return np.asarray(np.log(self.keep)[self.decode(reports)[1] - 2])

    def channel(self, options: int) -> NDArray[np.float64]:
        """Return Pr[symbol | position] for a number of options, options x symbols."""
        keep, flip = self.keep[options - 2], self.flip[options - 2]
        return np.asarray(np.full((options, options), flip) + (keep - flip) * np.eye(options))

    def log_likelihoods(self, reports: Reports) -> NDArray[np.float64]:
        """Return log Pr[report | position], N x most; -inf beyond the offered options."""
        reported, options = (each[:, None] for each in self.decode(reports))
        columns, choices = np.arange(self.most), options - 2
        likely = np.log(np.where(reported == columns, self.keep[choices], self.flip[choices]))
        return np.where(columns < options, likely, -np.inf)

    def log_likelihood(self, reports: Reports, values: Any) -> NDArray[np.float64]:
        """log p_g where the report is the truth, log q_g elsewhere, and -inf for another number of options."""
        reported, offered = self.decode(reports)
        positions, options = self._answers(values)
        likely = np.log(np.where(reported == positions, self.keep[options - 2], self.flip[options - 2]))
        return np.where(offered == options, likely, -np.inf)

    def worst_values(self) -> NDArray[np.int64]:
        """People who were offered the number of options at which an estimate varies most."""
        each = np.stack([np.zeros(self.most - 1, dtype=np.int64), np.arange(2, self.most + 1)], axis=1)
        return np.repeat(each[[int(np.argmax(self.variance(each).max(axis=1)))]], 3, axis=0)

    @property
    def span(self) -> float:
        """From no share of an option to all of it."""
        return 1.0

    def variance(self, values: Any) -> NDArray[np.float64]:
        """Pr (1 - Pr) / (p_g - q_g)^2 of each offered option, N x most; 0 beyond."""
        positions, options = (column[:, None] for column in self._answers(values))
        keep, flip, columns = self.keep[options - 2], self.flip[options - 2], np.arange(self.most)
        chance = np.where(columns == positions, keep, flip)
        return np.where(columns < options, chance * (1 - chance) / (keep - flip) ** 2, 0.0)

    def exact_distribution(self, value: Any) -> Distribution:
        """The weights over their total, for the codes of this number of options."""
        (position,), (options,) = self._answers(np.atleast_2d(value))
        weights, first = self._odds[options - 2], int(_first_code(options))
        drawn = (weights.high if each == position else weights.low for each in range(options))
        return {first + each: (Fraction(weight, weights.total),) * 2 for each, weight in enumerate(drawn)}

    @property
    def num_reports(self) -> int:
        """g positions for each number g of options."""
        return (self.most - 1) * (self.most + 2) // 2

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """Positions for each number of options, all of them where they are few: options are treated alike."""
        for options in range(2, self.most + 1):
            for one, other in itertools.permutations(range(min(options, 16)), 2):
                yield (one, options), (other, options)

    def report_key(self, reports: Reports, row: int) -> Hashable:
        """The code."""
        return int(reports.symbols[row, 0])

    def _answers(self, values: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return positions and numbers of options."""
        answers = values.toarray() if sp.issparse(values) else np.asarray(values)
        what = "answers given to OfferedResponse"
        if answers.ndim != 2 or answers.shape[1] != 2 or not np.issubdtype(answers.dtype, np.integer):
            found = f"{answers.dtype} of shape {answers.shape}"
            raise InvalidData(what, "integers in two columns, a position and the number of options", found)
        positions, options = answers.astype(np.int64).T
        strange = (options < 2) | (options > self.most)
        if strange.any():
            row = int(np.argmax(strange))
            raise InvalidData(what, f"about 2 to {self.most} options", f"{options[row]} options in row {row}")
        outside = (positions < 0) | (positions >= options)
        if outside.any():  # which position it is, is private
            raise InvalidData(
                f"The position in row {int(np.argmax(outside))} must be from 0 to one less than the number of options."
            )
        return positions, options


def _first_code(options: Any) -> Any:
    """Return the code of position 0 among some number of options."""
    return (options - 2) * (options + 1) // 2
