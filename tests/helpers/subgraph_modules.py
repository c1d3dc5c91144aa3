"""Modules over sub-graphs: PyG's layers, own ones, and some that break the proof."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATv2Conv, GCNConv, SAGEConv

from privet.graph.subgraphs import Role
from privet.models.subgraphs.engines import Head
from privet.systems.central.trainer.link_prediction import LinkPrediction

COLUMNS, CLASSES = 5, 3
LINKS = LinkPrediction(np.ones(30, dtype=np.bool_))


class Classes(Head):
    """Cross-entropy over three classes."""

    outputs_needed = 1
    last_role = Role.HEARD

    def losses(self, rows: Tensor, targets: Tensor, roles: Tensor) -> Tensor:
        return functional.cross_entropy(rows[:, 0], targets, reduction="none")

    def random_targets(self, count: int, generator: torch.Generator) -> Tensor:
        return torch.randint(CLASSES, (count,), generator=generator)


class TwoLayers(nn.Module):
    """Two graph layers with something between them."""

    def __init__(self, layer: Callable[[int, int], nn.Module], between: nn.Module | None = None) -> None:
        super().__init__()
        self.first, self.second = layer(COLUMNS, 8), layer(8, CLASSES)
        self.between = nn.Identity() if between is None else between

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.between(functional.elu(self.first(x, edge_index))), edge_index)


class Own(nn.Module):
    """Plain torch: normalised rows, messages added up, a bare matrix and a scale, one layer used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.layer, self.again = nn.LayerNorm(COLUMNS), nn.Linear(COLUMNS, 8), nn.Linear(8, 8)
        self.matrix, self.scale = nn.Parameter(torch.randn(8, CLASSES)), nn.Parameter(torch.ones(CLASSES))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = torch.tanh(self.layer(self.norm(x)))
        hidden = self.again(torch.tanh(self.again(hidden)))
        hidden = hidden.index_add(0, edge_index[1], hidden[edge_index[0]])
        return (hidden @ self.matrix) * self.scale


class Unusual(nn.Module):
    """A parameter within an exponential, for which there is no closed form."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.heat = nn.Linear(COLUMNS, CLASSES), nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        rows = self.layer(x)
        return torch.exp(self.heat) * rows.index_add(0, edge_index[1], rows[edge_index[0]])


def attention(into: int, out: int) -> nn.Module:
    return GATv2Conv(into, out, heads=2, concat=False)


MODULES: dict[str, Callable[[], nn.Module]] = {
    "gcn": lambda: TwoLayers(GCNConv),
    "sage": lambda: TwoLayers(SAGEConv, nn.Dropout(0.4)),
    "gatv2": lambda: TwoLayers(attention),
    "own": Own,
    "unusual": Unusual,
}
