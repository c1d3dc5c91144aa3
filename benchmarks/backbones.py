"""Graph layers beside PyG's, and the lazy path beside dense features for a GAT's first layer and for link scores.

Random reports of the size of `facebook`: 22,470 nodes, 342,000 adjacency entries, 4,714 features of which each node
reports 10, propagated over 4 hops. Lazy: A^4 (S W) in every epoch. Dense: A^4 S once, then a dense matrix product in
every epoch. An epoch is a forward and a backward pass. Each case runs in a process of its own, whose peak memory
above what the imports took is reported. Ratios above 1 mean that the reference takes more.
"""

from __future__ import annotations

import json
import multiprocessing
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from privet.graph import LazyFeatures, gcn_operator
from privet.mechanisms.core.affine import AffineFeatures
from privet.models import (
    BACKBONES,
    MLP,
    Edges,
    Features,
    HadamardLinkScorer,
    pairwise_loss,
)

NODES, FEATURES, REPORTED, ENTRIES, HOPS = 22_470, 4_714, 10, 342_000, 4
HIDDEN, LINK_HIDDEN, HEADS = 16, 64, 4
LAYERS, WHOSE = ("gcn", "sage", "gin", "gat"), ("ours", "pyg")
TASKS, UNITS = ("gat", "link"), ("seconds", "peak_mb")


def run(quick: bool = False) -> dict[str, Any]:
    """Seconds of the fastest epoch and peak megabytes of every case, and the ratios of reference to ours."""
    epochs = 3 if quick else 10
    cases = ("gat_lazy", "gat_dense", "link_lazy", "link_dense", *(f"{name}_{by}" for name in LAYERS for by in WHOSE))
    figures: dict[str, Any] = {case: _alone(case, epochs) for case in cases}
    ratios = {
        f"{task}_{unit}": _ratio(figures, f"{task}_dense", f"{task}_lazy", unit) for task in TASKS for unit in UNITS
    }
    against_pyg = {
        f"{name}_{unit}": _ratio(figures, f"{name}_pyg", f"{name}_ours", unit) for name in LAYERS for unit in UNITS
    }
    return {"benchmark": "backbones", "dense_to_lazy": ratios, "pyg_to_ours": against_pyg, "cases": figures}


def _ratio(figures: dict[str, Any], reference: str, ours: str, unit: str) -> float:
    return round(figures[reference][unit] / figures[ours][unit], 2)


def _alone(case: str, epochs: int) -> dict[str, float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, case, epochs).result()


def _measure(case: str, epochs: int) -> dict[str, float]:
    torch.set_num_threads(min(2, torch.get_num_threads()))
    torch.manual_seed(0)
    task, how = case.split("_")
    if how == "pyg":
        _pyg()  # an import, not part of what is measured
    imported = _peak_mb()
    began = time.perf_counter()
    epoch, parameters = {"gat": _gat, "link": _link}[task](how) if how in ("lazy", "dense") else _layer(task, how)
    prepared = time.perf_counter() - began
    seconds = []
    for _ in range(epochs):
        began = time.perf_counter()
        torch.autograd.grad(epoch(), parameters)
        seconds.append(time.perf_counter() - began)
    return {
        "seconds": round(min(seconds), 5),
        "preparation_seconds": round(prepared, 3),
        "peak_mb": round(_peak_mb() - imported, 1),
    }


Epoch = tuple[Callable[[], Tensor], list[Tensor]]


def _gat(how: str) -> Epoch:
    adjacency = _adjacency()
    layer, edges = BACKBONES["gat"].layer(FEATURES, HIDDEN, heads=HEADS), BACKBONES["gat"].operator(adjacency)
    x = _features(adjacency, how)
    return lambda: layer(x, edges).square().mean(), list(layer.parameters())


def _link(how: str) -> Epoch:
    """Encoder, Hadamard products and pairwise loss; the dense case writes the edge vectors out."""
    adjacency = _adjacency()
    rows, columns = adjacency.tocoo().coords
    links = torch.from_numpy(np.stack([rows, columns])[:, rows < columns].astype(np.int64))
    others = torch.randint(NODES, links.shape)
    encoder, scorer = MLP(FEATURES, LINK_HIDDEN, LINK_HIDDEN), HadamardLinkScorer(LINK_HIDDEN)
    x = _features(adjacency, how)
    sorted_pairs = [Edges.from_pairs(pairs, NODES) for pairs in (links, others)]

    def lazy() -> Tensor:
        z = encoder(x)
        return pairwise_loss(*(scorer(z, pairs) for pairs in sorted_pairs))

    def dense() -> Tensor:
        z = encoder(x)
        vectors = (z[pairs[0]] * z[pairs[1]] for pairs in (links, others))
        return pairwise_loss(*(vector @ scorer.weight + scorer.bias for vector in vectors))

    return {"lazy": lazy, "dense": dense}[how], [*encoder.parameters(), scorer.weight]


def _layer(name: str, whose: str) -> Epoch:
    """A layer of 128 to 16 channels with a gradient in its input too, as inside a network."""
    adjacency, channels = _adjacency(), 128
    x = torch.randn(NODES, channels, requires_grad=True)
    layer: nn.Module
    if whose == "ours":
        kind = BACKBONES[name]
        layer = kind.layer(channels, HIDDEN, heads=HEADS if kind.has_heads else 1)
        operator: Any = kind.operator(adjacency)
    else:
        conv = _pyg()
        perceptron = nn.Sequential(nn.Linear(channels, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN))
        layer = {
            "gcn": lambda: conv.GCNConv(channels, HIDDEN),
            "sage": lambda: conv.SAGEConv(channels, HIDDEN),
            "gin": lambda: conv.GINConv(perceptron),
            "gat": lambda: conv.GATConv(channels, HIDDEN // HEADS, heads=HEADS),
        }[name]()
        operator = torch.from_numpy(np.stack(adjacency.tocoo().coords[::-1]).astype(np.int64))
    return lambda: layer(x, operator).square().mean(), [x, *layer.parameters()]


def _adjacency() -> sp.csr_array:
    """A symmetric random graph whose expected degrees fall like a power law."""
    rng = np.random.default_rng(0)
    weights = (1 + np.arange(NODES)) ** -0.5
    ends = rng.choice(NODES, size=(2, ENTRIES), p=weights / weights.sum())
    ends = np.unique(np.sort(ends[:, ends[0] != ends[1]], axis=0), axis=1)
    ends = rng.permutation(ends, axis=1)[:, : ENTRIES // 2]
    upper = sp.csr_array((np.ones(ends.shape[1]), tuple(ends)), shape=(NODES, NODES))
    return sp.csr_array(upper + upper.T)


def _features(adjacency: sp.csr_array, how: str) -> Features:
    rng = np.random.default_rng(1)
    columns = rng.integers(FEATURES, size=NODES * REPORTED)
    signs = rng.choice([-1.0, 1.0], size=columns.size)
    symbols = sp.csr_array((signs, columns, np.arange(0, columns.size + 1, REPORTED)), shape=(NODES, FEATURES))
    affine = AffineFeatures(symbols, np.full(FEATURES, 3.0), np.full(FEATURES, 0.5))
    lazy = LazyFeatures.from_affine(affine).propagate(gcn_operator(adjacency, self_loops=False), HOPS)
    return lazy if how == "lazy" else lazy.dense()


def _pyg() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import torch_geometric.nn
    return torch_geometric.nn


def _peak_mb() -> float:
    """This process's highest resident memory so far (from Linux; a child's rusage would include its parent's)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    print(json.dumps(run()))
