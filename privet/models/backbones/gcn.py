"""GCN: the symmetrically normalised sum over a node and its neighbours."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from privet.graph import Operator, gcn_operator
from privet.graph.operators import GraphLike
from privet.models.backbones._base import Backbone, Features, columns_first
from privet.models.calibrated import Normalisation
from privet.models.edges import WeightedEdges

__all__ = ["GCN", "GCNLayer"]


class GCNLayer(nn.Module):
    """A X Wᵀ + b with A = D^(-1/2) (adjacency + I) D^(-1/2), from :func:`privet.graph.gcn_operator`.

    Parameters have the names and shapes of PyG's GCNConv, so that a ``state_dict`` goes from one to the other.

    Args:
        in_channels: The number of input columns.
        out_channels: The number of output columns.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))
        nn.init.xavier_uniform_(self.lin.weight)
        columns_first(self.lin)

    def forward(self, x: Features, operator: Operator | WeightedEdges) -> Tensor:
        return operator @ (x @ self.lin.weight.T) + self.bias


class GCN(Backbone):
    """Graph convolution (Kipf and Welling, 2017), with self-loops."""

    name: ClassVar[str] = "gcn"
    trained_normalisation: ClassVar[Normalisation | None] = "gcn"

    @staticmethod
    def operator(graph: GraphLike) -> Operator:
        return gcn_operator(graph, self_loops=True)

    @staticmethod
    def layer(in_channels: int, out_channels: int, *, heads: int = 1) -> GCNLayer:
        return GCNLayer(in_channels, out_channels)
