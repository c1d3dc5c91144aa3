"""Words that tell results of the same system, data and epsilon apart."""

from __future__ import annotations

import json
from collections.abc import Sequence

from privet.evaluation.results import Result

__all__ = ["marks", "plain"]

_MOST_SETTINGS = 3  # in a title


def marks(results: Sequence[Result]) -> list[str]:
    """Tell results of equal system, data and epsilon apart: the settings in which they differ, or a number."""

    def title(result: Result) -> tuple[str, str, float]:
        return result.system, result.dataset, result.guarantee.epsilon

    found = []
    for place, result in enumerate(results):
        twins = [other for other in results if title(other) == title(result)]
        names = sorted({name for twin in twins for name in {**twin.settings, **result.settings}})
        changed = [n for n in names if len({json.dumps(t.settings.get(n), default=str) for t in twins}) > 1]
        told = [f"{name} {plain(result.settings.get(name))}" for name in changed[:_MOST_SETTINGS]]
        same = [
            i for i, other in enumerate(results) if title(other) == title(result) and _equal(other, result, changed)
        ]
        if len(same) > 1 or len(changed) > _MOST_SETTINGS:
            told.append(f"number {place + 1}")
        found.append(f" ({', '.join(told)})" if told else "")
    return found


def _equal(one: Result, other: Result, names: Sequence[str]) -> bool:
    return all(one.settings.get(name) == other.settings.get(name) for name in names)


def plain(value: object) -> str:
    """Write a setting's value as people read it."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"
