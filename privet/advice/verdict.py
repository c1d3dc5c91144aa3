"""Is a gain real and large enough? Paired comparisons, world by world and over all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from privet.advice.worlds import World
from privet.evaluation.verdict import confidence_margin

__all__ = ["answer", "compared", "pooled"]


def compared(
    places: Sequence[World], best: list[list[float]], rival: list[list[float]], worth: float
) -> list[dict[str, Any]]:
    """In each world: both accuracies, the paired difference with its 95 % interval, and whether it is worth it."""
    rows = []
    for world, ours, theirs in zip(places, best, rival, strict=True):
        gain = np.subtract(ours, theirs)
        mean, margin = float(gain.mean()), confidence_margin(gain)
        helps = bool(mean > margin and mean >= worth)
        rows.append(
            {
                "homophily": world.homophily,
                "signal": world.signal,
                "with": float(np.mean(ours)),
                "without": float(np.mean(theirs)),
                "gain": mean,
                "margin": margin,
                "helps": helps,
                "open": bool(mean + margin >= worth and not helps),
            }
        )
    return rows


def pooled(ours: list[list[float]], theirs: list[list[float]]) -> dict[str, float]:
    """The mean gain over all worlds; the margin is of the worlds as they are, each with a spread of its own."""
    gains = np.subtract(ours, theirs)
    places, seeds = gains.shape
    error = math.sqrt(float(np.sum(gains.var(axis=1, ddof=1))) / seeds) / places
    return {"gain": float(gains.mean()), "margin": float(stats.t.ppf(0.975, places * (seeds - 1))) * error}


def answer(rows: list[dict[str, Any]], together: dict[str, float], worth: float) -> str:
    """Whether to collect: yes or depends where worlds show a gain; no if all of them together exclude one; or unclear.

    >>> answer([{"helps": False}], {"gain": -1.0, "margin": 0.5}, 1.0)
    'no'
    """
    helped = sum(row["helps"] for row in rows)
    if helped:
        return "yes" if helped == len(rows) else "depends"
    return "no" if together["gain"] + together["margin"] < worth else "unclear"
