"""Advise on a study: which system, mechanism, split of the budget and hops, and whether to collect at all.

Everything is simulated on a topology with synthetic people (see ``worlds``): nothing private is read. First every
candidate is tried once in each world; then the best one for each strength of signal is compared with doing without the
features, on fresh draws and with the same seeds, by a paired test in each world.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

import privet
from privet.advice.candidates import SPLITS, Candidate, candidates, featureless, without
from privet.advice.plan import Advice, Gain, StudyPlan, Way
from privet.advice.topology import sampled
from privet.advice.verdict import answer, compared, pooled
from privet.advice.words import advice_paragraph
from privet.advice.worlds import HOMOPHILY, SIGNAL, World, edge_homophily, worlds
from privet.data import Graph, Schema
from privet.errors import InvalidData
from privet.evaluation.cache import Store, usual_store
from privet.evaluation.intervals import half_width
from privet.evaluation.keys import data_digest, figure_key, is_described, split_digest
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
class _Trial:
    graph: Graph
    schema: Schema
    places: Sequence[World]
    done: Callable[[], None]
    store: Store

    def once(self, chosen: Sequence[Candidate]) -> list[_Tried]:
        """One draw of every world; world by world, for ways on one draw have work in common."""
        scores = [self._scores(chosen, world, seed) for seed, world in enumerate(self.places)]
        return [_Tried(candidate, [each[place] for each in scores]) for place, candidate in enumerate(chosen)]

    def often(self, chosen: Sequence[Sequence[Candidate]], seeds: int) -> list[list[list[float]]]:
        """Fresh draws of every world: for each of several choices of a candidate a world, its scores by world."""
        found: list[list[list[float]]] = [[] for _ in chosen]
        for place, world in enumerate(self.places):
            here = [each[place] for each in chosen]
            scores = [self._scores(here, world, _FRESH + seed) for seed in range(seeds)]
            for number, rows in enumerate(found):
                rows.append([each[number] for each in scores])
        return found

    def edge_share(self, homophily: str) -> float:
        return edge_homophily(World(homophily, next(iter(SIGNAL))).people(self.graph, self.schema, 0))

    def _scores(self, chosen: Sequence[Candidate], world: World, seed: int) -> list[float]:
        people = world.people(self.graph, self.schema, seed)
        known = {"data": data_digest(people), "split": split_digest(people.split)}
        return [self._score(candidate, people, seed, known) for candidate in chosen]

    def _score(self, candidate: Candidate, people: Graph, seed: int, known: dict[str, str]) -> float:
        def work() -> dict[str, float]:
            if people.labels is None or people.split is None:
                raise AssertionError("a world has labels and a split")
            try:
                fitted = candidate.trained(people, seed)
            except InvalidData:  # such as a panel in which a class is missing: then nothing is known of anybody
                fitted = majority(people)
            return {"test": fitted.score(people.labels, people.split.test)}

        what = "advice" if candidate.control is None else f"advice {candidate.control.key}"
        store = self.store if is_described(candidate.system) else Store(None)
        found = store.compute(figure_key(what, candidate.system, seed, **known), work)
        self.done()
        return 100 * float(found["test"])


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
