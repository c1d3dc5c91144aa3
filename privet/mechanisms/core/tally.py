"""Tallies of reported symbols, and every distribution that honest devices can give them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

__all__ = ["Channel", "Tally", "share_p_values", "tally_columns"]

Array = NDArray[np.float64]
_MOST_ROWS = 512
Counts = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Channel:
    """All distributions that one symbol of an honest report can have: the mixtures of a few extreme ones.

    Attributes:
        rows: The extreme distributions, one row each; one column a symbol. Where they would be too many, two rows
            with each symbol's largest and smallest probability.
        ordered: True if neighbouring symbols stand for neighbouring numbers and all extreme distributions are listed:
            a symbol can then be compared with its neighbours (:meth:`among`).
    """

    rows: Array
    ordered: bool = False

    @classmethod
    def response(cls, keep: float, flip: float, options: int) -> Channel:
        """Return the channel of randomised response: each option is the truth of somebody.

        Args:
            keep: The probability of the truth.
            flip: The probability of each other option.
            options: The number of options.
        """
        if options > _MOST_ROWS:
            return cls(np.stack([np.full(options, keep), np.full(options, flip)]))
        return cls(np.full((options, options), float(flip)) + (keep - flip) * np.eye(options))

    @property
    def lower(self) -> Array:
        """The smallest probability of each symbol over all inputs."""
        return np.asarray(self.rows.min(axis=0))

    @property
    def upper(self) -> Array:
        """The largest probability of each symbol over all inputs."""
        return np.asarray(self.rows.max(axis=0))

    def among(self, reach: int) -> tuple[Array, Array]:
        """Return bounds of each symbol's probability, given that the symbol lies within ``reach`` places of it.

        Conditioning a mixture gives a mixture of the conditioned rows, so the bounds over rows hold for all inputs.
        """
        near = self.rows / within(self.rows, reach)
        return np.asarray(near.min(axis=0)), np.asarray(near.max(axis=0))


@dataclass(frozen=True, eq=False)
class Tally:
    """Count how often each symbol was reported in each column, where all columns have the same channel.

    Attributes:
        channel: The distributions that a symbol can have, whatever the other symbols of its report are.
        counts: Columns x symbols.
    """

    channel: Channel
    counts: Counts


def within(counts: NDArray[Any], reach: int) -> NDArray[Any]:
    """Add up, for each symbol, the entries of all symbols at most ``reach`` places away."""
    before = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(counts, axis=1)], axis=1)
    places = np.arange(counts.shape[1])
    ends = np.minimum(places + reach + 1, counts.shape[1])
    return np.asarray(before[:, ends] - before[:, np.maximum(places - reach, 0)])


def tally_columns(
    channels: Sequence[Channel], kinds: NDArray[np.integer[Any]], columns: NDArray[Any], symbols: NDArray[Any]
) -> tuple[Tally, ...]:
    """Count symbols by column, one tally for each channel.

    Args:
        channels: The channels.
        kinds: The channel of each column.
        columns: The column of each reported symbol.
        symbols: The place of each reported symbol in its channel.
    """
    result = []
    for kind, channel in enumerate(channels):
        own = np.flatnonzero(kinds == kind)
        place = np.full(len(kinds), -1)
        place[own] = np.arange(len(own))
        rows = place[columns.ravel()]
        width, here = channel.rows.shape[1], rows >= 0
        cells = rows[here] * width + symbols.ravel()[here]
        result.append(Tally(channel, np.bincount(cells, minlength=len(own) * width).reshape(-1, width)))
    return tuple(result)


def share_p_values(channel: Channel, symbols: NDArray[np.integer[Any]]) -> Array:
    """Return a p-value of each report from the share of each symbol within it.

    A symbol that appears k times among m independent draws has a binomial tail that is largest at an end of its
    channel; all symbols and both tails are corrected for (Bonferroni).

    Args:
        channel: The channel of every symbol of a report, given the report's other symbols.
        symbols: The places of the symbols, reports x m.
    """
    count, width = symbols.shape[1], channel.rows.shape[1]
    if count < 2 or not len(symbols):
        return np.ones(len(symbols))
    least = np.ones(len(symbols))
    for place, (low, high) in enumerate(zip(channel.lower, channel.upper, strict=True)):
        found = (symbols == place).sum(axis=1)
        many = np.where(found > 0, bdtrc(np.maximum(found - 1, 0).astype(float), count, min(high, 1.0)), 1.0)
        least = np.minimum(least, np.minimum(many, bdtr(found.astype(float), count, low)))
    return np.asarray(np.minimum(1.0, 2 * width * least))
