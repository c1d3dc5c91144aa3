"""500 epochs of a two-layer GCN on multi-bit reports of `facebook` (epsilon 1, K = 4, 16 hidden units): lazy and dense.

The first layer is KProp's A^4 X W + b, the second a graph convolution. Lazy keeps the reports (one symbol a user) and
computes A^4 (S W) in every epoch. Dense writes the estimates out as an N x d float32 matrix, propagates it once and
trains on it. Both use the library's training loop, the same reports, splits and initial weights, and run in a process
of their own for each seed, in turn; the time is from the reports to the trained model, and the best over the seeds
counts. Run it on an idle machine: an epoch has dozens of short parallel loops, and where another process holds a core
each of them waits for it (an epoch then takes up to fifty times as long, the one large product of the dense side far
less). Peak memory is the process's, Python and
torch included; `memory_ratio_above_imports` leaves out what the imports took.

The dense side is written twice: `dense` as one would from the estimate (``affine.dense()`` in float64, then float32),
`dense_in_place` with every copy avoided that can be (float32 from the start, scaled in place). The targets compare with
the first; the second is the strictest reference there can be, and is reported beside it, for one seed.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks._common import Target, is_real, judged, known_graph
from privet.data import split_nodes
from privet.graph import LazyFeatures, Operator, gcn_operator, kprop
from privet.mechanisms import MultiBit, SeededBits
from privet.models import TrainingSettings, accuracy, shared, train
from privet.models.backbones.gcn import GCNLayer

EPOCHS, HOPS, HIDDEN, SEEDS = 500, 4, 16, 5
TARGETS = {
    "speed_ratio": Target(10.0),  # twenty epochs hardly repay the propagation, which is made once
    "memory_ratio": Target(0.25, quick=0.25, at_most=True),
    "accuracy_difference": Target(0.005, quick=0.05, at_most=True),
}


def run(quick: bool = False) -> dict[str, Any]:
    """Least seconds, mean peak megabytes and mean accuracy of each side over the seeds, and their ratios."""
    epochs, seeds = (20, 1) if quick else (EPOCHS, SEEDS)
    sides = ("lazy", "dense", "dense_in_place")
    cases: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for seed in range(seeds):
        for side in sides if seed == 0 else sides[:2]:
            cases[side].append(_alone(side, seed, epochs))
    means = {side: {key: fmean(case[key] for case in found) for key in found[0]} for side, found in cases.items()}
    for side, found in cases.items():
        means[side]["mean_seconds"] = means[side]["seconds"]
        means[side]["seconds"] = min(case["seconds"] for case in found)
    lazy, dense, lean = (means[side] for side in sides)
    speed = dense["seconds"] / lazy["seconds"]
    memory = lazy["peak_mb"] / dense["peak_mb"]
    difference = lazy["accuracy"] - dense["accuracy"]
    return {
        "benchmark": "lazy_training",
        "epochs": epochs,
        "seeds": seeds,
        "speed_ratio": round(speed, 2),
        "memory_ratio": round(memory, 3),
        "accuracy_difference": round(difference, 4),
        "data": "facebook" if is_real("facebook") else "synthetic, of facebook's shape",
        **judged(
            {"speed_ratio": speed, "memory_ratio": memory, "accuracy_difference": abs(difference)}, TARGETS, quick
        ),
        "memory_ratio_above_imports": round(lazy["extra_mb"] / dense["extra_mb"], 3),
        "speed_ratio_in_place": round(lean["seconds"] / lazy["seconds"], 2),
        "memory_ratio_in_place": round(lazy["peak_mb"] / lean["peak_mb"], 3),
        "memory_ratio_in_place_above_imports": round(lazy["extra_mb"] / lean["extra_mb"], 3),
        "means": {side: {key: round(value, 4) for key, value in found.items()} for side, found in means.items()},
    }


class TwoLayers(nn.Module):
    """relu(X W + b), X propagated features, then a graph convolution."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(in_channels, HIDDEN)))
        self.bias = nn.Parameter(torch.zeros(HIDDEN))
        self.second = GCNLayer(HIDDEN, out_channels)

    def forward(self, x: Tensor | LazyFeatures, operator: Operator) -> Tensor:
        return shared(self._compute, x, operator)

    def _compute(self, x: Tensor | LazyFeatures, operator: Operator) -> Tensor:
        output: Tensor = self.second(torch.relu(x @ self.weight + self.bias), operator)
        return output


def _alone(side: str, seed: int, epochs: int) -> dict[str, float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, side, seed, epochs).result()


def _measure(side: str, seed: int, epochs: int) -> dict[str, float]:
    torch.set_num_threads(min(2, torch.get_num_threads()))
    imported = _peak_mb()
    graph = known_graph("facebook")
    assert graph.schema is not None
    assert graph.labels is not None
    dimension = graph.schema.dimension
    mechanism = MultiBit(epsilon=1.0, dimension=dimension, low=graph.schema.low, high=graph.schema.high)
    reports = mechanism.perturb(graph.features, SeededBits(seed))
    split, labels = split_nodes(graph, seed=seed), torch.from_numpy(graph.labels)
    masks = [torch.from_numpy(mask) for mask in (split.train, split.validation, split.test)]
    began = time.perf_counter()
    estimate = mechanism.estimate(reports)
    first, second = gcn_operator(graph, self_loops=False), gcn_operator(graph, self_loops=True)
    x: Tensor | LazyFeatures
    match side:
        case "lazy":
            x = kprop(LazyFeatures.from_affine(estimate), first, HOPS)
        case "dense":
            x = kprop(torch.from_numpy(estimate.dense()).float(), first, HOPS)
        case _:
            x = LazyFeatures.from_affine(estimate).dense()
            for _ in range(HOPS):
                x = first @ x
    torch.manual_seed(seed)
    model = TwoLayers(dimension, graph.schema.classes)
    chosen = {
        name: mask.nonzero().squeeze(1) for name, mask in zip(("train", "validation", "test"), masks, strict=True)
    }

    def loss(model: TwoLayers) -> Tensor:
        return nn.functional.cross_entropy(model(x, second)[chosen["train"]], labels[chosen["train"]])

    def score(model: TwoLayers, part: str = "validation") -> float:
        return accuracy(model(x, second)[chosen[part]], labels[chosen[part]])

    train(model, loss, score, TrainingSettings(max_epochs=epochs, learning_rate=0.01))
    seconds = time.perf_counter() - began
    with torch.no_grad():
        tested = score(model, "test")
    return {
        "seconds": seconds,
        "accuracy": tested,
        "peak_mb": _peak_mb(),
        "extra_mb": _peak_mb() - imported,
    }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    print(json.dumps(run()))
