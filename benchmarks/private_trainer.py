"""One step of PrivateTrainer with GCNConv and with SAGEConv on `pubmed` at an expected batch of 4,096 sub-graphs.

Ours: the work for one sub-graph, mapped over chunks of fixed shape, norms from layer inputs and output gradients, sums
on the integer grid. References, with the same sub-graphs and modules: ``vmap(grad)`` of ``torch.func``
over all sub-graphs of one size at once, without any padding, and a loop of plain backward passes over 200 sub-graphs,
whose time is scaled to the batch. All clip, sum and add the same noise, and give the same clipped sum (checked for
vmap). Each runs in a process of its own with one thread; the least processor time of several steps counts, so that
other programs do not. Memory is what the steps added to the process's peak after loading.

The first step also tries the lanes of the shapes that it meets. ``fixed_seconds`` is what a later step costs whatever
the batch, from a batch of 512 and one of 4,096: the line through both at a batch of 0.
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
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy, elu, layer_norm

from benchmarks._common import Target, judged, known_graph
from privet.data import split_nodes
from privet.mechanisms import GridSum, SeededBits
from privet.models.subgraphs import Chunk, chunks_of
from privet.systems.central.trainer import PrivateTrainer

BATCH, SMALL_BATCH, CLIP, LOOPED = 4096, 512, 0.5, 200
TARGETS = {"gcn": Target(3.0, quick=2.0), "sage": Target(3.0, quick=2.0)}


class Network(nn.Module):
    """A graph layer of 128 units and a linear one, over standardised features."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        from torch_geometric.nn import GCNConv, SAGEConv

        self.conv, self.out = {"gcn": GCNConv, "sage": SAGEConv}[kind](500, 128), nn.Linear(128, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return the classes' scores of all nodes."""
        found: Tensor = self.out(elu(self.conv(layer_norm(x, x.shape[1:]), edge_index)))
        return found


def run(quick: bool = False) -> dict[str, Any]:
    """Seconds and megabytes of a step on each side, and their ratios."""
    batch, repeats = (SMALL_BATCH, 1) if quick else (BATCH, 3)
    found: dict[str, Any] = {"benchmark": "private_trainer", "batch": batch}
    for kind in TARGETS:
        ours, mapped, looped = (_alone(kind, side, batch, repeats) for side in ("ours", "vmap", "loop"))
        speed = mapped["seconds"] / ours["seconds"]
        found[kind] = {
            "speed_ratio": round(speed, 1),
            "loop_ratio": round(looped["seconds"] / ours["seconds"], 1),
            "memory_ratio": round(mapped["added_mb"] / max(ours["added_mb"], 1.0), 1),
            "same_sum": bool(abs(ours["checksum"] - mapped["checksum"]) <= 1e-2 * abs(mapped["checksum"])),
            "ours": {key: round(value, 4) for key, value in ours.items()},
            "vmap": {key: round(value, 4) for key, value in mapped.items()},
        }
        if not quick:
            small = _alone(kind, "ours", SMALL_BATCH, repeats)
            slope = (ours["seconds"] - small["seconds"]) / (ours["examples"] - small["examples"])
            found[kind]["small_batch"] = {key: round(value, 4) for key, value in small.items()}
            found[kind]["fixed_seconds"] = round(small["seconds"] - slope * small["examples"], 4)
    return found | judged({kind: found[kind]["speed_ratio"] for kind in TARGETS}, TARGETS, quick)


def _alone(kind: str, side: str, batch: int, repeats: int) -> dict[str, float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, kind, side, batch, repeats).result()


def _measure(kind: str, side: str, batch_size: int, repeats: int) -> dict[str, float]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    graph = known_graph("pubmed")
    graph = graph.replace(split=split_nodes(graph, 0.8, 0.0, seed=0))
    trainer = PrivateTrainer(Network(kind), graph, noise_multiplier=4.0, batch_size=batch_size, seed=0)
    view = trainer._view()
    batch = trainer.settings.sampler(view).draw(SeededBits(1))
    targets, keys = graph.labels[batch.central], np.zeros(len(batch), dtype=np.int64)
    loaded, seconds, checksum, first = _peak_mb(), [], 0.0, 0.0
    if side == "ours":
        began = time.process_time()
        trainer._examples.clipped_sum(batch, view.features, targets, keys, CLIP)  # tests the lanes
        first = time.process_time() - began
    for _ in range(repeats):
        began = time.process_time()
        if side == "ours":
            total = trainer._examples.clipped_sum(batch, view.features, targets, keys, CLIP)
        else:
            chunks = chunks_of(batch, view.features, targets, keys, lambda slots, edges: len(batch))
            step = {"vmap": _vmapped, "loop": _looped}[side]
            total = step(trainer.module, [_trimmed(chunk) for chunk in chunks])
        total.with_noise(1.0, SeededBits(2))
        seconds.append(time.process_time() - began)
        checksum = float(np.abs(total.exact()).sum())
    scale = len(batch) / LOOPED if side == "loop" else 1.0
    return {
        "examples": len(batch),
        "first_seconds": first,
        "seconds": min(seconds) * scale,
        "added_mb": _peak_mb() - loaded,
        "checksum": checksum,
    }


def _trimmed(chunk: Chunk) -> tuple[Tensor, Tensor]:
    """Return the features [sub-graphs, nodes, columns] and the labels of a chunk, without empty lanes."""
    count = int(chunk.is_example.sum())
    return chunk.x[:count], chunk.targets[:count]


def _star(nodes: int) -> Tensor:
    return torch.stack([torch.arange(1, nodes), torch.zeros(nodes - 1, dtype=torch.int64)])


def _vmapped(module: nn.Module, groups: list[tuple[Tensor, Tensor]]) -> GridSum:
    """Write out the gradient of each sub-graph of a size, clip and sum."""
    parameters = {name: value.detach() for name, value in module.named_parameters()}
    total = torch.zeros(sum(value.numel() for value in parameters.values()), dtype=torch.float64)
    for x, targets in groups:
        star = _star(x.shape[1])

        def loss(parameters: dict[str, Tensor], x: Tensor, target: Tensor, star: Tensor = star) -> Tensor:
            return cross_entropy(functional_call(module, parameters, (x, star))[:1], target[None])

        each = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, targets)
        norms = torch.stack([value.flatten(1).square().sum(1) for value in each.values()]).sum(0).sqrt()
        factors = (CLIP / norms).clamp(max=1.0)
        total += torch.cat([torch.einsum("b,b...->...", factors, value).flatten() for value in each.values()])
    return GridSum((total / (CLIP * 2.0**-37)).long().numpy(), CLIP * 2.0**-37)


def _looped(module: nn.Module, groups: list[tuple[Tensor, Tensor]]) -> GridSum:
    """One backward pass for each of the first sub-graphs, spread over all sizes."""
    examples = [(x, target) for rows, targets in groups for x, target in zip(rows, targets, strict=True)]
    chosen = [examples[place] for place in np.linspace(0, len(examples) - 1, LOOPED).astype(int)]
    total = torch.zeros(sum(value.numel() for value in module.parameters()), dtype=torch.float64)
    for x, target in chosen:
        loss = cross_entropy(module(x, _star(len(x)))[:1], target[None])
        flat = torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(module.parameters()))])
        total += flat * (CLIP / flat.norm()).clamp(max=1.0)
    return GridSum((total / (CLIP * 2.0**-37)).long().numpy(), CLIP * 2.0**-37)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    print(json.dumps(run()))
