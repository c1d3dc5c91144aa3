"""A mean backbone: the plain average over a node and its neighbours, then one linear map."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from privet.graph import GraphLike, Operator, mean_operator
from privet.models import Backbone, Features

__all__ = ["Mean", "MeanLayer"]


class MeanLayer(nn.Module):
    """A X Wᵀ + b with A the average over a node and its neighbours.

    Args:
        in_channels: The number of input columns.
        out_channels: The number of output columns.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(in_channels, out_channels)))
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, x: Features, operator: Operator) -> Tensor:
        """Map, then average: only N x out_channels numbers are propagated."""
        return operator @ (x @ self.weight) + self.bias


class Mean(Backbone):
    """The average over a node and its neighbours."""

    name = "mean"

    @staticmethod
    def operator(graph: GraphLike) -> Operator:
        """Make the averaging matrix."""
        return mean_operator(graph, self_loops=True)

    @staticmethod
    def layer(in_channels: int, out_channels: int, *, heads: int = 1) -> MeanLayer:
        """Make a layer with fresh weights."""
        return MeanLayer(in_channels, out_channels)
