"""One private training step of HeterPoisson on `pubmed` at an expected batch of 4,096 sub-graphs.

Ours: vectorised sampling, one aggregated vector a sub-graph, gradient norms from layer inputs and output gradients,
one product a layer for the clipped sum. Reference: the same sampler and network, with sub-graphs padded to the largest
one of the batch and per-example gradients by ``vmap(grad)`` of ``torch.func``, which are clipped and summed. Both then
add the same noise, and give the same clipped sum (checked). Each runs in a process of its own; the least time of
several steps counts. Memory is what the steps added to the process's peak after loading. ``sampling`` compares the time
of the sampler alone at two batch sizes with the sizes of the neighbourhoods that it had to look at: it should grow by
no larger a factor.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from privet.data import load, split_nodes
from privet.graph.subgraphs import SubgraphBatch
from privet.mechanisms import GridSum, SeededBits
from privet.models.clipping import clipped_gradient
from privet.systems.central._training_view import TrainingView
from privet.systems.central.heterpoisson import HeterPoisson

BATCH, CLIP = 4096, 0.5
TARGETS = {"speed_ratio": 20.0, "memory_ratio": 10.0}


def run(quick: bool = False) -> dict[str, Any]:
    """Seconds and megabytes of a step on both sides, and their ratios."""
    batch, repeats = (512, 1) if quick else (BATCH, 3)
    ours, reference = (_alone(side, batch, repeats) for side in ("ours", "vmap"))
    speed = reference["seconds"] / ours["seconds"]
    memory = reference["added_mb"] / max(ours["added_mb"], 1.0)
    return {
        "benchmark": "clipping",
        "batch": batch,
        "speed_ratio": round(speed, 1),
        "memory_ratio": round(memory, 1),
        "targets": TARGETS,
        "met": {"speed_ratio": speed >= TARGETS["speed_ratio"], "memory_ratio": memory >= TARGETS["memory_ratio"]},
        "same_sum": bool(abs(ours["checksum"] - reference["checksum"]) <= 1e-3 * abs(reference["checksum"])),
        "ours": {key: round(value, 4) for key, value in ours.items()},
        "vmap": {key: round(value, 4) for key, value in reference.items()},
        "sampling": _alone("sampling", batch, repeats),
    }


def _alone(side: str, batch: int, repeats: int) -> dict[str, float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, side, batch, repeats).result()


def _measure(side: str, batch: int, repeats: int) -> dict[str, float]:
    torch.set_num_threads(min(2, torch.get_num_threads()))
    graph = load("pubmed")  # from the directory in PRIVET_DATA
    view = TrainingView.of(graph.replace(split=split_nodes(graph, 0.8, 0.0, seed=0)), "benchmark")
    system = HeterPoisson(noise_multiplier=0.0, batch_size=batch, setting="inductive", multiplier=2.0, seed=0)
    if side == "sampling":
        return _sampling(system, view)
    network = system.network(view.features.shape[1], view.classes)
    step = {"ours": _ours, "vmap": _vmapped}[side]
    sampler = system.sampler(view)
    loaded = _peak_mb()
    seconds, checksum = [], 0.0
    for _ in range(repeats):
        began = time.perf_counter()
        total = step(system, network, sampler.draw(SeededBits(1)), view)
        total.with_noise(1.0, SeededBits(2))
        seconds.append(time.perf_counter() - began)
        checksum = float(np.abs(total.exact()).sum())
    return {"seconds": min(seconds), "added_mb": _peak_mb() - loaded, "checksum": checksum}


def _ours(system: HeterPoisson, network: nn.Sequential, batch: SubgraphBatch, view: TrainingView) -> GridSum:
    x = torch.from_numpy(system.inputs(batch, view))
    return clipped_gradient(network, x, torch.from_numpy(view.labels[batch.central]), CLIP)


def _vmapped(system: HeterPoisson, network: nn.Sequential, batch: SubgraphBatch, view: TrainingView) -> GridSum:
    """Padded sub-graphs [B, 1 + largest, d] with a mask, and the gradient of each in memory."""
    counts = np.bincount(batch.owner, minlength=len(batch))
    place = np.arange(len(batch.owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = 1 + int(counts.max(initial=0))
    nodes = np.zeros((len(batch), width), dtype=np.int64)
    mask = np.zeros((len(batch), width), dtype=np.float32)
    nodes[:, 0], mask[:, 0] = batch.central, 1.0 + system.gin_lambda
    nodes[batch.owner, 1 + place], mask[batch.owner, 1 + place] = batch.peripheral, 1.0
    padded = torch.from_numpy(_rows(view, nodes.ravel()).reshape(*nodes.shape, -1))
    target = torch.from_numpy(view.labels[batch.central])
    parameters = {name: value.detach() for name, value in network.named_parameters()}

    def loss(parameters: dict[str, Tensor], features: Tensor, weights: Tensor, label: Tensor) -> Tensor:
        row = weights @ features
        row = (row - row.mean()) / (row.std(correction=0) + 1e-6)
        return nn.functional.cross_entropy(functional_call(network, parameters, (row[None],)), label[None])

    each = vmap(grad(loss), in_dims=(None, 0, 0, 0))(parameters, padded, torch.from_numpy(mask), target)
    norms = torch.stack([value.flatten(1).square().sum(1) for value in each.values()]).sum(0).sqrt()
    factors = (CLIP / norms).clamp(max=1.0)
    sums = [torch.einsum("b,b...->...", factors, value).flatten() for value in each.values()]
    unit = CLIP * 2.0**-37
    return GridSum((torch.cat(sums).double() / unit).long().numpy(), unit)


def _rows(view: TrainingView, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
    return np.asarray(view.features[nodes].toarray(), dtype=np.float32)


def _sampling(system: HeterPoisson, view: TrainingView) -> dict[str, float]:
    """By which factors the seconds and the neighbourhoods grow from one rate to another."""
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
