"""Is a gain real and large enough? Paired comparisons, world by world and over all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from privet.advice.plan import Gain, Pooled
from privet.advice.worlds import World
from privet.evaluation.verdict import half_width

__all__ = ["answer", "compared", "pooled"]


def compared(
    places: Sequence[World], best: list[list[float]], rival: list[list[float]], worth: float
) -> tuple[Gain, ...]:
    """Compare two ways in each world.

    Args:
        places: The worlds.
        best: For each world the accuracies of the way that collects, one a seed, in per cent.
        rival: The same of the way that does without.
        worth: Points below which a gain counts as none.
    """
    rows = []
    for world, ours, theirs in zip(places, best, rival, strict=True):
        gain = np.subtract(ours, theirs)
        mean, margin = float(gain.mean()), half_width(gain) or 0.0
        helps = bool(mean > margin and mean >= worth)
        unsettled = bool(mean + margin >= worth and not helps)
        means = float(np.mean(ours)), float(np.mean(theirs))
        rows.append(Gain(world.homophily, world.signal, *means, mean, margin, helps, unsettled))
    return tuple(rows)


def pooled(ours: list[list[float]], theirs: list[list[float]]) -> Pooled:
    """Return the mean gain over all worlds; the margin is of the worlds as they are, each with its own spread."""
    gains = np.subtract(ours, theirs)
    places, seeds = gains.shape
    error = math.sqrt(float(np.sum(gains.var(axis=1, ddof=1))) / seeds) / places
    return Pooled(float(gains.mean()), float(stats.t.ppf(0.975, places * (seeds - 1))) * error)


def answer(rows: Sequence[Gain], together: Pooled, worth: float) -> str:
    """Decide whether to collect.

    Returns:
        "yes" or "depends" where all or some worlds show a gain, "no" if all of them together exclude one, otherwise
        "unclear".

    >>> answer([], Pooled(-1.0, 0.5), 1.0)
    'no'
    """
    helped = sum(row.helps for row in rows)
    if helped:
        return "yes" if helped == len(rows) else "depends"
    return "no" if together.gain + together.margin < worth else "unclear"
