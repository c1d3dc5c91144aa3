"""One hop on 200,000 nodes, 5 million adjacency entries and 128 float32 columns, beside the fastest alternative.

The alternatives are torch's CSR reduction ``torch.sparse.mm(csr, x, "sum")``, torch's ``csr @ x``, both with 64-bit
indices (what a plain construction gives) and with 32-bit ones, a parallel numba kernel and SciPy. All run in turn,
several times over, and the best time of each counts. The traffic of a hop (the adjacency once, a row of x for each
entry, the result once) is compared with the bandwidth of a copy of 1 GiB in the same run; caches let that fraction
exceed 1. `compulsory_fraction_of_bandwidth` counts x once, as if all repeated reads came from a cache.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from benchmarks._common import Target, judged
from privet.graph import gcn_operator
from privet.graph.csr import csr_tensor, to_scipy

NODES, ENTRIES, COLUMNS = 200_000, 5_000_000, 128
TARGETS = {"ratio": Target(0.9, quick=0.9)}


def run(quick: bool = False) -> dict[str, Any]:
    """The best seconds of each, the ratio of the fastest alternative to ours, and the fraction of the bandwidth."""
    threads = min(2, torch.get_num_threads())
    torch.set_num_threads(threads)
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    nodes, entries = (NODES // 10, ENTRIES // 10) if quick else (NODES, ENTRIES)
    operator = gcn_operator(power_law(nodes, entries, seed=0), self_loops=False)
    matrix, x = to_scipy(operator.matrix), torch.randn(nodes, COLUMNS)
    narrow, values = operator.matrix, operator.matrix.values()
    wide = csr_tensor(narrow.crow_indices().long(), narrow.col_indices().long(), values, narrow.shape)
    cases: dict[str, Callable[[], Any]] = {
        "privet": lambda: operator @ x,
        "torch_sum": lambda: torch.sparse.mm(wide, x, "sum"),
        "torch_sum_int32": lambda: torch.sparse.mm(narrow, x, "sum"),
        "torch_matmul": lambda: wide @ x,
        "torch_matmul_int32": lambda: narrow @ x,
        "numba": lambda: _numba_hop(matrix.indptr, matrix.indices, matrix.data, x.numpy()),
        "scipy": lambda: matrix @ x.numpy(),
    }
    agree = all(np.allclose(np.asarray(case()), matrix @ x.numpy(), atol=1e-3) for case in cases.values())
    seconds = _best_in_turn(cases, rounds=3 if quick else 15)
    fastest = min((name for name in cases if name != "privet"), key=seconds.__getitem__)
    copied = _copy_bandwidth(2**26 if quick else 2**28)
    moved = operator.nnz * (8 + 4 * COLUMNS) + nodes * (4 + 4 * COLUMNS)
    compulsory = operator.nnz * 8 + nodes * (4 + 8 * COLUMNS)
    ratio = seconds[fastest] / seconds["privet"]
    return {
        "benchmark": "propagation",
        "nodes": nodes,
        "entries": operator.nnz,
        "columns": COLUMNS,
        "ratio": round(ratio, 3),
        "equal_results": agree,
        **judged({"ratio": ratio if agree else 0.0}, TARGETS, quick),
        "fastest_reference": fastest,
        "seconds": {name: round(value, 5) for name, value in seconds.items()},
        "gigabytes_per_second": round(moved / seconds["privet"] / 1e9, 2),
        "copy_gigabytes_per_second": round(copied / 1e9, 2),
        "fraction_of_bandwidth": round(moved / seconds["privet"] / copied, 3),
        "compulsory_fraction_of_bandwidth": round(compulsory / seconds["privet"] / copied, 3),
    }


def power_law(nodes: int, entries: int, *, seed: int) -> sp.csr_array:
    """A symmetric random graph in which node of rank k is drawn with probability ~ k^-1/2, ranks shuffled."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(nodes).astype(np.int32)
    ends = [shuffled[(nodes * rng.random(entries // 2, dtype=np.float64) ** 2).astype(np.int32)] for _ in range(2)]
    pairs = np.concatenate(ends), np.concatenate(ends[::-1])
    graph = sp.coo_array((np.ones(len(pairs[0]), np.float32), pairs), shape=(nodes, nodes)).tocsr()
    graph.sum_duplicates()
    graph.data[:] = 1.0
    return graph


def _best_in_turn(cases: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The least seconds of each; in turn, so that a busy moment of the machine falls on all of them."""
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(rounds):
        for name, case in cases.items():
            began = time.perf_counter()
            case()
            best[name] = min(best[name], time.perf_counter() - began)
    return best


def _copy_bandwidth(numbers: int) -> float:
    """Bytes read and written a second by a copy of as many float32 as given."""
    source, target = torch.ones(numbers), torch.zeros(numbers)
    best = _best_in_turn({"copy": lambda: target.copy_(source)}, rounds=5)["copy"]
    return 2 * 4 * numbers / best


@numba.njit(parallel=True, fastmath=True)
def _numba_hop(
    pointers: NDArray[np.int32], columns: NDArray[np.int32], values: NDArray[np.float32], x: NDArray[np.float32]
) -> NDArray[np.float32]:
    result = np.zeros((len(pointers) - 1, x.shape[1]), np.float32)
    for row in numba.prange(len(pointers) - 1):
        for entry in range(pointers[row], pointers[row + 1]):
            column, value = columns[entry], values[entry]
            for k in range(x.shape[1]):
                result[row, k] += value * x[column, k]
    return result


if __name__ == "__main__":
    print(json.dumps(run()))
