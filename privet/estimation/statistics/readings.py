"""Readings: unbiased estimates of single answers, one for each person whose report is about them.

They go through the mechanism's own estimate, so that a mechanism needs nothing else for its statistics. If a report is
about m of d coordinates, an estimate has the factor d / m, which makes up for the people who were not asked about a
coordinate. A reading leaves these people out, and the factor with them: who was drawn is public and does not depend on
anybody's answer, so the reading stays unbiased, and it says honestly how many people a figure rests on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.mechanisms import Mechanism, Reports

__all__ = ["Reading", "read_answers", "read_open"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reading:
    """The reports of some people about one answer.

    Attributes:
        users: The people's ids, ascending.
        symbols: What they reported, people x columns.
        scale: What one unit of a symbol stands for, one number a column.
        offset: What a symbol of 0 stands for.
    """

    users: NDArray[np.int64]
    symbols: Array
    scale: Array
    offset: Array

    def __len__(self) -> int:
        return len(self.users)

    @property
    def estimates(self) -> Array:
        """The unbiased estimate of each person's answer, people x columns."""
        return np.asarray(self.symbols * self.scale + self.offset)

    def take(self, users: NDArray[np.integer[Any]]) -> Reading:
        """Keep those of the people who are among some others."""
        kept = np.isin(self.users, users)
        return Reading(self.users[kept], self.symbols[kept], self.scale, self.offset)


def read_open(users: NDArray[np.int64], answers: Array) -> Reading:
    """Return the reading of answers that people showed as they are, people x columns."""
    width = answers.shape[1]
    return Reading(users, np.asarray(answers, dtype=np.float64), np.ones(width), np.zeros(width))


def read_answers(
    users: NDArray[np.int64], reports: Any, mechanism: Mechanism, widths: tuple[int, ...]
) -> Iterator[Reading]:
    """Yield the reading of each of the answers that reports are about.

    Args:
        users: The people's ids, ascending.
        reports: Their reports.
        mechanism: Their mechanism.
        widths: How many columns of an estimate belong to each answer, in their order.
    """
    estimate = mechanism.estimate(reports)
    columns, ends = estimate.symbols.tocsc(), np.cumsum(widths)
    drawn = mechanism.drawn_columns(reports) if isinstance(reports, Reports) else None
    rows, rate = None, 1.0
    if drawn is not None and len(drawn[0]) == len(widths):
        rate, order = drawn[1], np.argsort(reports.coordinates.ravel(), kind="stable")
        rows = np.split(order // reports.symbols.shape[1], np.cumsum(drawn[0])[:-1])
    for answer, (end, width) in enumerate(zip(ends.tolist(), widths, strict=True)):
        some = slice(end - width, end)
        block = columns[:, some].tocsr()
        own = np.arange(len(users)) if rows is None else rows[answer]
        symbols = block[own].toarray().astype(np.float64)
        yield Reading(users[own], symbols, estimate.scale[some] * rate, estimate.offset[some])
