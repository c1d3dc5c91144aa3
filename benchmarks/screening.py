"""False alarms of the screening among honest studies, and its power against each kind of lie.

``python -m benchmarks screening`` takes a synthetic graph; ``measure`` is for a published dataset:

    python -c "from benchmarks.screening import measure; measure('cora', honest=1000, lying=50)"
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from privet.data import Graph, load, social_graph
from privet.mechanisms import (
    AdjacencyResponse,
    Counts,
    MultiBit,
    OfferedResponse,
    RandomizedResponse,
    Reports,
    SampledResponse,
    SeededBits,
)
from privet.release.answers import Answer
from privet.release.screening import KINDS, RATE, Screening, screen_reports

SHARES = (0.01, 0.05, 0.1)


def run(quick: bool = False) -> dict[str, Any]:
    """Screen studies of a synthetic graph."""
    graph = social_graph(400, classes=4, average_degree=8, features=40, feature_signal=0.9, seed=0)
    rows = list(_rows(graph, 20 if quick else 200, 5))
    false = max(row["false_alarms"] / row["studies"] for row in rows if "false_alarms" in row)
    return {"benchmark": "screening", "rate": RATE, "worst_false_alarms": false, "met": false <= 0.01}


def measure(name: str, honest: int, lying: int) -> None:
    """Print a JSON line for each question: false alarms, then the power against each lie by the share of liars."""
    for row in _rows(load(name), honest, lying):
        print(json.dumps({"dataset": name, **row}))
        sys.stdout.flush()


def _rows(graph: Graph, honest: int, lying: int) -> Any:
    for title, mechanism, values, known in _questions(graph):
        people = np.arange(values.shape[0])

        def perturb(some: Any, seed: int, used: Any = mechanism, users: Any = people) -> Any:
            return used.perturb(some, SeededBits(seed), **({"users": users} if used.personal else {}))

        alarms, looks = 0, 0
        for seed in range(honest):
            found = _screened(title, mechanism, perturb(values, seed), **known)
            alarms, looks = alarms + found.alarm, looks + (found.p_value <= 0.05)
        yield {"question": title, "studies": honest, "false_alarms": alarms, "p_below_0.05": looks}
        if mechanism.personal:
            continue
        for lie, change in _lies(mechanism, values).items():
            power = []
            for share in SHARES:
                caught = 0
                for seed in range(lying):
                    rng = np.random.default_rng([seed, 7])
                    liars = rng.random(len(people)) < share
                    reports = change(perturb(values, seed), liars, rng)
                    caught += _screened(title, mechanism, reports, **known).alarm
                power.append(caught / lying)
            yield {"question": title, "lie": lie, "power": dict(zip(map(str, SHARES), power, strict=True))}


def _screened(name: str, mechanism: Any, reports: Any, **known: Any) -> Screening:
    tests, alone = screen_reports(name, mechanism, Answer(np.arange(len(reports)), reports), len(reports), **known)
    return Screening(tuple(tests), RATE, KINDS, len(reports), {name: alone})


def _questions(graph: Graph) -> Any:
    """Yield questions about real data and about data at an end of their domain."""
    schema, labels = graph.schema, np.maximum(graph.labels, 0)
    classes = int(labels.max()) + 1
    features, lists = graph.features, graph.adjacency
    friends = np.minimum(np.asarray(lists @ np.eye(classes)[labels]).astype(np.int64), 32)
    options = np.stack([np.zeros(len(labels), dtype=np.int64), np.full(len(labels), 3)], axis=1)
    width = min(50, features.shape[1])
    binary = SampledResponse(epsilon_per_feature=0.5, categories=(2,) * width, sample=10, fill="none")
    codes = np.asarray(features[:, :width].toarray() > 0 if hasattr(features, "toarray") else features[:, :width] > 0)
    yield "class, epsilon 1", RandomizedResponse(epsilon=1.0, classes=classes), labels, {}
    yield "class, all alike", RandomizedResponse(epsilon=1.0, classes=classes), 0 * labels, {}
    yield "features, epsilon 1", MultiBit.declare(schema, epsilon=1.0), features, {}
    yield "features, epsilon 40", MultiBit.declare(schema, epsilon=40.0), features, {}
    yield "categories, epsilon 5", binary, codes.astype(np.float64), {}
    yield "resemblance, epsilon 2, all alike", OfferedResponse(epsilon=2.0, most=classes), options, {}
    counts = Counts(epsilon=2.0, classes=classes)
    yield "friends, epsilon 2", counts, friends, {}
    bound = int(friends.sum(axis=1).max())
    yield "friends, epsilon 2, at most as many as anybody has", counts, friends, {"most_friends": bound}
    few = np.arange(min(600, len(labels)))
    some = lists[few][:, few]
    yield "lists, epsilon 4", AdjacencyResponse(epsilon=4.0, num_nodes=len(few)), some, {}


def _lies(mechanism: Any, values: Any) -> dict[str, Callable[[Reports, Any, np.random.Generator], Reports]]:
    """Return the kinds of lies; each changes the rows of the liars."""
    ends = mechanism.estimate(mechanism.perturb(values[:1], SeededBits(0))).shape[1]

    def replaced(reports: Reports, liars: Any, others: Reports) -> Reports:
        return reports.with_rows(np.flatnonzero(liars), others)

    def uniform(reports: Reports, liars: Any, rng: np.random.Generator) -> Reports:
        some = reports.take(np.flatnonzero(liars))
        return replaced(reports, liars, mechanism.uniform(some, SeededBits(int(rng.integers(1 << 30)))))

    def same(reports: Reports, liars: Any, rng: np.random.Generator) -> Reports:
        some = reports.take(np.flatnonzero(liars))
        return replaced(reports, liars, mechanism.strongest(np.tile(np.eye(ends)[0], (len(some), 1)), some))

    def randomised(reports: Reports, liars: Any, rng: np.random.Generator) -> Reports:
        false = np.repeat(_false(mechanism), int(liars.sum()), axis=0)
        return replaced(reports, liars, mechanism.perturb(false, SeededBits(int(rng.integers(1 << 30)))))

    def copied(reports: Reports, liars: Any, rng: np.random.Generator) -> Reports:
        one = int(rng.integers(len(reports)))
        return replaced(reports, liars, reports.take(np.full(int(liars.sum()), one)))

    named = "invented friends, honest noise" if isinstance(mechanism, Counts) else "false input, honest noise"
    same_name = "invented friends, no noise" if isinstance(mechanism, Counts) else "the strongest report for one goal"
    return {"uniform reports": uniform, same_name: same, named: randomised, "copies of one report": copied}


def _false(mechanism: Any) -> Any:
    if isinstance(mechanism, RandomizedResponse):
        return np.array([mechanism.classes - 1])
    if isinstance(mechanism, OfferedResponse):
        return np.array([[2, 3]])
    if isinstance(mechanism, Counts):
        return np.eye(mechanism.classes, dtype=np.int64)[:1] * 30
    return np.ones((1, mechanism.dimension))
