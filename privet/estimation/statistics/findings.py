"""Findings: what a question's answers say about the people, or about a group of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.estimation.statistics.intervals import (
    Estimate,
    fieller,
    mean_interval,
    possible_shares,
    possible_value,
    share_interval,
)
from privet.estimation.statistics.readings import Reading

__all__ = ["Finding", "Scale", "find", "find_among", "find_within", "from_ratios", "nothing"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """The possible answers to a question.

    Attributes:
        names: The categories; the groups of people that are counted; empty for one number.
        shares: True if everybody has exactly one of the categories, so that figures are shares that sum to 1.
        low: The smallest number.
        high: The largest number.
        ends: Words for the smallest and the largest number, where they are the codes of ordered categories.
        counts: True if people are counted, of which no even spread is to be expected.
    """

    names: tuple[str, ...] = ()
    shares: bool = False
    low: float = 0.0
    high: float = 1.0
    ends: tuple[str, str] | None = None
    counts: bool = False

    @property
    def in_percent(self) -> bool:
        """True if figures are shares of people, who have one category or choose several."""
        return self.shares or (bool(self.names) and not self.counts)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of a figure: of a share, or of a mean."""
        return (0.0, 1.0) if self.shares else (self.low, self.high)

    @property
    def spread(self) -> float:
        """The variance of answers that are spread evenly over what is possible, summed over categories."""
        if self.counts:
            return math.nan
        if self.shares:
            return 1 - 1 / len(self.names)
        if self.in_percent:
            return len(self.names) / 4
        return (self.high - self.low) ** 2 / 12

    def possible(self, figures: Array) -> Array:
        """Return the nearest figures that are possible."""
        if self.shares:
            return possible_shares(figures)
        return np.asarray(np.clip(figures, self.low, self.high))


@dataclass(frozen=True)
class Finding:
    """The shares of a question's categories, or means, among all people or those of a group.

    Attributes:
        scale: The possible answers.
        estimates: One figure a name, or one mean.
        people: The number of people whose reports are about this question.
        as_open: The number of people who, asked openly, would tell it as exactly: their interval has the same width if
            answers are spread evenly over what is possible. NaN for counts of people.
    """

    scale: Scale
    estimates: tuple[Estimate, ...]
    people: int
    as_open: float

    @property
    def told(self) -> bool:
        """True if an interval is narrower than all that is possible."""
        low, high = self.scale.bounds
        return any(each.told and (each.low > low or each.high < high) for each in self.estimates)


def find(reading: Reading, scale: Scale) -> Finding:
    """Estimate the shares of categories, or a mean, among the people of a reading.

    A share below 0 or above 1 counts as the nearest possible one before its interval is made. That makes the interval
    longer on the side of the truth, so that it holds the truth at least as often, and it is never empty.

    Args:
        reading: What people reported.
        scale: The possible answers.
    """
    people, width = len(reading), len(reading.scale)
    if not people:
        return nothing(scale, width)
    shares, variance, two = _moments(reading)
    unbiased = shares * reading.scale + reading.offset
    low, high = scale.bounds
    near = np.clip(unbiased, low, high)
    if two is None:
        cuts = mean_interval(near, variance * reading.scale**2, people)
    else:
        least, most = two
        sent = np.clip(((near - reading.offset) / reading.scale - least) / (most - least), 0.0, 1.0)
        sent_cuts = share_interval(sent, people)
        one, other = ((least + (most - least) * each) * reading.scale + reading.offset for each in sent_cuts)
        cuts = np.minimum(one, other), np.maximum(one, other)
    value = scale.possible(unbiased)
    estimates = (
        possible_value(*each, scale.bounds) for each in zip(unbiased, value, zip(*cuts, strict=True), strict=True)
    )
    total = float((variance * reading.scale**2).sum()) / people
    return Finding(scale, tuple(estimates), people, _as_open(scale, total, people))


