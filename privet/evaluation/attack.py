"""Measure the damage that liars do to a local system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import privet
from privet.auditing.attacks.coalition import Choice, Coalition, fake_accounts, recruit
from privet.auditing.attacks.goals import Aim, Goal, aim_at, victim
from privet.auditing.attacks.lies import Kind, Lies
from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter
from privet.evaluation.cache import Store, usual_store
from privet.evaluation.damage import METRICS, Damage, DamageCurve
from privet.evaluation.measuring import Described, measured, seed_numbers
from privet.evaluation.results import Figures
from privet.evaluation.scoring import with_split
from privet.systems import LocalSystem
from privet.systems.base import Altered, unaltered

__all__ = ["Attack", "attack", "figures_needed"]


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
    system: LocalSystem,
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
    workers: int = 1,
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
        workers: As for :func:`~privet.evaluation.evaluate.evaluate`.
        progress: Called with a few words after each training.
    """
    if not isinstance(system, LocalSystem):
        raise InvalidParameter("attack needs a local system such as LPGNN(): it is devices that can lie.")
    chosen = tuple(sorted({float(share) for share in shares}))
    if not chosen or not all(0 < share < 1 for share in chosen):
        raise InvalidParameter("shares", "numbers between 0 and 1", shares)
    ways, numbers = plan or Attack(), seed_numbers(seeds)
    guarded = replace(system, defence=tuple(defence)) if defence else None
    lines = [_Line(ways.kind)] + [_Line("random")] * random + [_Line(ways.kind, defended=True)] * bool(defence)
    tasks = [_Task(seed, line, share) for line in lines for seed in numbers for share in chosen]
    found = measured(
        _Games(system, guarded, graph, ways, split),
        tasks,
        usual_store() if store is None else store,
        workers=workers,
        done=lambda task: progress(f"{system.name} {task.line.kind} {task.share:.0%}"),
    ).figures

    def figures(line: _Line, share: float, part: str) -> Figures | None:
        values = (getattr(found[_Task(seed, line, share)], part) for seed in numbers)
        return Figures(tuple(values)) if line in lines else None

    attacked, noise, held = _Line(ways.kind), _Line("random"), _Line(ways.kind, defended=True)
    points = [
        Damage(
            share,
            honest=figures(attacked, share, "honest"),
            attacked=figures(attacked, share, "attacked"),
            random=figures(noise, share, "attacked"),
            defended_honest=figures(held, share, "honest"),
            defended=figures(held, share, "attacked"),
        )
        for share in chosen
    ]
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


def figures_needed(shares: int, seeds: int, defence: bool, random: bool = True) -> int:
    """Return how many figures :func:`attack` measures, for a progress bar."""
    return seeds * shares * (1 + random + defence)


@dataclass(frozen=True)
class _Line:
    kind: str
    defended: bool = False


@dataclass(frozen=True)
class _Task:
    seed: int
    line: _Line
    share: float


@dataclass(frozen=True)
class _Outcome:
    """The metric without liars and with them."""

    honest: float
    attacked: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        return cls(**document)


@dataclass(frozen=True, eq=False)
class _Games:
    """The figures of liars against a system, and against the same with defences."""

    system: LocalSystem
    guarded: LocalSystem | None
    data: Graph
    plan: Attack
    split: tuple[float, float] | None
    _honest: dict[tuple[int, bool], NDArray[np.int64]] = field(default_factory=dict)
    kind = _Outcome

    def graph(self, task: _Task) -> Graph:
        return with_split(self.system, self.data, task.seed, parts=self.split)

    def describe(self, task: _Task) -> Described:
        plan = asdict(self.plan) | {"kind": task.line.kind, "share": task.share}
        system = self._system(task)
        return Described("attack", system, system, task.seed, {"plan": plan})

    def together(self, task: _Task) -> tuple[int, bool]:
        """Games of one seed have their honest predictions in common."""
        return task.seed, task.line.defended

    def measure(self, task: _Task) -> _Outcome:
        """Let a share of people lie, and compare."""
        original, kind = self.graph(task), task.line.kind
        person = victim(original, task.seed) if self.plan.goal == "person" else None
        graph, moved = original, 0
        if self.plan.kind == "accounts":
            moved = round(task.share * graph.num_nodes)
            graph = fake_accounts(graph, moved)
            liars = np.arange(moved)
        else:
            friends = None if person is None else graph.adjacency[[person]].indices
            liars = recruit(graph, task.share, task.seed, self.plan.choice, first=friends)
            liars = liars if person is None else liars[liars != person]
        coalition = Coalition.of(graph, self._system(task).release(graph), liars)
        aim = self._aim(coalition, self.plan.target if person is None else person + moved)
        lies = Lies(coalition, aim, kind, task.seed, self.plan.target, self.plan.friends)  # type: ignore[arg-type]
        if self.plan.goal == "frequency":
            return _Outcome(self._mean(task, original, unaltered), self._mean(task, graph, lies))
        known = self.together(task)
        if known not in self._honest:
            self._honest[known] = self._predictions(task, original, unaltered)
        after = self._predictions(task, graph, lies)[moved:]
        return self._compared(original, self._honest[known], after, liars[:0] if moved else liars, person)

    def _system(self, task: _Task) -> LocalSystem:
        return self.guarded if task.line.defended and self.guarded is not None else self.system

    def _aim(self, coalition: Coalition, target: int) -> Aim:
        if self.data.schema is None:
            raise InvalidData("An attack needs a graph with a schema.")
        return aim_at(self.plan.goal, coalition, self.data.schema.classes, target)

    def _compared(
        self,
        graph: Graph,
        before: NDArray[np.int64],
        after: NDArray[np.int64],
        liars: NDArray[np.int64],
        person: int | None,
    ) -> _Outcome:
        labels, split = graph.labels, graph.split
        if labels is None or split is None:
            raise InvalidData("An attack needs a graph with labels and a split.")
        if person is not None:
            return _Outcome(100.0, 100.0 * float(before[person] == after[person]))
        counted = split.test & (labels >= 0)
        counted[liars] = False
        if self.plan.goal == "class":
            counted &= labels == self.plan.target
        if not counted.any():
            raise InvalidData("No honest test people are left to measure on. Try another class or a smaller share.")
        return _Outcome(*(100 * float((each[counted] == labels[counted]).mean()) for each in (before, after)))

    def _predictions(self, task: _Task, graph: Graph, altered: Altered) -> NDArray[np.int64]:
        chosen = replace(self._system(task), seed=task.seed)
        return chosen.fit(chosen.collect(graph, altered=altered)).predict()

    def _mean(self, task: _Task, graph: Graph, altered: Altered) -> float:
        """Return the estimated mean that is pushed, in ranges of what it estimates."""
        collected = replace(self._system(task), seed=task.seed).collect(graph, altered=altered)
        question = collected.release.questions[0]
        mean = question.mechanism.estimate(collected.answers[question.name].reports).mean()
        return float(mean[self.plan.target % len(mean)] / question.mechanism.span)
