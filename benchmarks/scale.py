"""KProp with K = 4 over 16 columns on 10 million nodes and 100 million adjacency entries, beside a tenth of it.

Both sizes run in a process of their own, from the synthetic social graph to the propagated columns; the time per entry
counts the four hops only (best of several runs) and the peak memory everything, generation included. The smaller
input fits the last-level cache of a current server, the larger does not.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import torch

from benchmarks._common import Target, judged
from privet.data import social_graph
from privet.graph import gcn_operator, kprop

NODES, DEGREE, COLUMNS, HOPS = 10_000_000, 10.0, 16, 4
TARGETS = {"time_per_entry_ratio": Target(2.0, at_most=True), "peak_gib": Target(24.0, quick=2.0, at_most=True)}


def run(quick: bool = False) -> dict[str, Any]:
    """Nanoseconds per entry and hop at both sizes, their ratio, and the larger one's peak memory."""
    nodes = NODES // 20 if quick else NODES
    repeats = 2 if quick else 3
    small, large = (_alone(count, repeats) for count in (nodes // 10, nodes))
    ratio = large["nanoseconds_per_entry"] / small["nanoseconds_per_entry"]
    return {
        "benchmark": "scale",
        "columns": COLUMNS,
        "hops": HOPS,
        "time_per_entry_ratio": round(ratio, 3),
        "peak_gib": round(large["peak_gib"], 2),
        **judged({"time_per_entry_ratio": ratio, "peak_gib": large["peak_gib"]}, TARGETS, quick),
        "small": {key: round(value, 3) for key, value in small.items()},
        "large": {key: round(value, 3) for key, value in large.items()},
    }


def _alone(nodes: int, repeats: int) -> dict[str, float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, nodes, repeats).result()


def _measure(nodes: int, repeats: int) -> dict[str, float]:
    torch.set_num_threads(min(2, torch.get_num_threads()))
    began = time.perf_counter()
    graph = social_graph(nodes, average_degree=DEGREE, features=0, seed=0)
    generated = time.perf_counter()
    operator = gcn_operator(graph, self_loops=False)
    prepared = time.perf_counter()
    del graph
    x = torch.randn(nodes, COLUMNS)
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        kprop(x, operator, HOPS)
        best = min(best, time.perf_counter() - start)
    return {
        "nodes": nodes,
        "entries": operator.nnz,
        "generation_seconds": generated - began,
        "operator_seconds": prepared - generated,
        "propagation_seconds": best,
        "nanoseconds_per_entry": best / HOPS / operator.nnz * 1e9,
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


if __name__ == "__main__":
    print(json.dumps(run()))
