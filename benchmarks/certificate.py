"""Certified accuracy of Inquiry, and the best attack on certified people, beside random lies of as many friends.

``python -m benchmarks certificate`` takes a synthetic graph; ``measure`` is for the published datasets:

    python -c "from benchmarks.certificate import measure; measure(['cora'], range(5))"
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph, load, social_graph, split_nodes
from privet.estimation.answers.liars_needed import neighbour_links
from privet.estimation.answers.neighbour_evidence import class_mixing, told_of_neighbours
from privet.mechanisms import SeededBits
from privet.release.asks.resemblance import Resemblance
from privet.systems.local.inquiry import Inquiry
from privet.systems.local.inquiry.certificate import possible_answers

NUMBERS = (0, 1, 2, 3)
SAMPLED = 100  # certified people whom the attack tries, a seed


def run(quick: bool = False) -> dict[str, Any]:
    """Certify a synthetic graph."""
    graph = social_graph(
        600 if quick else 3000, classes=4, average_degree=6, homophily=0.6, features=40, feature_signal=0.9, seed=0
    )
    found = _features(graph, 2.0, 0)
    seconds, whole = found.pop("seconds_certificate"), found.pop("seconds_fit")
    met = found["turned_certified"] == 0
    return {"benchmark": "certificate", **found, "ratio": whole / max(seconds, 1e-9), "met": met}


def measure(names: list[str], seeds: Iterable[int], epsilon: float = 2.0, *, thorough: bool = False) -> None:
    """Print a JSON line for each dataset, question and seed."""
    for name in names:
        graph = load(name)
        for seed in seeds:
            told = {"dataset": name, "seed": seed}
            print(json.dumps({**told, "question": "features", **_features(graph, epsilon, seed)}))
            print(json.dumps({**told, "question": "friends", **_friends(graph, epsilon, seed, thorough)}))
            sys.stdout.flush()


def _split(graph: Graph, seed: int) -> Graph:
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=seed))


def _figures(graph: Graph, fitted: Any) -> dict[str, Any]:
    test, stood = graph.split.test, fitted.certificate
    right = [round(100 * stood.accuracy(fitted.predict(), graph.labels, test, k), 2) for k in NUMBERS]
    shares = [round(100 * float(stood.withstands(k)[test].mean()), 2) for k in NUMBERS]
    return {"accuracy": right, "withstands": shares, "own_lie": round(100 * float(stood.own_lie[test].mean()), 2)}


def _friends(graph: Graph, epsilon: float, seed: int, thorough: bool) -> dict[str, Any]:
    graph = _split(graph, seed)
    system = Inquiry(epsilon_edges=epsilon, seed=seed, thorough=thorough)
    return _figures(graph, system.fit(system.collect(graph, SeededBits(seed))))


def _features(graph: Graph, epsilon: float, seed: int) -> dict[str, Any]:
    graph = _split(graph, seed)
    system = Inquiry(epsilon_features=epsilon, seed=seed)
    collected = system.collect(graph, SeededBits(seed))
    started = time.perf_counter()
    fitted = system.fit(collected)
    middle = time.perf_counter()
    weighed = system._with_answers(collected, system._prior(collected), collected.supervised("Inquiry")[0])
    after = time.perf_counter()
    system._certificate(collected, weighed.logits, weighed)
    done = time.perf_counter()
    attacked = _attack(collected, weighed, fitted, graph.split.test, np.random.default_rng(seed))
    covered = _refitted(system, collected, fitted, np.random.default_rng([seed, 1]))
    times = {"seconds_fit": middle - started, "seconds_certificate": done - after}
    return {**_figures(graph, fitted), **attacked, **covered, **times}


def _attack(
    collected: Any, weighed: Any, fitted: Any, test: NDArray[np.bool_], rng: np.random.Generator
) -> dict[str, Any]:
    """Let exactly as many friends lie as a prediction withstands, and one more, as badly as they can."""
    adjacency, seen = collected.topology.adjacency, collected.seen_labels()
    kinds, said = possible_answers(collected, weighed)
    said = said - said.mean(axis=-1, keepdims=True)
    mixing = class_mixing(adjacency, seen, said.shape[-1]).astype(np.float32)
    links = neighbour_links(adjacency, seen, weighed.weights.weights[2:])
    told_possible, told = told_of_neighbours(said, mixing), told_of_neighbours(weighed.own, mixing)
    liars = fitted.certificate.liars
    certified = np.flatnonzero(test & (liars >= 1) & np.isfinite(liars))
    people = rng.permutation(certified)[:SAMPLED]
    turned, beyond, random_turned = 0, 0, 0
    for person in people:
        rows = np.arange(adjacency.indptr[person], adjacency.indptr[person + 1])
        rows = rows[kinds[links.speakers[rows]] >= 0]
        friends = links.speakers[rows]
        by_told, by_own = links.told[rows, None, None], links.own[rows, None, None]
        lies = by_told * told_possible[kinds[friends]] + by_own * said[kinds[friends]]
        now = (by_told[:, 0] * told[friends] + by_own[:, 0] * weighed.own[friends])[:, None]
        moves = lies - now  # friends x answers x classes
        logits, count = weighed.logits[person], int(liars[person])
        best = int(logits.argmax())
        for number in (count, count + 1):
            for other in set(range(len(logits))) - {best}:
                gaps = (moves[..., best] - moves[..., other]).min(axis=1)
                chosen = np.argsort(gaps)[:number]
                answers = (moves[..., best] - moves[..., other]).argmin(axis=1)[chosen]
                if (logits + moves[chosen, answers].sum(axis=0)).argmax() != best:
                    turned, beyond = turned + (number == count), beyond + (number > count)
                    break
        for _ in range(20):
            chosen = rng.permutation(len(friends))[:count]
            answers = rng.integers(0, said.shape[1], len(chosen))
            random_turned += (logits + moves[chosen, answers].sum(axis=0)).argmax() != best
    return {
        "attacked": len(people),
        "turned_certified": turned,
        "turned_by_one_more": beyond,
        "turned_by_random_lies": int(random_turned),
    }


def _refitted(system: Inquiry, collected: Any, fitted: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Let 5 % of all people answer at random, and fit everything again: how many covered predictions change then?"""
    answer, adjacency = collected.answers[Resemblance.name], collected.topology.adjacency
    question = collected.release.question(Resemblance.name)
    false = rng.random(len(answer)) < 0.05
    _, options = question.mechanism.decode(answer.reports)
    values = np.stack([rng.integers(0, options), options], axis=1)
    altered = answer.reports.symbols.copy()
    first = (options - 2) * (options + 1) // 2
    altered[false, 0] = (first + values[:, 0])[false]
    reports = type(answer.reports)(1, altered)
    changed = collected.answers.with_part(Resemblance.name, type(answer)(answer.users, reports))
    lying = np.zeros(collected.num_nodes, dtype=np.float32)
    lying[answer.users[false]] = 1
    again = system.fit(
        type(collected)(collected.public, changed, shown=collected.shown, learned=dict(collected.learned))
    )
    near = adjacency @ lying
    covered = (near <= fitted.certificate.liars) & (lying == 0)
    moved = fitted.predict() != again.predict()
    return {"covered": int(covered.sum()), "changed_after_refit": int((moved & covered).sum())}
