"""One private training step of HeterPoisson at an expected batch of 4,096 sub-graphs, beside three other ways to do it.

A step is sampling, the examples, the clipped sum and its noise. Ours is the program's own: sparse features are not
multiplied out, and sub-graphs that no coin changes were aggregated before. Its time is that of the processor, the least
of several steps, as is that of its references. ``once`` is what happens before the first step.

- ``float64``: the step as it was before sums were integers, for the price of exactness: the batch is aggregated and
  standardised densely, the clipped sum is one product of doubles a layer, and its noise is numpy's. At most 1.3.
- ``dense``: today's integer sums over dense examples, on wide and sparse features. At least 10 times as slow.
- ``vmap``: per-example gradients by ``vmap(grad)`` of ``torch.func`` on sub-graphs padded to the largest one of the
  batch, which are clipped and summed, on `pubmed` with sampled neighbours. At least 20 times as slow.

All give the same clipped sums (checked). Each runs in a process of its own. Memory is what the steps added to the
process's peak after loading. ``sampling`` compares the time of the sampler alone at two batch sizes with the sizes of
the neighbourhoods that it had to look at: it should grow by no larger a factor.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from benchmarks._common import Target, judged, known_graph
from privet.data import split_nodes
from privet.graph.subgraphs import SubgraphBatch
from privet.mechanisms import GridSum, SeededBits
from privet.models.clipping import clipped_gradient
from privet.models.clipping.rows import SparseRows
from privet.systems.central._training_view import TrainingView
from privet.systems.central.heterpoisson import HeterPoisson

BATCH, CLIP, SIGMA = 4096, 0.5, 1.5
TARGETS = {
    "float64_ratio": Target(1.3, quick=1.3, at_most=True),
    "dense_ratio": Target(10.0, quick=5.0),
    "vmap_ratio": Target(20.0, quick=8.0),
    "vmap_memory_ratio": Target(10.0, quick=4.0),
}
PAIRS = [
    ("float64", "pubmed"),
    ("float64", "amazon"),
    ("dense", "blogcatalog"),
    ("dense", "flickr"),
    ("vmap", "pubmed"),
]


def run(quick: bool = False) -> dict[str, Any]:
    """Return seconds and megabytes of a step on both sides, and their ratios."""
    batch, repeats = (512, 2) if quick else (BATCH, 7)
    found: dict[str, Any] = {"benchmark": "clipping", "batch": batch, "ratios": {}}
    targets = {}
    same = True
    for side, name in PAIRS:
        sampled = side == "vmap"
        ours, other = (_alone(each, name, batch, repeats, sampled) for each in ("ours", side))
        ratios = {f"{side}_ratio": other["seconds"] / ours["seconds"]}
        if side == "float64":
            ratios = {"float64_ratio": ours["seconds"] / other["seconds"]}
        if side == "vmap":
            ratios["vmap_memory_ratio"] = other["added_mb"] / max(ours["added_mb"], 1.0)
        for kind, ratio in ratios.items():
            found["ratios"][f"{kind} {name}"], targets[f"{kind} {name}"] = round(ratio, 2), TARGETS[kind]
        same &= abs(ours["checksum"] - other["checksum"]) <= 1e-2 * abs(other["checksum"])
        found[f"{side} {name}"] = {"ours": _short(ours), side: _short(other)}
    found |= judged(found["ratios"], targets, quick)
    return found | {"same_sum": bool(same), "sampling": _alone("sampling", "pubmed", batch, repeats, True)}


def _short(figures: dict[str, float]) -> dict[str, float]:
    return {key: round(value, 4) for key, value in figures.items()}


def _alone(side: str, name: str, batch: int, repeats: int, sampled: bool) -> dict[str, float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, side, name, batch, repeats, sampled).result()


def _measure(side: str, name: str, batch: int, repeats: int, sampled: bool) -> dict[str, float]:
    torch.set_num_threads(1)
    graph = known_graph(name)
    view = TrainingView.of(graph.replace(split=split_nodes(graph, 0.8, 0.0, seed=0)), "benchmark")
    kind: dict[str, Any] = {"setting": "inductive", "multiplier": 2.0} if sampled else {}
    system = HeterPoisson(noise_multiplier=0.0, batch_size=batch, seed=0, **kind)
    if side == "sampling":
        return _sampling(system, view)
    network = system.network(view.features.shape[1], view.classes)
    loaded, began = _peak_mb(), time.process_time()
    step = {"ours": _ours, "dense": _dense, "float64": _float64, "vmap": _vmap}[side](system, network, view)
    once, seconds, checksum = time.process_time() - began, [], 0.0
    for _ in range(repeats):
        began = time.process_time()
        total = step()
        seconds.append(time.process_time() - began)
        checksum = float(np.abs(total.exact() if isinstance(total, GridSum) else total).sum())
    return {"seconds": min(seconds), "once": once, "added_mb": _peak_mb() - loaded, "checksum": checksum}


Step = Callable[[], GridSum | NDArray[np.float64]]
"""Make one step, and return its sum without noise; the noisy one is made and thrown away."""


def _ours(system: HeterPoisson, network: nn.Sequential, view: TrainingView) -> Step:
    """Return the program's step."""
    batch = system.batches(view, SeededBits(1))

    def step() -> GridSum | NDArray[np.float64]:
        drawn, labels = batch()
        x = drawn if isinstance(drawn, SparseRows) else torch.from_numpy(drawn)
        return _noisy(clipped_gradient(network, x, torch.from_numpy(labels), CLIP))

    return step


