"""Means over seeds and their differences: did the private data help, did they not, or can it not be told?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = [
    "CONFIDENCE",
    "FEWEST",
    "MARGIN",
    "Alternative",
    "effect",
    "half_width",
    "needless",
    "seeds_in_words",
    "seeds_needed",
    "summary",
    "verdict",
]

CONFIDENCE = 0.95
"""The confidence of every interval."""

MARGIN = 1.0
"""The least effect in points: a smaller gain counts as none, and a smaller loss is no harm."""

FEWEST = 3
"""The number of seeds below which nothing is claimed: the spread of two tells next to nothing of the mean's."""

_MOST_SEEDS = 1000


@dataclass(frozen=True)
class Alternative:
    """The figures of a control that does without some private data.

    Attributes:
        title: The control in words; what stands in parentheses at its end is left out of sentences.
        values: Its figures, one for each seed, in per cent.
        subject: The data whose worth the lead over this control shows, in the plural; None if it shows none.
        spares: The data that need not be collected if this control does as well; None if there are none.
    """

    title: str
    values: Sequence[float]
    subject: str | None = None
    spares: str | None = None

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return float(np.mean(self.values))

    @property
    def name(self) -> str:
        """The title without its explanation in parentheses."""
        return self.title.partition(" (")[0]


def half_width(values: Sequence[float] | NDArray[np.float64], confidence: float = CONFIDENCE) -> float | None:
    """Return half the width of Student's interval for the mean; None for one value, which tells nothing about it.

    >>> round(half_width([84.0, 85.0, 86.0]), 2)
    2.48
    """
    count = len(values)
    if count < 2:
        return None
    spread = float(np.std(values, ddof=1)) / math.sqrt(count)
    return float(stats.t.ppf((1 + confidence) / 2, count - 1)) * spread


def summary(private: Sequence[float], alternatives: Sequence[Alternative]) -> str:
    """Say in one sentence, or two, whether the private data helped: against the strongest control without them.

    The second sentence names a control that does as well with less data. A lead over a weaker control is no claim: who
    does without the data would use the strongest.

    Args:
        private: The system's figures, one for each seed, in per cent.
        alternatives: The controls; those without subject only count for the second sentence.

    >>> strong = Alternative("the structure alone (no private data)", [85.0, 86.1, 85.6], "the private data")
    >>> own = Alternative("structure only", [80.0, 81.2, 80.4], "the private features")
    >>> summary([84.0, 85.0, 84.5], [own, strong])[:62]
    'The private data hurt: 1.1 +- 0.1 points below the structure a'
    """
    ranked = sorted(alternatives, key=lambda each: each.mean, reverse=True)
    asked = [each for each in ranked if each.subject]
    if not asked:
        return ""
    first = asked[0]
    said = verdict(private, first.values, first.subject or "", first.name)
    if first.spares and needless(private, first.values, first.name, first.spares):
        return f"{said.removesuffix('.')}: {first.spares} need not be collected for this."
    others = [needless(private, each.values, each.name, each.spares) for each in ranked if each.spares]
    return " ".join([said, *list(filter(None, others))[:1]])


def effect(private: Sequence[float], control: Sequence[float]) -> Literal["helps", "hurts", "buys nothing", "unclear"]:
    """Tell in a word what :func:`verdict` says in a sentence.

    Args:
        private: The system's figures, one for each seed, in per cent.
        control: The control's figures for the same seeds.

    >>> effect([84.0, 85.0, 84.5], [80.0, 81.2, 80.4])
    'helps'
    """
    differences = np.asarray(private, dtype=float) - np.asarray(control, dtype=float)
    mean, width = float(differences.mean()), half_width(differences)
    if width is None or len(differences) < FEWEST:
        return "unclear"
    if abs(mean) > width and abs(mean) >= MARGIN:
        return "helps" if mean > 0 else "hurts"
    return "buys nothing" if _upper_bound(differences) < MARGIN else "unclear"


