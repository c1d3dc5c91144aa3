"""Erasures as the operator of a study sees them: forget a person, and tell who was forgotten before a training."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from privet.collection.operator.folder import StudyFolder

__all__ = ["Forgotten", "erased_people", "forget"]


@dataclass(frozen=True)
class Forgotten:
    """The outcome of an erasure.

    Attributes:
        new: The people who had not been erased before.
        clean: True if no file of the study holds the bytes any more; otherwise the collector or the next erasure
            removes them.
        models: The names of the models that were trained before.
    """

    new: frozenset[int]
    clean: bool
    models: tuple[str, ...]


def forget(path: Path, *nodes: int) -> Forgotten:
    """Erase all that some people reported, in every round, and refuse what they might send.

    Args:
        path: The study's directory.
        nodes: The people; nobody is erased if one of them does not exist.
    """
    folder = StudyFolder.open(path)
    for node in nodes:
        folder.tokens.issue(node)  # refuses a node that does not exist
    store = folder.store()
    try:
        new = frozenset(node for node in nodes if store.forget(node, "operator"))
        clean = store.remove_traces()  # once, because SQLite's file is written anew
        return Forgotten(new, clean, tuple(model["name"] for model in store.models() if model["erasures_since"]))
    finally:
        store.dispose()


def erased_people(path: Path) -> tuple[int, ...]:
    """Return the numbers of the people who were erased so far; those below 0 stand for people who are not named.

    Ask before the answers are read: an erasure in between then counts as one after the training.

    Args:
        path: The study's directory.
    """
    store = StudyFolder.open(path).store()
    try:
        return tuple(each.node for each in store.erasures())
    finally:
        store.dispose()