def find_among(base: Reading, reading: Reading, scale: Scale) -> Finding:
    """Estimate figures among the people to whom they apply, such as those who did not prefer to say nothing.

    Args:
        base: What people reported about whether the figures apply to them: one column that is 1 if they do.
        reading: What the same people reported, which is 0 if the figures do not apply.
        scale: The possible answers.
    """
    return _ratios(base.estimates[:, 0], reading.estimates, scale)


def find_within(group: Reading, reading: Reading, scale: Scale, base: Reading | None = None) -> Finding:
    """Estimate the shares of categories, or a mean, among the people of one group, who are known by reports only.

    Both answers were randomised independently, so the product of two unbiased estimates of one person is an unbiased
    estimate of the product of the truths: both channels are inverted at once. A share within the group is the ratio of
    two means, with Fieller's interval.

    Args:
        group: What people reported about belonging to the group, one column that is 1 for members and 0 for others.
        reading: What people reported about the question.
        scale: The possible answers.
        base: What people reported about whether the figures apply to them, as for :func:`find_among` (default: to all).
    """
    both = np.intersect1d(group.users, reading.users)
    members, answers = group.take(both).estimates[:, :1], reading.take(both).estimates
    applies = members[:, 0] if base is None else members[:, 0] * base.take(both).estimates[:, 0]
    return _ratios(applies, members * answers, scale)


def _ratios(below: Array, above: Array, scale: Scale) -> Finding:
    """Return the ratios of two means, one for each column above."""
    people = len(below)
    if people < 2 or below.mean() <= 0:
        return nothing(scale, above.shape[1], people)
    spreads = [np.cov(column, below) / people for column in above.T]
    return from_ratios(scale, above.mean(axis=0), float(below.mean()), spreads, people)


def from_ratios(scale: Scale, tops: Array, bottom: float, spreads: Sequence[Array], people: int) -> Finding:
    """Return the figures that are ratios of estimates with one denominator.

    Args:
        scale: The possible answers.
        tops: The numerators.
        bottom: The denominator, above 0.
        spreads: The covariance matrix of each numerator and the denominator.
        people: The number of people that they come from.
    """
    unbiased = tops / bottom
    near = bottom * np.clip(unbiased, *scale.bounds)
    estimates = [
        possible_value(raw, shown, fieller(float(top), bottom, spread, people), scale.bounds)
        for raw, shown, top, spread in zip(unbiased, scale.possible(unbiased), near, spreads, strict=True)
    ]
    slopes = [np.array([1.0, -raw]) / bottom for raw in unbiased]
    total = sum(float(slope @ spread @ slope) for slope, spread in zip(slopes, spreads, strict=True))
    return Finding(scale, tuple(estimates), people, _as_open(scale, total, people))


def _moments(reading: Reading) -> tuple[Array, Array, tuple[float, float] | None]:
    """Return mean and variance of each column's symbols, and both symbols if there are only two."""
    mean, least, most = reading.symbols.mean(axis=0), float(reading.symbols.min()), float(reading.symbols.max())
    two = next((pair for pair in ((0.0, 1.0), (-1.0, 1.0)) if _only(reading.symbols, pair, least, most)), None)
    if two is not None:
        share = (mean - two[0]) / (two[1] - two[0])
        return mean, (two[1] - two[0]) ** 2 * share * (1 - share), two
    return mean, reading.symbols.var(axis=0, ddof=1 if len(reading) > 1 else 0), None


def _only(symbols: Array, pair: tuple[float, float], least: float, most: float) -> bool:
    return pair[0] <= least and most <= pair[1] and bool(((symbols == pair[0]) | (symbols == pair[1])).all())


def _as_open(scale: Scale, variance: float, people: int) -> float:
    if math.isnan(scale.spread):
        return math.nan
    return min(float(people), scale.spread / variance) if variance > 0 else float(people)


def nothing(scale: Scale, width: int, people: int = 0) -> Finding:
    """Return a finding that says nothing, about people from whom nothing can be told."""
    low, high = scale.bounds
    return Finding(scale, (Estimate(np.nan, low, high, np.nan),) * width, people, 0.0)