def verdict(
    private: Sequence[float],
    control: Sequence[float],
    subject: str = "the private features",
    against: str = "structure only",
) -> str:
    """Say that the private data help, that they do not help by more than a margin, or that it cannot be told.

    The figures are paired by their seeds. Help is a gain of at least :data:`MARGIN` points whose 95 % confidence
    interval (Student's t) lies above 0, and harm a loss of as much. No help is an equivalence test: with 95 %
    confidence (one-sided) the gain is below :data:`MARGIN` points. Fewer than :data:`FEWEST` seeds support no claim.

    Args:
        private: The system's figures, one for each seed, in per cent.
        control: The control's figures for the same seeds.
        subject: The data that the control lacks, in the plural.
        against: The control in words.

    >>> verdict([84.0, 85.0, 84.5], [80.0, 81.2, 80.4])
    'The private features help: 4.0 +- 0.4 points above structure only (95 % confidence, 3 seeds).'
    >>> verdict([84.0, 84.2, 84.0], [84.1, 84.0, 84.1])[:54]
    'The private features do not help by more than 1 point:'
    >>> verdict([82.3, 86.0], [78.0, 84.0])[:49]
    'Two seeds cannot tell whether the private feature'
    """
    differences = np.asarray(private, dtype=float) - np.asarray(control, dtype=float)
    mean, width, begin = float(differences.mean()), half_width(differences), subject[0].upper() + subject[1:]
    if width is None or len(differences) < FEWEST:
        few = "One seed" if width is None else "Two seeds"
        return f"{few} cannot tell whether {subject} help ({mean:+.1f} points against {against}): measure 5 seeds."
    certainty = f"(95 % confidence, {len(differences)} seeds)"
    found = effect(private, control)
    if found == "helps":
        return f"{begin} help: {mean:.1f} +- {width:.1f} points above {against} {certainty}."
    if found == "hurts":
        return f"{begin} hurt: {-mean:.1f} +- {width:.1f} points below {against} {certainty}."
    if found == "buys nothing":
        gain = f"{mean:+.1f} points against {against}, at most {_upper_bound(differences):+.1f}"
        return f"{begin} do not help by more than {MARGIN:g} point: {gain} {certainty}."
    by = f"help by {MARGIN:g} point or more"
    told = f"{mean:+.1f} +- {width:.1f} points against {against}, 95 % confidence, {len(differences)} seeds"
    return f"It cannot be told whether {subject} {by} ({told}): measure {seeds_needed(differences)} seeds."


def needless(private: Sequence[float], simpler: Sequence[float], name: str, spared: str) -> str:
    """Return a sentence if a control that needs less data is shown to do as well, otherwise an empty string.

    Args:
        private: The system's figures, one for each seed, in per cent.
        simpler: The control's figures for the same seeds.
        name: The control in words.
        spared: The data that the control does without.

    >>> needless([60.7, 64.9, 62.1], [59.5, 59.7, 59.6], "label propagation", "the features")
    ''
    >>> needless([40.0, 41.0, 40.5], [59.2, 59.4, 59.6], "label propagation", "the features")
    'But label propagation gives 59.4: the features need not be collected for this.'
    """
    differences = np.asarray(private, dtype=float) - np.asarray(simpler, dtype=float)
    if len(differences) < FEWEST or _upper_bound(differences) >= MARGIN:
        return ""
    return f"But {name} gives {float(np.mean(simpler)):.1f}: {spared} need not be collected for this."


def seeds_needed(differences: Sequence[float]) -> int:
    """Estimate how many seeds make the interval of the mean difference as narrow as the margin, at least 5.

    Fewer than 5 seeds tell too little about the spread to estimate more than that.
    """
    if len(differences) < 5:
        return 5
    spread = float(np.std(differences, ddof=1))
    count = max(len(differences) + 1, 5)
    while count < _MOST_SEEDS and stats.t.ppf(0.975, count - 1) * spread / math.sqrt(count) > MARGIN:
        count += 1
    return count


def seeds_in_words(count: int) -> str:
    """Write a number of seeds."""
    return "one seed" if count == 1 else f"{count} seeds"


def _upper_bound(differences: Sequence[float]) -> float:
    """Return the one-sided 95 % confidence bound of the mean difference."""
    count = len(differences)
    error = float(np.std(differences, ddof=1)) / math.sqrt(count)
    return float(np.mean(differences)) + float(stats.t.ppf(0.95, count - 1)) * error
