"""HeterPoisson as published against Algorithm 1, one sub-graph and one gradient at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from privet import HeterPoisson
from privet.data import Graph
from privet.graph.subgraphs import SubgraphBatch
from privet.mechanisms import SeededBits
from privet.models import seeded
from privet.models.clipping import perceptron

HIDDEN, CLIP, BATCH = 6, 0.05, 30


def aggregate(x: Tensor, adjacency: Tensor, centre: int, picked: list[int], backbone: str, multiplier: float) -> Tensor:
    """Appendix A.1's AGG of a sub-graph, then standardised over its own features."""
    degrees = adjacency.sum(1)
    match backbone:
        case "gin":
            h = (1 + 1.0) * x[centre] + sum(x[j] for j in picked)
        case "sage":  # the mean over a public number of neighbours, beside the node's own features
            count = max(1.0, min(multiplier, float(degrees[centre])))
            h = x[centre] + sum(x[j] for j in picked) / count
        case _:
            root = (degrees + 1).rsqrt()
            h = root[centre] ** 2 * x[centre] + sum(root[centre] * root[j] * x[j] for j in picked)
    deviation = h.std(correction=0)
    return (h - h.mean()) / (deviation if deviation > 0 else 1.0)


def algorithm_1(
    batches: list[SubgraphBatch], graph: Graph, first: nn.Module, backbone: str, multiplier: float
) -> Tensor:
    """Lines 3 to 12 without noise: clip each sub-graph's gradient, add, divide by q N, one Adam step a batch."""
    x = torch.from_numpy(graph.features.toarray().astype(np.float32))
    adjacency, labels = torch.from_numpy(graph.adjacency.toarray()), torch.from_numpy(graph.labels)
    parameters = list(first.parameters())
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    for batch in batches:
        total = [torch.zeros_like(each) for each in parameters]
        for b, centre in enumerate(batch.central.tolist()):
            picked = batch.peripheral[batch.owner == b].tolist()
            vector = aggregate(x, adjacency, centre, picked, backbone, multiplier)
            loss = nn.functional.cross_entropy(first(vector), labels[centre])
            gradient = torch.autograd.grad(loss, parameters)
            norm = float(torch.sqrt(sum((each**2).sum() for each in gradient)))
            for place, each in zip(total, gradient, strict=True):
                place += each * min(1.0, CLIP / norm)
        for parameter, each in zip(parameters, total, strict=True):
            parameter.grad = each / BATCH
        optimizer.step()
    return torch.cat([each.detach().flatten() for each in parameters])


@pytest.mark.parametrize(
    ("setting", "backbone", "multiplier"),
    [
        ("inductive", "gin", 1.0),
        ("inductive", "sage", 2.0),  # elsewhere n_u also counts neighbours that need no sampling: not in the paper
        ("inductive", "gcn", 3.0),
        ("inductive", "gin", 4.0),
        ("transductive", "gin", 2.0),
        ("transductive", "gcn", 1.0),
    ],
)
def test_it_is_algorithm_1(lettered: Graph, setting: str, backbone: str, multiplier: float) -> None:
    changes = {"setting": setting, "backbone": backbone, "multiplier": multiplier, "hidden_channels": HIDDEN}
    sizes = {"batch_size": BATCH, "epochs": 1.0, "max_grad_norm": CLIP, "noise_multiplier": 0.0, "seed": 3}
    system = HeterPoisson.as_published(**changes, **sizes)
    view = system.view(lettered)
    sampler, bits = system.sampler(view), SeededBits(3)
    batches = [sampler.draw(bits) for _ in range(system.steps(view.num_nodes))]
    members = lettered.split.train
    for batch in batches:  # line 4 and Algorithm 3: no centre is in another's sub-graph, nobody else is read
        assert members[batch.central].all()
        inside = batch.peripheral[members[batch.peripheral]]
        assert not np.isin(inside, batch.central).any()
        assert setting == "transductive" or len(inside) == len(batch.peripheral)
    with seeded(3):
        first = perceptron(lettered.features.shape[1], HIDDEN, 3, 2)
    expected = algorithm_1(batches, lettered, first, backbone, multiplier)
    found = torch.cat([torch.from_numpy(each).flatten() for each in system.fit(lettered).weights.values()])
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=2e-5)