def _noisy(total: GridSum) -> GridSum:
    total.with_noise(SIGMA, SeededBits(2))
    return total


def _drawn(system: HeterPoisson, view: TrainingView) -> Callable[[], SubgraphBatch]:
    return partial(system.sampler(view).draw, SeededBits(1))


def _dense(system: HeterPoisson, network: nn.Sequential, view: TrainingView) -> Step:
    """Return the step over dense examples."""
    draw = _drawn(system, view)

    def step() -> GridSum | NDArray[np.float64]:
        batch = draw()
        x = torch.from_numpy(system.inputs(batch, view))
        return _noisy(clipped_gradient(network, x, torch.from_numpy(view.labels[batch.central]), CLIP))

    return step


def _float64(system: HeterPoisson, network: nn.Sequential, view: TrainingView) -> Step:
    """Return the step in doubles."""
    draw, generator = _drawn(system, view), np.random.default_rng(2)

    def step() -> GridSum | NDArray[np.float64]:
        batch = draw()
        inputs, outputs, hidden = [], [], torch.from_numpy(system.inputs(batch, view))
        for layer in network:
            inputs += [hidden] if isinstance(layer, nn.Linear) else []
            hidden = layer(hidden)
            outputs += [hidden] if isinstance(layer, nn.Linear) else []
        losses = nn.functional.cross_entropy(hidden, torch.from_numpy(view.labels[batch.central]), reduction="none")
        slopes = torch.autograd.grad(losses.sum(), outputs)
        norms = sum(_squares(g) * (_squares(h) + 1) for h, g in zip(inputs, slopes, strict=True)) ** 0.5
        factors = (CLIP / norms).clamp(max=1.0)[:, None]
        sums = []
        for h, g in zip(inputs, slopes, strict=True):
            scaled = g * factors
            sums += [(scaled.T @ h.detach().double()).flatten(), scaled.sum(0)]
        total = torch.cat(sums).numpy()
        np.asarray(total + SIGMA * generator.standard_normal(len(total)))
        return total

    return step


def _squares(rows: Tensor) -> Tensor:
    return torch.linalg.vector_norm(rows.detach(), dim=1, dtype=torch.float64).square()


def _vmap(system: HeterPoisson, network: nn.Sequential, view: TrainingView) -> Step:
    """Return the step with padded sub-graphs [B, 1 + largest, d] and a mask, and the gradient of each in memory."""
    draw = _drawn(system, view)

    def loss(parameters: dict[str, Tensor], features: Tensor, weights: Tensor, label: Tensor) -> Tensor:
        row = weights @ features
        row = (row - row.mean()) / (row.std(correction=0) + 1e-6)
        return nn.functional.cross_entropy(functional_call(network, parameters, (row[None],)), label[None])

    def step() -> GridSum | NDArray[np.float64]:
        batch = draw()
        counts = np.bincount(batch.owner, minlength=len(batch))
        place = np.arange(len(batch.owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        width = 1 + int(counts.max(initial=0))
        nodes = np.zeros((len(batch), width), dtype=np.int64)
        mask = np.zeros((len(batch), width), dtype=np.float32)
        nodes[:, 0], mask[:, 0] = batch.central, 1.0 + system.gin_lambda
        nodes[batch.owner, 1 + place], mask[batch.owner, 1 + place] = batch.peripheral, 1.0
        rows = np.asarray(view.features[nodes.ravel()].toarray(), dtype=np.float32)
        padded, target = torch.from_numpy(rows.reshape(*nodes.shape, -1)), torch.from_numpy(view.labels[batch.central])
        parameters = {name: value.detach() for name, value in network.named_parameters()}
        each = vmap(grad(loss), in_dims=(None, 0, 0, 0))(parameters, padded, torch.from_numpy(mask), target)
        norms = torch.stack([value.flatten(1).square().sum(1) for value in each.values()]).sum(0).sqrt()
        factors = (CLIP / norms).clamp(max=1.0)
        sums = [torch.einsum("b,b...->...", factors, value).flatten() for value in each.values()]
        unit = CLIP * 2.0**-37
        return _noisy(GridSum((torch.cat(sums).double() / unit).long().numpy(), unit))

    return step


def _sampling(system: HeterPoisson, view: TrainingView) -> dict[str, float]:
    """Return by which factors the seconds and the neighbourhoods grow from one rate to another."""
    found = []
    for size in (system.batch_size // 4, system.batch_size * 2):
        sampler = HeterPoisson(noise_multiplier=0.0, batch_size=size, multiplier=2.0).sampler(view)
        sampler.draw(SeededBits(0))  # makes the tables
        bits, seconds = SeededBits(1), []
        for _ in range(50):
            began = time.perf_counter()
            batch = sampler.draw(bits)
            seconds.append(time.perf_counter() - began)
        looked_at = int(view.graph.degrees[batch.central].sum())
        found.append((min(seconds), looked_at))
    (fast, few), (slow, many) = found
    return {
        "seconds_ratio": round(slow / fast, 2),
        "neighbourhoods_ratio": round(many / few, 2),
        "seconds": round(slow, 5),
    }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    print(json.dumps(run()))
