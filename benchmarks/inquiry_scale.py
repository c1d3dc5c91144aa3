"""Both questions of Inquiry on 10 million people and 100 million adjacency entries, beside a tenth of it.

Each size runs in a process of its own: a prior of few columns from labels one and two hops away, offers, devices'
answers (block by block, since no device sees another's features), evidence of neighbours and weights; then the friend
question with noisy counts and its posterior. Seconds leave out the generation of the graph, the peak memory does not.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks._common import Target, judged
from privet.data import social_graph
from privet.estimation.answers.answer_models import KnownAccuracy, best_offers, evidence
from privet.estimation.answers.neighbour_evidence import neighbour_evidence
from privet.estimation.friends.friend_posterior import friend_posterior
from privet.estimation.priors.structural_prior import neighbour_prior
from privet.estimation.shared_weights import SharedWeights
from privet.mechanisms import Counts, OfferedResponse, SeededBits
from privet.release import PrivateData
from privet.release.asks.friends import Friends, ranks_of
from privet.release.asks.resemblance import Resemblance, as_integers

NODES, DEGREE, CLASSES, WIDTH, EPSILON = 10_000_000, 10.0, 8, 16, 2.0
BLOCK = 1 << 18
TARGETS = {"time_per_entry_ratio": Target(1.6, at_most=True), "peak_gib": Target(4.0, quick=1.0, at_most=True)}


def run(quick: bool = False) -> dict[str, Any]:
    """Nanoseconds per entry at both sizes, their ratio, and the larger one's peak memory."""
    nodes = NODES // 50 if quick else NODES
    small, large = (_alone(count) for count in (nodes // 10, nodes))
    ratio = large["nanoseconds_per_entry"] / small["nanoseconds_per_entry"]
    return {
        "benchmark": "inquiry_scale",
        "classes": CLASSES,
        "time_per_entry_ratio": round(ratio, 3),
        "peak_gib": round(large["peak_gib"], 2),
        **judged({"time_per_entry_ratio": ratio, "peak_gib": large["peak_gib"]}, TARGETS, quick),
        "small": {key: round(value, 3) for key, value in small.items()},
        "large": {key: round(value, 3) for key, value in large.items()},
    }


def _alone(nodes: int) -> dict[str, float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, nodes).result()


def _measure(nodes: int) -> dict[str, float]:
    graph = social_graph(nodes, average_degree=DEGREE, classes=CLASSES, features=0, seed=0)
    adjacency, labels = graph.adjacency, graph.labels
    assert labels is not None
    del graph
    labelled = np.random.default_rng(0).random(nodes) < 0.5
    seen = np.where(labelled, labels, -1)
    generated = _peak()
    start = time.perf_counter()
    found = _features(adjacency, labels, seen)
    middle = time.perf_counter()
    right_features = float((found[~labelled] == labels[~labelled]).mean())
    second = time.perf_counter()
    found = _friends(adjacency, seen)
    end = time.perf_counter()
    return {
        "nodes": nodes,
        "entries": adjacency.nnz,
        "feature_seconds": middle - start,
        "friend_seconds": end - second,
        "nanoseconds_per_entry": (middle - start + end - second) / adjacency.nnz * 1e9,
        "feature_accuracy": right_features,
        "friend_accuracy": float((found[~labelled] == labels[~labelled]).mean()),
        "generated_gib": generated,
        "peak_gib": _peak(),
    }


def _features(adjacency: sp.csr_array, labels: NDArray[Any], seen: NDArray[Any]) -> NDArray[np.int64]:
    """Ask the feature question of unlabelled people and of 1 in 50 labelled ones, and predict."""
    prior = neighbour_prior(adjacency, seen, CLASSES, seed=0)
    mechanism, model = OfferedResponse(epsilon=EPSILON, most=CLASSES), KnownAccuracy(0.7, CLASSES)
    offers, _ = best_offers(prior, model, mechanism)
    offers[(seen >= 0) & (np.arange(len(seen)) % 50 > 0)] = -1
    means = np.random.default_rng(1).normal(size=(CLASSES, WIDTH)).astype(np.float32)
    scorer = as_integers(np.vstack([means.T, -(means**2).sum(axis=1) / 2]))
    ask, bits, rng = Resemblance(offers, scorer, unit_length=False), SeededBits(2), np.random.default_rng(3)
    own = np.zeros((len(seen), CLASSES), dtype=np.float32)
    people = np.flatnonzero(offers[:, 1] >= 0)
    for first in range(0, len(people), BLOCK):
        users = people[first : first + BLOCK]
        noise = rng.standard_normal((len(users), WIDTH), dtype=np.float32)
        reports = mechanism.perturb(ask.apply(PrivateData(users, means[labels[users]] + 2 * noise), mechanism), bits)
        positions, _ = mechanism.decode(reports)
        told = evidence(model, offers[users], positions, mechanism)
        own[users] = told - told.mean(axis=1, keepdims=True)
    del offers, ask
    known = people[seen[people] >= 0][:50_000]

    def sources() -> Any:
        yield prior
        yield own
        yield from neighbour_evidence(adjacency, own, seen)

    some = np.stack([each[known] for each in sources()], axis=1).astype(np.float64)
    weights = SharedWeights.fit(some, np.eye(CLASSES)[seen[known]], (1.0, 1.0, 0.0, 0.0, 0.0, 0.0), 10.0)
    logits = np.tile(weights.offsets.astype(np.float32), (len(seen), 1))
    for weight, source in zip(weights.weights, sources(), strict=True):
        source *= np.float32(weight)
        logits += source
        if source is prior or source is own:
            source /= np.float32(weight)
    return np.asarray(logits.argmax(axis=1))


def _friends(adjacency: sp.csr_array, seen: NDArray[Any]) -> NDArray[np.int64]:
    """Ask the friend question and predict; the server sees noisy counts only."""
    calibrating = (seen >= 0) & (np.arange(len(seen)) % 10 == 0)
    ask = Friends(seen, ranks_of(seen >= 0, calibrating))
    mechanism, bits = Counts(epsilon=EPSILON, classes=CLASSES), SeededBits(4)
    people = np.flatnonzero(ask.ranks > 0)
    symbols = np.empty((len(people), CLASSES), dtype=np.int8)
    for first in range(0, len(people), BLOCK):
        users = people[first : first + BLOCK]
        counts = ask.apply(PrivateData(users, neighbours=adjacency[users]), mechanism)
        symbols[first : first + BLOCK] = mechanism.perturb(counts, bits).symbols
    found = friend_posterior(people, symbols, ask.table, ask.ranks, mechanism)
    return np.asarray(found.probabilities.argmax(axis=1))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    print(json.dumps(run()))
