"""Advise on a study: which system, mechanism, split of the budget and hops, and whether to collect at all.

Everything is simulated on a topology with synthetic people (see ``worlds``): nothing private is read. First every
candidate is tried once in each world; then the best one for each strength of signal is compared with doing without the
features, on fresh draws and with the same seeds, by a paired test in each world.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

import privet
from privet.advice.candidates import SPLITS, Candidate, candidates, featureless, without
from privet.advice.plan import Advice, Gain, StudyPlan, Way, answer, compared, pooled
from privet.advice.topology import sampled
from privet.advice.words import advice_paragraph
from privet.advice.worlds import HOMOPHILY, SIGNAL, World, edge_homophily, worlds
from privet.data import Graph, Schema
from privet.errors import InvalidData
from privet.evaluation.cache import Store, usual_store
from privet.evaluation.measuring import Described, measured
from privet.evaluation.scoring import Scores
from privet.evaluation.verdict import half_width
from privet.systems.controls import majority

__all__ = ["advise", "figures_needed"]

_FRESH = 1000  # seeds from here on have not chosen anything
_FINALISTS = 2


def figures_needed(plan: StudyPlan) -> int:
    """Return how many systems :func:`advise` trains, for a progress bar."""
    ways = candidates(plan.protect, plan.budget, plan.schema)
    first = len(ways) + len(featureless(plan.protect, plan.budget, plan.schema))
    splits = _FINALISTS * (len(SPLITS[plan.protect]) - 1)
    controls = without(ways, plan.protect, plan.budget)
    rest = splits + sum(map(len, controls.values()))
    return len(worlds()) * (first + rest + plan.seeds * (1 + len(controls)))


def advise(plan: StudyPlan, done: Callable[[], None] = lambda: None, *, store: Store | None = None) -> Advice:
    """Simulate a plan.

    Args:
        plan: What the operator knows and wants.
        done: Called after each training.
        store: A store of finished figures (default: as for :func:`~privet.evaluation.evaluate.evaluate`).
    """
    began = time.perf_counter()
    whole = plan.topology.graph
    graph = sampled(whole, plan.limit)
    places = worlds()
    trial = _Trial(graph, plan.schema, places, done, usual_store() if store is None else store)
    ways = candidates(plan.protect, plan.budget, plan.schema)
    tried = trial.once([*ways, *featureless(plan.protect, plan.budget, plan.schema)])
    table, modest = tried[: len(ways)], tried[len(ways) :]
    finalists = [row.candidate for row in sorted(table, key=_mean, reverse=True)[:_FINALISTS]]
    shares = SPLITS[plan.protect][1:]
    table += trial.once([each.with_share(plan.protect, plan.budget, share) for each in finalists for share in shares])
    table.sort(key=_mean, reverse=True)
    champions = {signal: max(table, key=lambda row: _mean(row, signal, places)) for signal in SIGNAL}
    options = without([row.candidate for row in table], plan.protect, plan.budget)
    rows = {part: trial.once(each) + (modest if part == "features" else []) for part, each in options.items()}
    rivals = {part: max(each, key=_mean) for part, each in rows.items()}
    compete = {part: [row.candidate] * len(places) for part, row in rivals.items()}
    ours, *others = trial.often(
        [[champions[world.signal].candidate for world in places], *compete.values()], plan.seeds
    )
    theirs = dict(zip(rivals, others, strict=True))
    found = {part: compared(places, ours, theirs[part], plan.worth) for part in rivals}
    together = {part: pooled(ours, theirs[part]) for part in rivals}
    advice = Advice(
        source=plan.topology.source,
        nodes=whole.num_nodes,
        edges=whole.num_edges,
        degree=whole.adjacency.nnz / whole.num_nodes,
        simulated_nodes=graph.num_nodes,
        simulated_degree=graph.adjacency.nnz / graph.num_nodes,
        features=plan.schema.dimension,
        classes=plan.schema.classes,
        protect=plan.protect,
        budget=plan.budget,
        worth=plan.worth,
        seeds=plan.seeds,
        homophily={name: {"follow": HOMOPHILY[name], "edges": trial.edge_share(name)} for name in HOMOPHILY},
        signal=SIGNAL,
        candidates=tuple(_way(row, table[0]) for row in table),
        recommended=_way(_recommended(table[0], champions, found["features"]), table[0]),
        without={part: _way(row, table[0]) for part, row in rivals.items()},
        comparison=found,
        pooled=together,
        collect={part: answer(rows, together[part], plan.worth) for part, rows in found.items()},
        seconds=time.perf_counter() - began,
        version=privet.__version__,
    )
    return replace(advice, advice=advice_paragraph(advice))


@dataclass(frozen=True)
class _Tried:
    """A candidate and its accuracy (per cent) in each world."""

    candidate: Candidate
    scores: list[float]


@dataclass(frozen=True)
class _Draw:
    """A candidate, by its place among all, in a draw of a world."""

    candidate: int
    world: World
    seed: int


@dataclass(frozen=True, eq=False)
class _Trainings:
    """The accuracies of some candidates in draws of worlds."""

    candidates: Sequence[Candidate]
    topology: Graph
    schema: Schema
    _drawn: dict[tuple[World, int], Graph] = field(default_factory=dict)
    kind = Scores

    def graph(self, task: _Draw) -> Graph:
        draw = self.together(task)
        if draw not in self._drawn:
            self._drawn.clear()
            self._drawn[draw] = task.world.people(self.topology, self.schema, task.seed)
        return self._drawn[draw]

    def describe(self, task: _Draw) -> Described:
        candidate = self.candidates[task.candidate]
        name = "advice" if candidate.control is None else f"advice {candidate.control.key}"
        return Described(name, candidate.system, candidate.system, task.seed)

    def together(self, task: _Draw) -> tuple[World, int]:
        return task.world, task.seed

    def measure(self, task: _Draw) -> Scores:
        people, began = self.graph(task), time.perf_counter()
        if people.labels is None or people.split is None:
            raise AssertionError("a world has labels and a split")
        try:
            fitted = self.candidates[task.candidate].trained(people, task.seed)
        except InvalidData:  # such as a panel in which a class is missing: then nothing is known of anybody
            fitted = majority(people)
        return Scores(fitted.score(people.labels, people.split.test), time.perf_counter() - began)


@dataclass(frozen=True)
class _Trial:
    graph: Graph
    schema: Schema
    places: Sequence[World]
    done: Callable[[], None]
    store: Store

    def once(self, chosen: Sequence[Candidate]) -> list[_Tried]:
        """One draw of every world; world by world, for ways on one draw have work in common."""
        scores = self._scores(
            chosen,
            [[_Draw(number, world, seed) for seed, world in enumerate(self.places)] for number in range(len(chosen))],
        )
        return [_Tried(candidate, each) for candidate, each in zip(chosen, scores, strict=True)]

    def often(self, chosen: Sequence[Sequence[Candidate]], seeds: int) -> list[list[list[float]]]:
        """Fresh draws of every world: for each of several choices of a candidate a world, its scores by world."""
        every = [candidate for each in chosen for candidate in each]
        rows = [
            [_Draw(number, self.places[number % len(self.places)], _FRESH + seed) for seed in range(seeds)]
            for number in range(len(every))
        ]
        scores = self._scores(every, rows)
        return [scores[start : start + len(self.places)] for start in range(0, len(every), len(self.places))]

    def edge_share(self, homophily: str) -> float:
        return edge_homophily(World(homophily, next(iter(SIGNAL))).people(self.graph, self.schema, 0))

    def _scores(self, chosen: Sequence[Candidate], rows: Sequence[Sequence[_Draw]]) -> list[list[float]]:
        """Return the accuracy of each draw, in per cent; draws of one world are measured side by side."""
        tasks = sorted(
            (draw for row in rows for draw in row), key=lambda draw: (self.places.index(draw.world), draw.seed)
        )
        work = _Trainings(chosen, self.graph, self.schema)
        found = measured(work, tasks, self.store, done=lambda task: self.done()).figures
        return [[100 * found[draw].test for draw in row] for row in rows]


def _mean(row: _Tried, signal: str | None = None, places: Sequence[World] = ()) -> float:
    """Over all worlds, or over those of one strength of signal (of all again if there is none)."""
    some = [score for score, world in zip(row.scores, places, strict=False) if world.signal == signal]
    return float(np.mean(some or row.scores))


def _recommended(first: _Tried, champions: dict[str, _Tried], rows: Sequence[Gain]) -> _Tried:
    """Features are collected for the worlds in which they help, so the choice is for those."""
    helped = [row.signal for row in rows if row.helps]
    return champions[helped[-1]] if helped else first


def _way(row: _Tried, best: _Tried) -> Way:
    """Describe how good a candidate is, and how far behind the best of the same draws."""
    behind, candidate = np.subtract(best.scores, row.scores), row.candidate
    settings = candidate.system.settings()
    return Way(
        system=candidate.name,
        mechanism=candidate.mechanism,
        sample=settings.get("sample") if candidate.share else None,
        epsilons=candidate.epsilons,
        hops=candidate.hops,
        mean=_mean(row),
        behind=float(behind.mean()),
        margin=half_width(behind) or 0.0,
        settings=settings,
    )
