"""Compare two results seed by seed."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from privet.errors import InvalidData
from privet.evaluation.results import Comparison, Result

__all__ = ["compare"]


def compare(first: Result, second: Result) -> Comparison:
    """Test whether two systems differ, by a paired t-test over the seeds that both were measured with.

    Both results must have the same metric, the same seeds and the same test nodes: otherwise the luck of a split would
    count as a difference between the systems.

    Args:
        first: The result that is judged.
        second: The result that it is compared with.

    Returns:
        The mean difference, its 95 % confidence interval and the two-sided p-value.
    """
    for what, ours, theirs in (("metric", first.metric, second.metric), ("seeds", first.seeds, second.seeds)):
        if ours != theirs:
            raise InvalidData("second result", f"measured with the same {what} as the first ({ours})", theirs)
    if first.split is None or second.split is None:
        expected = "of a version that records its test nodes; measure it again"
        raise InvalidData("result to compare", expected, "one of an older version")
    if first.split.sha256 != second.split.sha256:
        expected = f"measured on the same test nodes as the first ({first.split.test} a seed)"
        raise InvalidData("second result", expected, f"other test nodes ({second.split.test} a seed)")
    differences = np.asarray(first.values) - np.asarray(second.values)
    names = [f"{result.system} on {result.dataset}" for result in (first, second)]
    if names[0] == names[1]:
        changed = {key for key, value in first.settings.items() if second.settings.get(key) != value}
        names = [_with_settings(result, names[0], changed) for result in (first, second)]
    return Comparison(names[0], names[1], first.metric, first.seeds, tuple(differences.tolist()), _p_value(differences))


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
