"""Measure the damage that liars do to a local system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import privet
from privet.auditing.attacks.coalition import Choice, Coalition, fake_accounts, recruit
from privet.auditing.attacks.goals import Aim, Goal, aim_at, victim
from privet.auditing.attacks.lies import Kind, Lies
from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter
from privet.evaluation.cache import Store
from privet.evaluation.damage import METRICS, Damage, DamageCurve
from privet.evaluation.keys import data_digest, figure_key, split_digest, store_for
from privet.evaluation.results import Figures
from privet.evaluation.scoring import with_split
from privet.systems import LocalSystem
from privet.systems.base import Altered, unaltered

__all__ = ["Attack", "attack", "fits_needed"]


@dataclass(frozen=True)
class Attack:
    """A plan of liars.

    Attributes:
        goal: "accuracy", "person", "class" or "frequency".
        kind: "report", "sleeper", "input", "friends" or "accounts"; see :data:`privet.auditing.attacks.KINDS`.
        choice: The liars: "random" people or "hubs".
        target: The class that the goal "class" is about (default: the first), or the column of the first question's
            estimate that the goal "frequency" pushes.
        friends: The number of friends that are invented for each liar, with the kinds "friends" and "accounts".
    """

    goal: Goal = "accuracy"
    kind: Kind = "report"
    choice: Choice = "random"
    target: int = 0
    friends: int = 16


def attack(
    system: Any,
    graph: Graph,
    shares: Sequence[float],
    plan: Attack | None = None,
    *,
    seeds: int | Sequence[int] = 5,
    defence: Sequence[str] = (),
    random: bool = True,
    split: tuple[float, float] | None = None,
    dataset: str = "graph",
    store: Store | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> DamageCurve:
    """Let shares of all people lie, and compare what is learned with what honest people would have led to.

    Accuracy is that of honest test people; the same people are compared with and without liars.

    Args:
        system: A local system; its own seed is not used.
        graph: As for :func:`~privet.evaluation.evaluate.evaluate`.
        shares: The shares of all people who lie, above 0.
        plan: The liars' goal and ways (default: the most telling reports, against accuracy).
        seeds: The number of seeds, or the seeds themselves.
        defence: Defences of the system, to be measured beside it as it is (default: none).
        random: Whether the same people's random reports are measured as well.
        split: As for :func:`~privet.evaluation.evaluate.evaluate`.
        dataset: The data's name in the result.
        store: As for :func:`~privet.evaluation.evaluate.evaluate`.
        progress: Called with a few words after each training.
    """
    if not isinstance(system, LocalSystem):
        raise InvalidParameter("system", "a local system such as LPGNN(): devices can lie", system)
    chosen = tuple(sorted({float(share) for share in shares}))
    if not chosen or not all(0 < share < 1 for share in chosen):
        raise InvalidParameter("shares", "numbers between 0 and 1", shares)
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise InvalidParameter("seeds", "at least 1", seeds)
    ways = plan or Attack()
    views = {seed: with_split(system, graph, seed, parts=split) for seed in numbers}
    kept = store_for(store, system, graph)
    games = [_Game(system, view, ways, seed, kept, progress) for seed, view in views.items()]
    defended = [replace(game, system=replace(system, defence=tuple(defence))) for game in games] if defence else []
    points = []
    for share in chosen:
        own = [game.figure(ways.kind, share) for game in games]
        noise = [game.figure("random", share) for game in games] if random else []
        held = [game.figure(ways.kind, share) for game in defended]
        points.append(
            Damage(
                share,
                honest=_figures(own, "honest"),
                attacked=_figures(own, "attacked"),
                random=_figures(noise, "attacked"),
                defended_honest=_figures(held, "honest"),
                defended=_figures(held, "attacked"),
            )
        )
    return DamageCurve(
        system=system.name,
        dataset=dataset,
        goal=ways.goal,
        kind=ways.kind,
        metric=METRICS[ways.goal],
        plan=asdict(ways),
        settings=system.settings(),
        seeds=numbers,
        defence=tuple(defence),
        points=tuple(points),
        version=privet.__version__,
    )


def fits_needed(shares: int, seeds: int, defence: bool, random: bool = True) -> int:
    """Return how many figures :func:`attack` measures, for a progress bar."""
    return seeds * shares * (1 + random + defence)


@dataclass(frozen=True, eq=False)
class _Game:
    """One seed: a split, a system, and liars against it."""

    system: LocalSystem
    graph: Graph
    plan: Attack
    seed: int
    store: Store
    progress: Callable[[str], None]

    def figure(self, kind: str, share: float) -> dict[str, Any]:
        """Return the figure with and without liars, from the store if it has it."""
        plan = asdict(self.plan) | {"kind": kind, "share": share}
        known = {"data": self.data, "split": split_digest(self.graph.split)}
        found = self.store.compute(
            figure_key("attack", self.system, self.seed, **known, plan=plan), lambda: self.play(kind, share)
        )
        self.progress(f"{self.system.name} {kind} {share:.0%}")
        return found

    @cached_property
    def data(self) -> str:
        """The digest of the data."""
        return data_digest(self.graph)

    @cached_property
    def honest_predictions(self) -> NDArray[np.int64]:
        """The predictions if nobody lies."""
        return self._predictions(self.graph, unaltered)

    def play(self, kind: str, share: float) -> dict[str, Any]:
        """Let a share of people lie, and compare."""
        person = victim(self.graph, self.seed) if self.plan.goal == "person" else None
        graph, moved = self.graph, 0
        if kind == "accounts" or (kind == "random" and self.plan.kind == "accounts"):
            moved = round(share * graph.num_nodes)
            graph = fake_accounts(graph, moved)
            liars = np.arange(moved)
        else:
            friends = None if person is None else graph.adjacency[[person]].indices
            liars = recruit(graph, share, self.seed, self.plan.choice, first=friends)
            liars = liars if person is None else liars[liars != person]
        coalition = Coalition.of(graph, self.system.release(graph), liars)
        target = None if person is None else person + moved
        aim = self._aim(coalition, self.plan.target if target is None else target)
        lies = Lies(coalition, aim, kind, self.seed, self.plan.target, self.plan.friends)  # type: ignore[arg-type]
        if self.plan.goal == "frequency":
            return {"honest": self._mean(self.graph, unaltered), "attacked": self._mean(graph, lies)}
        before, after = self.honest_predictions, self._predictions(graph, lies)[moved:]
        return self._compared(before, after, liars[:0] if moved else liars, person)

    def _aim(self, coalition: Coalition, target: int) -> Aim:
        schema = self.graph.schema
        if schema is None:
            raise InvalidData("graph to attack", "with a schema", "one without")
        return aim_at(self.plan.goal, coalition, schema.classes, target)

    def _compared(
        self, before: NDArray[np.int64], after: NDArray[np.int64], liars: NDArray[np.int64], person: int | None
    ) -> dict[str, Any]:
        labels, split = self.graph.labels, self.graph.split
        if labels is None or split is None:
            raise InvalidData("graph to attack", "with labels and a split", "one without")
        if person is not None:
            return {"honest": 100.0, "attacked": 100.0 * float(before[person] == after[person])}
        counted = split.test & (labels >= 0)
        counted[liars] = False
        if self.plan.goal == "class":
            counted &= labels == self.plan.target
        if not counted.any():
            raise InvalidData("honest test people to measure on", "some", "none; try another class or a smaller share")
        hits = (100 * float((each[counted] == labels[counted]).mean()) for each in (before, after))
        return dict(zip(("honest", "attacked"), hits, strict=True))

    def _predictions(self, graph: Graph, altered: Altered) -> NDArray[np.int64]:
        chosen = replace(self.system, seed=self.seed)
        return chosen.fit(chosen.collect(graph, altered=altered)).predict()

    def _mean(self, graph: Graph, altered: Altered) -> float:
        """Return the estimated mean that is pushed, in ranges of what it estimates."""
        chosen = replace(self.system, seed=self.seed)
        collected = chosen.collect(graph, altered=altered)
        question = collected.release.questions[0]
        mean = question.mechanism.estimate(collected.answers[question.name].reports).mean()
        return float(mean[self.plan.target % len(mean)] / question.mechanism.span)


def _figures(found: Sequence[dict[str, Any]], name: str) -> Figures | None:
    return Figures(tuple(each[name] for each in found)) if found else None
