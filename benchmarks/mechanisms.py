"""MultiBit on sparse input against the dense textbook version, and its cost against the dimension."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from privet.mechanisms import MultiBit, SeededBits


def textbook(values: np.ndarray, epsilon: float, m: int, rng: np.random.Generator) -> np.ndarray:
    """Algorithm 1 as it is usually written: a random top-m mask and a Bernoulli draw for every one of N x d entries."""
    users, dimension = values.shape
    keys = rng.random((users, dimension))
    chosen = np.argpartition(keys, m - 1, axis=1)[:, :m]
    mask = np.zeros((users, dimension), dtype=bool)
    np.put_along_axis(mask, chosen, True, axis=1)
    grown = np.exp(epsilon / m)
    chance = 1 / (grown + 1) + values * (grown - 1) / (grown + 1)
    bits = rng.random((users, dimension)) < chance
    return mask * (2 * bits - 1)


def measured(work: Callable[[], object], repeat: int) -> tuple[float, float]:
    """The fastest of some runs in seconds, and the peak of allocated memory in bytes."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(times), peak


def random_features(users: int, dimension: int, active: int, seed: int) -> sp.csr_array:
    """Binary features with ``active`` ones a user."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.integers(dimension, size=(users, active)), axis=1).astype(np.int32)
    matrix = sp.csr_array((np.ones(users * active), columns.ravel(), np.arange(users + 1) * active), (users, dimension))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def run(quick: bool = False) -> dict[str, object]:
    """The ratios that the project promises: at least 200x faster, 100x less memory, and no growth with d."""
    users, dimension = (2_247, 4_714) if quick else (22_470, 4_714)
    sparse = random_features(users, dimension, 14, seed=0)
    mechanism = MultiBit(epsilon=1.0, dimension=dimension, low=0.0, high=1.0, sample=1)
    dense = sparse.toarray()
    slow, slow_memory = measured(lambda: textbook(dense, 1.0, 1, np.random.default_rng(0)), 1)
    fast, fast_memory = measured(lambda: mechanism.perturb(sparse, SeededBits(0)), 20)
    seconds = {}
    for d in (1_000, 100_000):
        features = random_features(users, d, 14, seed=1)
        wide = MultiBit(epsilon=1.0, dimension=d, low=0.0, high=1.0, sample=1)
        seconds[d] = measured(lambda features=features, wide=wide: wide.perturb(features, SeededBits(0)), 20)[0]
    return {
        "benchmark": "mechanisms",
        "users": users,
        "dimension": dimension,
        "seconds": fast,
        "reference_seconds": slow,
        "speedup": slow / fast,
        "megabytes": fast_memory / 1e6,
        "reference_megabytes": slow_memory / 1e6,
        "memory_ratio": slow_memory / fast_memory,
        "growth_from_1000_to_100000_features": seconds[100_000] / seconds[1_000],
    }


if __name__ == "__main__":
    print(json.dumps(run()))
