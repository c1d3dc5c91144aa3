"""A random subset of the options that were offered to each user, which holds the true one more likely than not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.base import Distribution
from privet.mechanisms.core.extremes import dense_rows
from privet.mechanisms.core.reports import Reports
from privet.mechanisms.core.tally import Channel, Tally
from privet.mechanisms.offered_response import OfferedResponse
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.odds import Odds, odds

__all__ = ["SubsetResponse"]

_MOST_SUBSETS = 1 << 14  # of one number of options: a device lists them all


@dataclass(frozen=True, kw_only=True)
class SubsetResponse(OfferedResponse):
    """Tell k of g options: each subset with the true one with weight e^epsilon, each other one with weight 1.

    With k = 1 for every g this is :class:`~privet.mechanisms.offered_response.OfferedResponse`, symbol by symbol. With
    many options and a small epsilon a larger k tells more: each subset rules out all options that it does not hold. A
    value is the position of the true answer and the number g of options, which is public. A report is one symbol: the
    subsets of 2 options in lexicographic order, then those of 3, and so on. The estimate of a user's one-hot position
    is (1[j in the subset] - q_g) / (p_g - q_g) for j < g, with p_g the probability that the subset holds the true
    option and q_g that it holds another one.

    Formal guarantee: epsilon-LDP of whatever the answer was computed from, since the integer weights of any two subsets
    differ by a factor of at most e^epsilon by exact arithmetic, and their total is the same for every position.

    Attributes:
        epsilon: The privacy budget of an answer.
        most: The largest number of options, from 2 to 255 (default 15).
        sizes: k for g = 2 to ``most``; by default those that tell most about an answer that is equally likely to be
            each option.

    >>> SubsetResponse(epsilon=1.0, most=9).sizes
    (1, 1, 1, 2, 2, 2, 3, 3)
    """

    name = "subset-response"
    words = "a few of the offered options are answered together, with some probability the true one among them"
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 0.5, "most": 5}
    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sizes:
            chosen = (_most_telling(Fraction(self.epsilon), options) for options in range(2, self.most + 1))
            object.__setattr__(self, "sizes", tuple(chosen))
        given = self.sizes if isinstance(self.sizes, tuple | list) else ()
        fits = len(given) == self.most - 1 and all(
            type(size) is int and 0 < size < options and math.comb(options, size) <= _MOST_SUBSETS
            for options, size in enumerate(given, 2)
        )
        if not fits:
            raise InvalidParameter(
                f"sizes must be a list of whole numbers, one for each of 2 to {self.most} options: at least 1, fewer "
                f"than the options, and so that there are at most {_MOST_SUBSETS:,} subsets."
            )
        object.__setattr__(self, "sizes", tuple(given))
        _ = self._subset_odds

    @cached_property
    def _subset_odds(self) -> tuple[Odds, ...]:
        """The weights for 2, 3, ... options."""
        share = Fraction(self.epsilon)
        return tuple(_odds(share, options, size) for options, size in enumerate(self.sizes, 2))

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """The first symbol of 2, 3, ... options, and the number of all symbols."""
        counts = [math.comb(options, size) for options, size in enumerate(self.sizes, 2)]
        return np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def _members(self) -> tuple[NDArray[np.bool_], ...]:
        """Subsets x options for 2, 3, ... options: which subset holds which."""
        return tuple(_subsets(options, size) for options, size in enumerate(self.sizes, 2))

    @cached_property
    def _held(self) -> tuple[NDArray[np.int64], ...]:
        """Options x subsets for 2, 3, ... options: the subsets that hold an option in order, and then the others."""
        return tuple(np.argsort(~members, axis=0, kind="stable").T for members in self._members)

    @property
    def keep(self) -> NDArray[np.float64]:
        """p_g, the probability that a report holds the true option, for g = 2 to ``most``."""
        return np.array([math.comb(g - 1, k - 1) * each.high / each.total for g, k, each in self._known])

    @property
    def flip(self) -> NDArray[np.float64]:
        """q_g, the probability that a report holds any one other option, for g = 2 to ``most``."""
        with_both = [math.comb(g - 2, k - 2) if k > 1 else 0 for g, k, _ in self._known]
        without = [math.comb(g - 2, k - 1) for g, k, _ in self._known]
        drawn = zip(with_both, without, self._subset_odds, strict=True)
        return np.array([(both * each.high + other * each.low) / each.total for both, other, each in drawn])

    @property
    def _known(self) -> list[tuple[int, int, Odds]]:
        pairs = zip(self.sizes, self._subset_odds, strict=True)
        return [(options, size, each) for options, (size, each) in enumerate(pairs, 2)]

    def perturb(self, values: Any, bits: Bits) -> Reports:
        """One symbol for each user, from one draw."""
        positions, options = self._answers(values)
        totals = np.array([each.total for each in self._subset_odds])
        draws = bits.below(totals[options - 2], options.shape)
        codes = np.empty(len(options), dtype=np.int64)
        for size, rows in _by_options(options):
            each, held = self._subset_odds[size - 2], self._held[size - 2]
            holding = math.comb(size - 1, self.sizes[size - 2] - 1)
            border, drawn = holding * each.high, draws[rows]
            place = np.where(drawn < border, drawn // each.high, holding + (drawn - border) // each.low)
            codes[rows] = self._starts[size - 2] + held[positions[rows], place]
        return Reports(1, codes[:, None].astype(self.symbol_dtype))

    def decode(self, reports: Reports) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the place of each user's subset among those of as many options, and the number of options."""
        codes = self.validate(reports).symbols[:, 0].astype(np.int64)
        options = np.searchsorted(self._starts, codes, side="right") + 1
        return codes - self._starts[options - 2], options

    def channel(self, options: int) -> NDArray[np.float64]:
        """Return Pr[subset | position], options x subsets."""
        each = self._subset_odds[options - 2]
        return np.asarray(np.where(self._members[options - 2].T, each.high, each.low) / each.total)

    def sends(self) -> str:
        """Tell how many options are sent, and how often the truth is among them."""
        least, most = self.keep.min(), self.keep.max()
        often = f"{most:.0%}" if f"{least:.0%}" == f"{most:.0%}" else f"between {least:.0%} and {most:.0%}"
        some = f"{max(self.sizes)}" if min(self.sizes) == max(self.sizes) else f"1 to {max(self.sizes)}"
        return f"{some} of the options that you were offered, the true one among them with {often} probability"

    def estimate(self, reports: Reports) -> AffineFeatures:
        """The unbiased one-hot position of each user, N x most; nothing is stored beyond the offered options."""
        places, options = self.decode(reports)
        starts = np.concatenate([[0], np.cumsum(options)])
        entries = np.empty(starts[-1], dtype=np.float32)
        for size, rows in _by_options(options):
            keep, flip = self.keep[size - 2], self.flip[size - 2]
            told = (self._members[size - 2][places[rows]] - flip) / (keep - flip)
            entries[starts[rows][:, None] + np.arange(size)] = told
        columns = np.arange(starts[-1]) - np.repeat(starts[:-1], options)
        stored = sp.csr_array((entries, columns, starts), shape=(len(options), self.most))
        return AffineFeatures(stored, np.ones(self.most), np.zeros(self.most))

    def strongest(self, directions: Any, reports: Reports) -> Reports:
        """The subset of the offered positions that lie furthest in each direction."""
        _, options = self.decode(reports)
        codes = np.empty(len(options), dtype=np.int64)
        for rows, block in dense_rows(directions):
            for size, some in _by_options(options[rows]):
                reach = block[some][:, :size] @ self._members[size - 2].T
                codes[np.arange(len(options))[rows][some]] = self._starts[size - 2] + reach.argmax(axis=1)
        return Reports(1, codes[:, None].astype(self.symbol_dtype))

    def uniform(self, reports: Reports, bits: Bits) -> Reports:
        """A uniform one of the subsets of the options that each person was offered."""
        _, options = self.decode(reports)
        drawn = bits.below(np.diff(self._starts)[options - 2], options.shape)
        return Reports(1, (self._starts[options - 2] + drawn)[:, None].astype(self.symbol_dtype))

    def tallies(self, reports: Reports) -> tuple[Tally, ...]:
        """One column for each number of options, which is public."""
        counts = np.bincount(self.validate(reports).symbols[:, 0], minlength=self.num_reports)
        parts = np.split(counts, self._starts[1:-1])
        return tuple(Tally(Channel(self._extremes(g)), part[None]) for g, part in enumerate(parts, 2))

    def _extremes(self, options: int) -> NDArray[np.float64]:
        """Return the channel, or the largest and smallest probability of each subset where the channel is large."""
        subsets = self._starts[options - 1] - self._starts[options - 2]
        each = self._subset_odds[options - 2]
        if options * subsets <= 1 << 18:
            return self.channel(options)
        return np.repeat(np.array([[each.high], [each.low]]) / each.total, subsets, axis=1)

    def log_peaks(self, reports: Reports) -> NDArray[np.float64]:
        """The logarithm of the probability of a subset that holds the truth."""
        highs = np.array([each.high / each.total for each in self._subset_odds])
        return np.asarray(np.log(highs)[self.decode(reports)[1] - 2])

    def log_likelihoods(self, reports: Reports) -> NDArray[np.float64]:
        """Return log Pr[report | position], N x most; -inf beyond the offered options."""
        places, options = self.decode(reports)
        found = np.full((len(options), self.most), -np.inf)
        for size, rows in _by_options(options):
            found[rows[:, None], np.arange(size)] = np.log(self.channel(size).T[places[rows]])
        return found

    def log_likelihood(self, reports: Reports, values: Any) -> NDArray[np.float64]:
        """As :meth:`log_likelihoods` for the true position; -inf for another number of options."""
        positions, options = self._answers(values)
        likely = self.log_likelihoods(reports)[np.arange(len(options)), positions]
        return np.where(self.decode(reports)[1] == options, likely, -np.inf)

    def exact_distribution(self, value: Any) -> Distribution:
        """The weights over their total, for the subsets of this number of options."""
        (position,), (options,) = self._answers(np.atleast_2d(value))
        each, first = self._subset_odds[options - 2], int(self._starts[options - 2])
        holds = self._members[options - 2][:, position].tolist()
        chances = {true: (Fraction(each.high if true else each.low, each.total),) * 2 for true in (False, True)}
        return {first + place: chances[true] for place, true in enumerate(holds)}

    @property
    def num_reports(self) -> int:
        """C(g, k) subsets for each number g of options."""
        return int(self._starts[-1])


