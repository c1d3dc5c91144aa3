"""Inquiry beside LPGNN's own fit on a graph of Facebook's size, from public graph to predictions.

With PRIVET_DATA set to a directory that holds facebook.npz the real graph is used, otherwise a synthetic one with as
many people, links, features and classes. Each system runs in a process of its own; seconds are the best of
several runs, the peak memory is the whole process's. ``without_prior`` is everything but the structural prior: scorer,
offers, devices' answers, evidence and weights.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import torch

from benchmarks._common import Target, judged, known_graph
from privet.data import Graph, social_graph, split_nodes
from privet.estimation.priors import structural_prior as prior_of
from privet.systems import LPGNN, Inquiry

NODES, DEGREE, FEATURES, CLASSES = 22_470, 15.2, 4_714, 4
TARGETS = {
    "whole_over_lpgnn": Target(1.0, at_most=True),
    "peak_mb": Target(700.0, quick=500.0, at_most=True),
    "without_prior_speedup": Target(50.0),
}


def run(quick: bool = False) -> dict[str, Any]:
    """Seconds of Inquiry, whole and without its prior, over those of LPGNN's fit, and Inquiry's peak memory."""
    lpgnn, inquiry = (_alone(name, quick) for name in ("lpgnn", "inquiry"))
    whole = inquiry["seconds"] / lpgnn["fit_seconds"]
    speedup = lpgnn["fit_seconds"] / inquiry["without_prior_seconds"]
    return {
        "benchmark": "inquiry",
        "whole_over_lpgnn": round(whole, 3),
        "without_prior_speedup": round(speedup, 1),
        "peak_mb": round(inquiry["peak_mb"]),
        **judged(
            {"whole_over_lpgnn": whole, "without_prior_speedup": speedup, "peak_mb": inquiry["peak_mb"]}, TARGETS, quick
        ),
        "lpgnn": {key: round(value, 2) for key, value in lpgnn.items()},
        "inquiry": {key: round(value, 2) for key, value in inquiry.items()},
    }


def _alone(name: str, quick: bool) -> dict[str, float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit({"lpgnn": _lpgnn, "inquiry": _inquiry}[name], quick).result()


def _graph(quick: bool) -> Graph:
    if quick:
        graph = social_graph(NODES // 10, average_degree=DEGREE, features=FEATURES, classes=CLASSES, seed=0)
    else:
        graph = known_graph("facebook")
    return graph.replace(split=split_nodes(graph.num_nodes, 0.5, 0.25, seed=0))


def _lpgnn(quick: bool) -> dict[str, float]:
    torch.set_num_threads(1)
    graph = _graph(quick)
    system = LPGNN(seed=0)
    collected = system.collect(graph)
    start = time.perf_counter()
    system.fit(collected)
    return {"fit_seconds": time.perf_counter() - start, "peak_mb": _peak()}


def _inquiry(quick: bool) -> dict[str, float]:
    torch.set_num_threads(1)
    graph = _graph(quick)
    system = Inquiry(epsilon_features=1.0, seed=0)
    start = time.perf_counter()
    system.fit(system.collect(graph))
    seconds = time.perf_counter() - start
    rest = float("inf")
    for _ in range(2):  # the prior of the first run is remembered
        start = time.perf_counter()
        system.fit(system.collect(graph))
        rest = min(rest, time.perf_counter() - start)
    assert prior_of._RECENT, "the prior was computed again"
    return {"seconds": seconds, "without_prior_seconds": rest, "peak_mb": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


if __name__ == "__main__":
    print(json.dumps(run()))
