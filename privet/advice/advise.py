"""`privet advise`: which system, mechanism, split of the budget and hops, and whether to collect at all.

Everything is simulated on a topology with synthetic people (see ``advise_worlds``): nothing private is read. First
every candidate is tried once in each world; then the best one of each strength of signal is compared with doing without
the features, on fresh draws and with the same seeds, by a paired test in each world.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import privet
from privet.advice.candidates import SPLITS, Candidate, candidates, without
from privet.advice.topology import Topology, sampled
from privet.advice.verdict import answer, compared, pooled
from privet.advice.words import advice_paragraph, next_commands
from privet.advice.worlds import HOMOPHILY, SIGNAL, World, edge_homophily, worlds
from privet.data import Graph, Schema
from privet.errors import InvalidParameter
from privet.evaluation.verdict import confidence_margin

__all__ = ["Question", "advise", "figures_needed"]

_FRESH = 1000  # seeds from here on have not chosen anything
_FINALISTS = 2


@dataclass(frozen=True)
class Question:
    """What the operator knows and wants: public facts and a budget.

    ``protect`` is one of features; features,labels; features,edges. A gain of less than ``worth`` points is taken for
    none, since data that is not collected needs no protection.
    """

    topology: Topology
    schema: Schema
    budget: float
    protect: str = "features,labels"
    seeds: int = 5
    limit: int = 2000
    worth: float = 1.0

    def __post_init__(self) -> None:
        requirements = [
            ("--classes", self.schema.classes >= 2, "an integer of at least 2", self.schema.classes),
            ("--features", self.schema.dimension >= 1, "at least 1", self.schema.dimension),
            ("--seeds", self.seeds >= 2, "at least 2, to tell noise from gain", self.seeds),
            ("--limit", self.limit >= 60, "at least 60", self.limit),
            ("--worth", self.worth >= 0, "at least 0", self.worth),
        ]
        for name, fine, expected, found in requirements:
            if not fine:
                raise InvalidParameter(name, "privet advise", expected, found)


def figures_needed(question: Question) -> int:
    """How many systems will be trained."""
    places = len(worlds())
    first = len(candidates(question.protect, question.budget, question.schema))
    splits = _FINALISTS * (len(SPLITS[question.protect]) - 1)
    controls = 3 if question.protect == "features,edges" else 2
    return places * (first + splits + controls + question.seeds * (controls if controls == 3 else 2))


def advise(question: Question, done: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """The advice as a document; ``done`` is called after each training."""
    began = time.perf_counter()
    graph = sampled(question.topology.graph, question.limit)
    places = worlds()
    trial = _Trial(graph, question.schema, places, done)
    table = [trial.once(each) for each in candidates(question.protect, question.budget, question.schema)]
    for finalist in sorted(table, key=_mean, reverse=True)[:_FINALISTS]:
        shares = SPLITS[question.protect][1:]
        table += [trial.once(finalist.candidate.with_share(question.protect, question.budget, s)) for s in shares]
    table.sort(key=_mean, reverse=True)
    champions = {signal: max(table, key=lambda row: _mean(row, signal, places)) for signal in SIGNAL}
    options = without(table[0].candidate, question.protect, question.budget)
    rivals = {part: max((trial.once(each) for each in ways), key=_mean) for part, ways in options.items()}
    ours = trial.often([champions[world.signal].candidate for world in places], question.seeds)
    theirs = {part: trial.often([row.candidate] * len(places), question.seeds) for part, row in rivals.items()}
    found = {part: compared(places, ours, theirs[part], question.worth) for part in rivals}
    together = {part: pooled(ours, theirs[part]) for part in rivals}
    best = _recommended(table[0], champions, found["features"])
    document = {
        "source": question.topology.source,
        "nodes": question.topology.graph.num_nodes,
        "edges": question.topology.graph.num_edges,
        "simulated_nodes": graph.num_nodes,
        "simulated_degree": graph.adjacency.nnz / graph.num_nodes,
        "degree": question.topology.graph.adjacency.nnz / question.topology.graph.num_nodes,
        "features": question.schema.dimension,
        "classes": question.schema.classes,
        "protect": question.protect,
        "budget": question.budget,
        "worth": question.worth,
        "seeds": question.seeds,
        "homophily": {name: {"follow": HOMOPHILY[name], "edges": trial.edge_share(name)} for name in HOMOPHILY},
        "signal": SIGNAL,
        "candidates": [_row(row, table[0]) for row in table],
        "recommended": _row(best, table[0]) | {"settings": best.candidate.system.settings()},
        "champions": {signal: _row(row, table[0]) for signal, row in champions.items()},
        "without": {part: _row(row, table[0]) for part, row in rivals.items()},
        "comparison": found,
        "pooled": together,
        "collect": {part: answer(rows, together[part], question.worth) for part, rows in found.items()},
        "seconds": time.perf_counter() - began,
        "version": privet.__version__,
    }
    return {**document, "advice": advice_paragraph(document), "next": next_commands(document)}


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

    def once(self, candidate: Candidate) -> _Tried:
        """One draw of every world."""
        return _Tried(candidate, [self._score(candidate, world, seed) for seed, world in enumerate(self.places)])

    def often(self, chosen: Sequence[Candidate], seeds: int) -> list[list[float]]:
        """Fresh draws of every world, each with a candidate of its own."""
        return [
            [self._score(candidate, world, _FRESH + seed) for seed in range(seeds)]
            for candidate, world in zip(chosen, self.places, strict=True)
        ]

    def edge_share(self, homophily: str) -> float:
        return edge_homophily(World(homophily, next(iter(SIGNAL))).people(self.graph, self.schema, 0))

    def _score(self, candidate: Candidate, world: World, seed: int) -> float:
        people = world.people(self.graph, self.schema, seed)
        if people.labels is None or people.split is None:
            raise AssertionError("a world has labels and a split")
        found = 100 * candidate.trained(people, seed).score(people.labels, people.split.test)
        self.done()
        return found


def _mean(row: _Tried, signal: str | None = None, places: Sequence[World] = ()) -> float:
    """Over all worlds, or over those of one strength of signal (of all again if there is none)."""
    some = [score for score, world in zip(row.scores, places, strict=False) if world.signal == signal]
    return float(np.mean(some or row.scores))


def _recommended(first: _Tried, champions: dict[str, _Tried], rows: list[dict[str, Any]]) -> _Tried:
    """Who collects features does so for the worlds in which they help, so the choice is for those."""
    helped = [row["signal"] for row in rows if row["helps"]]
    return champions[helped[-1]] if helped else first


def _row(row: _Tried, best: _Tried) -> dict[str, Any]:
    """A line of the table: what it is, how good, and how far behind the best of the same draws."""
    behind = np.subtract(best.scores, row.scores)
    return {
        "system": row.candidate.name,
        "mechanism": row.candidate.mechanism,
        "sample": getattr(row.candidate.system, "sample", None) if row.candidate.share else None,
        "epsilons": row.candidate.epsilons,
        "hops": row.candidate.hops,
        "mean": _mean(row),
        "behind": float(behind.mean()),
        "margin": confidence_margin(behind),
    }
