"""A rehearsal in numbers: what so many people can tell at this budget, before anybody is asked.

Made-up people, whose answers are spread evenly over what is possible, answer by the study's own mechanisms; what their
reports tell is estimated as it will be from real ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from privet.collection.operator.results.sources import RoundReports
from privet.collection.operator.results.study_results import results_of
from privet.collection.study.manifest import Study
from privet.data import Categories, Feature, Interval
from privet.estimation.statistics.findings import Scale
from privet.mechanisms import SeededBits
from privet.release import PrivateData

__all__ = ["FEW", "Prospect", "prospects", "prospects_in_words"]

FEW = 30
"""People asked openly who tell next to nothing: a share of theirs is known to 18 points at best."""

_MOST_PEOPLE, _MOST_CELLS, _MOST_LISTED = 1000, 1_000_000, 4


@dataclass(frozen=True)
class Prospect:
    """The exactness of one question's results, if everybody who is asked answers.

    Attributes:
        words: The question.
        as_open: The number of people who, asked openly, would tell as much.
        margin: Half the width of a 95 % interval: of a share in points of 100, or of a mean.
        scale: The possible answers.
    """

    words: str
    as_open: float
    margin: float
    scale: Scale

    def in_words(self) -> str:
        """Say how exact the answers will be."""
        count = math.floor(self.as_open)
        people = (
            f"as exact as {count:,} {'person' if count == 1 else 'people'}" if count else "less exact than one person"
        )
        exact = f"{people} asked openly"
        if self.scale.in_percent:
            return f"'{self.words}': shares to about {min(100, self.margin):.0f} points, {exact}"
        low, high = self.scale.low, self.scale.high
        margin = min(self.margin, high - low)
        return f"'{self.words}': the mean to about {margin:.2g} of {low:g} to {high:g}, {exact}"


def prospects(study: Study) -> list[Prospect]:
    """Return what each question of a round about people's answers and class will tell; [] where tables decide it.

    Args:
        study: The round.
    """
    asked = [question.name for question in study.release.questions]
    if not set(asked) & {"features", "label"} or set(asked) - {"features", "label", "neighbours", "length"}:
        return []
    people = max(1, min(study.nodes, _MOST_PEOPLE, _MOST_CELLS // max(study.declared.dimension, 1)))
    answers = study.release.perturb(_spread(study, people), SeededBits(0))
    found = results_of([RoundReports.of(study, answers)]).questions
    return [_prospect(each.words, each.finding.scale, each.finding.as_open * study.nodes / people) for each in found]


def prospects_in_words(study: Study) -> Iterator[str]:
    """Yield a line for the first questions and, if it is so, that all of it is too little."""
    found = prospects(study)
    if not found:
        return
    yield f"If all {study.nodes:,} people answer, chance leaves this much (95 % confidence):"
    yield from (f"  {each.in_words()}" for each in found[:_MOST_LISTED])
    if len(found) > _MOST_LISTED:
        least = min(found, key=lambda each: each.as_open)
        yield f"  and {len(found) - _MOST_LISTED} more; the least exact of all is {least.in_words()}"
    poor = sum(each.as_open < FEW for each in found)
    if poor:
        which = "Every question tells" if poor == len(found) else f"{poor:,} of {len(found):,} questions tell"
        yield (
            f"{which} less than {FEW} people asked openly, which is next to nothing, and too little for a model to "
            "learn from. Ask more people or fewer questions, or spend more."
        )


def _prospect(words: str, scale: Scale, as_open: float) -> Prospect:
    count = len(scale.names)
    variance = (1 / count) * (1 - 1 / count) if scale.shares else scale.spread / max(count, 1)
    margin = 1.96 * math.sqrt(variance / as_open) if as_open > 0 else math.inf
    return Prospect(words, as_open, 100 * margin if scale.in_percent else margin, scale)


def _spread(study: Study, people: int) -> PrivateData:
    """Draw people whose answers are spread evenly over what is possible."""
    rng = np.random.default_rng(0)
    columns = [_drawn(rng, domain, people) for domain in study.declared.features]
    labels = rng.integers(0, max(study.declared.classes, 1), people)
    nobody = sp.csr_array((people, study.nodes), dtype=np.float32)
    return PrivateData(np.arange(people), np.stack(columns, axis=1), labels, nobody)


def _drawn(rng: np.random.Generator, domain: Feature, people: int) -> np.ndarray:
    if isinstance(domain, Interval):
        return rng.uniform(domain.low, domain.high, people)
    codes = domain.count if isinstance(domain, Categories) else 1 << domain.count
    return rng.integers(0, codes, people).astype(np.float64)
