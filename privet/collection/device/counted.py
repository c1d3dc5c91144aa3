"""Friends in published groups, counted on the device for its owner's eyes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privet.collection.device.preparation import Prepared
from privet.collection.study.manifest import Study
from privet.privacy import Unit
from privet.release import Ask
from privet.release.asks.friends import Friends, counts_whom
from privet.release.asks.person import Person

__all__ = ["friends_in_words"]


def friends_in_words(prepared: Prepared, neighbours: Sequence[int]) -> list[str]:
    """Tell the owner in which published groups their friends are, one sentence a question that counts them.

    Args:
        prepared: The round, with its public tables.
        neighbours: The ids of the owner's friends. Nothing that is computed here leaves the device.
    """
    found = []
    for question in prepared.release.questions:
        ask = question.ask
        if isinstance(ask, Friends | Person) and ask.unit.covers(Unit.NEIGHBOUR_BIT):
            groups = _groups(ask, prepared.node, np.unique(np.asarray(neighbours, dtype=np.int64)))
            after = "They are counted on this device, and the counts are sent with random noise."
            if isinstance(ask, Person):
                after = "They are counted on this device, and the counts are not sent."
            found.append(f"{_sentence(prepared.study, groups)} {after}")
    return found


def _groups(ask: Ask, node: int, friends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the likeliest published class of each friend, -1 where none is published or counted."""
    table = ask.attachment("table")[friends]
    if isinstance(ask, Friends):
        ranks = ask.attachment("ranks")
        return np.where(counts_whom(ranks[node], ranks[friends]), table, -1)
    return np.where(table.any(axis=1), table.argmax(axis=1), -1)


def _sentence(study: Study, groups: NDArray[np.int64]) -> str:
    names = study.class_names or tuple(map(str, range(study.declared.classes)))
    counts = np.bincount(groups[groups >= 0], minlength=len(names))
    parts = [f"{count} in group {name}" for name, count in zip(names, counts.tolist(), strict=True) if count]
    told = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    rest = int((groups < 0).sum())
    others = f" {rest} {'is' if rest == 1 else 'are'} not counted in this round." if rest else ""
    return (f"Of your friends, {told}." if told else "None of your friends is in a published group.") + others
