"""Goals of liars: which classes they pass for, and whose predictions they are after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from privet.auditing.attacks.coalition import Coalition
from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter

__all__ = ["GOALS", "Aim", "Goal", "aim_at", "victim"]

Goal: TypeAlias = Literal["accuracy", "person", "class", "frequency"]

GOALS: tuple[str, ...] = get_args(Goal)
"""accuracy: fewer right predictions; person: another prediction of one person; class: fewer people of one class are
recognised; frequency: a larger estimate of one number."""


@dataclass(frozen=True, eq=False)
class Aim:
    """The class that each liar of a coalition passes for.

    Attributes:
        goal: One of :data:`GOALS`.
        wanted: The class that each liar passes for.
        target: The person or class that is attacked; None for the other goals.
    """

    goal: Goal
    wanted: NDArray[np.int64]
    target: int | None = None


def aim_at(goal: str, coalition: Coalition, classes: int, target: int | None = None) -> Aim:
    """Choose the class that each liar passes for, from what the coalition knows.

    With the goal "accuracy" all members of a class pass for the next one, so that their lies agree. With the goals
    "class" and "person" all liars pass for the class after the target's; a person's class is guessed from the liars who
    are friends of that person.

    Args:
        goal: One of :data:`GOALS`.
        coalition: The liars.
        classes: The number of classes.
        target: The class or the person to attack.
    """
    if goal not in GOALS:
        raise InvalidParameter("goal", f"one of {', '.join(GOALS)}", goal)
    own = coalition.own
    if goal in ("accuracy", "frequency"):
        guessed = np.where(own >= 0, own, np.arange(len(own)) % classes)
        return Aim(goal, (guessed + 1) % classes)  # type: ignore[arg-type]
    if target is None:
        raise InvalidParameter(f"The goal {goal} needs a target: the {goal} to attack.")
    attacked = target if goal == "class" else _guessed_class(coalition, target, classes)
    return Aim(goal, np.full(len(own), (attacked + 1) % classes), target)  # type: ignore[arg-type]


def victim(graph: Graph, seed: int) -> int:
    """Draw a test person who has friends."""
    if graph.split is None:
        raise InvalidData("This graph has no split, so no test person can be attacked. Use split_nodes.")
    able = np.flatnonzero(graph.split.test & (np.diff(graph.adjacency.indptr) > 0))
    if not len(able):
        raise InvalidData("No test person of this graph has friends, so nobody can be attacked. Split it differently.")
    return int(np.random.default_rng([seed, 12]).choice(able))


def _guessed_class(coalition: Coalition, person: int, classes: int) -> int:
    lists = coalition.private.neighbours
    friends = np.zeros(len(coalition.users), dtype=np.bool_)
    if lists is not None:
        friends[np.repeat(np.arange(len(friends)), np.diff(lists.indptr))[lists.indices == person]] = True
    own = coalition.own[friends & (coalition.own >= 0)]
    own = own if len(own) else coalition.labels[coalition.labels >= 0]
    return int(np.bincount(own, minlength=classes).argmax()) if len(own) else 0