def _subsets(options: int, size: int) -> NDArray[np.bool_]:
    """Return all subsets of a size in lexicographic order, subsets x options."""
    listed = np.array(list(itertools.combinations(range(options), size)))
    found = np.zeros((len(listed), options), dtype=np.bool_)
    found[np.arange(len(listed))[:, None], listed] = True
    return found


def _odds(epsilon: Fraction, options: int, size: int) -> Odds:
    return odds(epsilon, highs=math.comb(options - 1, size - 1), lows=math.comb(options - 1, size))


def _most_telling(epsilon: Fraction, options: int) -> int:
    """Return the size whose subsets tell most about a uniform answer; of equal ones the smallest."""
    best, most = 1, -math.inf
    for size in range(1, options):
        subsets = math.comb(options, size)
        if subsets > _MOST_SUBSETS:
            break
        high, low = math.comb(options - 1, size - 1), math.comb(options - 1, size)
        try:
            each = _odds(epsilon, options, size)
        except InvalidParameter:  # more likely subsets than the integers can tell from unlikely ones
            break
        told = sum(
            count * p * math.log(subsets * p)
            for count, p in ((high, each.high / each.total), (low, each.low / each.total))
        )
        if told > most * (1 + 1e-9):
            best, most = size, told
    return best


def _by_options(options: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
    """Return each number of options with the rows of the users who were offered so many."""
    return [(int(size), np.flatnonzero(options == size)) for size in np.unique(options)]
