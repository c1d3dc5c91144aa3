"""Compare two results seed by seed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
from scipy import stats

from privet.errors import InvalidData
from privet.evaluation.documents import Document, demand
from privet.evaluation.results import Result, SplitFacts
from privet.evaluation.verdict import CONFIDENCE, FEWEST, half_width, seeds_in_words
from privet.privacy.rounding import at_most

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, repr=False)
class Comparison(Document):
    """A paired comparison of two results over the same seeds and test nodes.

    Attributes:
        first: The first result in words.
        second: The second result in words.
        metric: The metric and its unit.
        seeds: The seeds that both were measured with.
        differences: First minus second, one value for each seed.
        p_value: The two-sided p-value of the paired t-test; None for one seed.
        terms: The training size and the promise of both in words.
        units: The number of different units that the two promises are about.
    """

    first: str
    second: str
    metric: str
    seeds: tuple[int, ...]
    differences: tuple[float, ...]
    p_value: float | None
    terms: tuple[str, str] = ("", "")
    units: int = 1

    @property
    def difference(self) -> float:
        """The mean difference."""
        return float(np.mean(self.differences))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the mean difference; None for one seed."""
        width = half_width(self.differences)
        return None if width is None else (self.difference - width, self.difference + width)

    @property
    def sentence(self) -> str:
        """The finding in words, and under which terms each of the two was measured."""
        named = zip((self.first, self.second), self.terms, strict=True)
        told = "".join(f" {name}: {term}." for name, term in named if term)
        other = " Their units differ, so that the two epsilons cannot be compared." if self.units > 1 else ""
        return f"{self._finding()}{told}{other}"

    def _finding(self) -> str:
        if self.interval is None or len(self.seeds) < FEWEST:
            few = "one seed" if self.interval is None else "two seeds"
            return (
                f"{self.first} is {self.difference:+.1f} points from {self.second}; {few} cannot tell whether "
                "they differ. Measure 5 seeds."
            )
        low, high = self.interval
        found = f"{self.difference:+.1f} points (95 % confidence: {low:+.1f} to {high:+.1f}; p = {self.p_value:.2g})"
        if low <= 0 <= high:
            return f"{self.first} and {self.second} cannot be told apart: {found}, {seeds_in_words(len(self.seeds))}."
        better = "better" if low > 0 else "worse"
        return f"{self.first} is {better} than {self.second}: {found}, {seeds_in_words(len(self.seeds))}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        derived = {"difference": self.difference, "interval": self.interval, "sentence": self.sentence}
        return {**asdict(self), "confidence": CONFIDENCE, **derived}

    @classmethod
    def from_dict(cls, document: Any, where: str = "comparison") -> Comparison:
        """Read what :meth:`to_dict` made."""
        names = ("first", "second", "metric", "seeds", "differences", "p_value")
        found = demand(document, names, where, "a comparison of two results")
        rest = {name: tuple(found[name]) for name in ("seeds", "differences", "terms") if name in found}
        return cls(**{name: found[name] for name in (*names, "units") if name in found} | rest)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each seed."""
        named = {"first": self.first, "second": self.second}
        pairs = zip(self.seeds, self.differences, strict=True)
        return [{**named, "seed": seed, "difference": value} for seed, value in pairs]

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.metric)}: {escape(self.sentence)}</p>"

    def __repr__(self) -> str:
        return f"Comparison({self.sentence})"


def compare(first: Result, second: Result) -> Comparison:
    """Test whether two systems differ, by a paired t-test over the seeds that both were measured with.

    Both results must have the same metric, the same seeds and the same test nodes: otherwise the luck of a split would
    count as a difference between the systems.

    Args:
        first: The result that is judged.
        second: The result that it is compared with.

    Returns:
        The mean difference, its 95 % confidence interval, the two-sided p-value, and each one's training size, epsilon
        and unit.
    """
    for what, ours, theirs in (("metric", first.metric, second.metric), ("seeds", first.seeds, second.seeds)):
        if ours != theirs:
            raise InvalidData(
                f"Two results are compared with the same {what}: the first has {ours}, the second {theirs}. Measure "
                "one of them again."
            )
    if first.split is None or second.split is None:
        raise InvalidData("A result of an older version does not record its test nodes. Measure it again.")
    if first.split.sha256 != second.split.sha256:
        raise InvalidData(
            "Two results are compared on the same test nodes, and these were measured on different ones "
            f"({first.split.test} and {second.split.test} a seed). Use one split for both."
        )
    differences = np.asarray(first.values) - np.asarray(second.values)
    names = [f"{result.system} on {result.dataset}" for result in (first, second)]
    if names[0] == names[1]:
        changed = {key for key, value in first.settings.items() if second.settings.get(key) != value}
        names = [_with_settings(result, names[0], changed) for result in (first, second)]
    return Comparison(
        names[0],
        names[1],
        first.metric,
        first.seeds,
        tuple(differences.tolist()),
        _p_value(differences),
        (_terms(first, first.split), _terms(second, second.split)),
        len({(each.guarantee.unit, each.guarantee.model) for each in (first, second)}),
    )


def _terms(result: Result, split: SplitFacts) -> str:
    """Say on how many nodes a system was trained, and with which epsilon for which unit."""
    promise = result.guarantee
    delta = f" and delta at most {at_most(promise.delta, 3)}" if promise.delta else ""
    spent = f"epsilon at most {at_most(promise.epsilon)}{delta} for the {promise.unit} ({promise.model} model)"
    return f"{split.train:,} training nodes, {spent}"


def _p_value(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
    count = len(differences)
    if count < 2:
        return None
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(count)
    if not error:
        return 0.0 if mean else 1.0
    return float(2 * stats.t.sf(abs(mean) / error, count - 1))


def _with_settings(result: Result, name: str, changed: set[str]) -> str:
    told = ", ".join(f"{key} {result.settings.get(key)}" for key in sorted(changed))
    return f"{name} ({told})" if told else name
