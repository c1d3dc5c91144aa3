"""Events of a stated distribution that are seen too often or too seldom, by exact binomial tests."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from privet.mechanisms.core.base import Distribution

__all__ = ["Stated"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stated:
    """The distributions that a mechanism states for some inputs.

    Attributes:
        inputs: The words for each input.
        distributions: The stated distribution of each.
    """

    inputs: Sequence[str]
    distributions: Sequence[Distribution]

    @cached_property
    def columns(self) -> Mapping[Hashable, int]:
        """The place of each report that is possible for any of the inputs, in the order of the symbols."""
        keys = {key for each in self.distributions for key in each}
        return {key: column for column, key in enumerate(sorted(keys))}  # type: ignore[type-var]

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        lower, upper = (np.zeros((len(self.inputs), len(self.columns))) for _ in range(2))
        for row, each in enumerate(self.distributions):
            for key, bounds in each.items():
                lower[row, self.columns[key]], upper[row, self.columns[key]] = map(float, bounds)
        return lower, upper

    @property
    def likeliest(self) -> float:
        """The largest probability of a report, over all inputs."""
        return float(self._bounds[1].max(initial=0.0))

    @property
    def tests(self) -> int:
        """The number of events that are counted, over all inputs."""
        return len(self.inputs) * (3 * len(self.columns) + len(self.inputs) - 1)

    def deviation(self, counts: NDArray[np.int64], times: int, level: float) -> str:
        """Return a sentence about an event that is off, a single report if there is one; empty if none is off.

        Args:
            counts: How often each report was drawn, one row an input.
            times: The number of draws for each input.
            level: The probability with which each test may err on either side.
        """
        (lower, upper), keys = self._bounds, list(self.columns)
        for row, shown in enumerate(self.inputs):
            for words, members in self._events(row):
                seen, low, high = (members(part[row]) for part in (counts, lower, upper))
                wrong = _surprise(seen, low, high, times) <= level
                gaps = np.where(wrong, np.maximum(seen / times - high, low - seen / times), -1.0)
                worst = int(np.argmax(gaps))
                if wrong[worst]:
                    drawn = f"drawn {int(seen[worst]):,} times of {times:,}"
                    where = f"where the stated probability is {high[worst]:.3g}"
                    return f"For the input {shown}, {words(worst, keys)} {drawn}, {where}."
        return ""

    def _events(self, row: int) -> Iterator[tuple[Any, Any]]:
        """Yield kinds of events, each as its words and a function that sums up over the reports of each event."""
        own = self._bounds[0][row]
        yield lambda n, keys: f"the report {keys[n]} was", lambda values: values
        order = np.argsort(own, kind="stable")
        yield lambda n, _: f"the {n + 1:,} least probable reports were", lambda values: np.cumsum(values[order])
        yield lambda n, keys: f"the reports up to {keys[n]} were", np.cumsum
        others = np.delete(np.arange(len(self.inputs)), row)
        if len(others):  # the reports that tell two inputs apart
            likelier = (own > self._bounds[0][others]).astype(np.float64)
            yield (
                lambda n, _: f"the reports that are more probable than for {self.inputs[int(others[n])]} were",
                lambda values: likelier @ values,
            )


def _surprise(seen: NDArray[Any], low: Floats, high: Floats, times: int) -> Floats:
    """Return the probability of counts as large, or as small, as those that were seen, whichever is smaller."""
    slack = 1e-12  # sums of rounded probabilities; an impossible report stays one
    above = binom.sf(seen - 1, times, np.where(high > 0, np.minimum(high + slack, 1.0), 0.0))
    below = binom.cdf(seen, times, np.maximum(low - slack, 0.0))
    return np.asarray(np.minimum(above, below))
