"""GIN: the plain sum over the neighbours, and a perceptron of two layers behind it."""

from __future__ import annotations

from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from privet.graph import Operator, sum_operator
from privet.graph.operators import GraphLike
from privet.models.backbones._base import Backbone, Features, columns_first
from privet.models.edges import WeightedEdges

__all__ = ["GIN", "GINLayer"]


class GINLayer(nn.Module):
    """relu((1 + ε) X W_0ᵀ + A X W_0ᵀ + b_0) W_2ᵀ + b_2 with A the adjacency, from :func:`privet.graph.sum_operator`.

    This is h((1 + ε) X + A X) for the perceptron h of two layers: its first map commutes with the propagation.
    Parameters have the names and shapes of PyG's GINConv, so that a ``state_dict`` goes from one to the other.

    Args:
        in_channels: The number of input columns.
        out_channels: The number of output columns, and the width of the perceptron.
        eps: The weight ε that a node has beyond that of a neighbour.
        train_eps: True if ε is trained.
    """

    eps: Tensor

    def __init__(self, in_channels: int, out_channels: int, *, eps: float = 0.0, train_eps: bool = False) -> None:
        super().__init__()
        self.nn = nn.Sequential(nn.Linear(in_channels, out_channels), nn.ReLU(), nn.Linear(out_channels, out_channels))
        columns_first(cast(nn.Linear, self.nn[0]))
        if train_eps:
            self.eps = nn.Parameter(torch.tensor([eps]))
        else:
            self.register_buffer("eps", torch.tensor([eps]))

    def forward(self, x: Features, operator: Operator | WeightedEdges) -> Tensor:
        first, rest = cast(nn.Linear, self.nn[0]), self.nn[1:]
        mapped = x @ first.weight.T
        return cast(Tensor, rest((1 + self.eps) * mapped + operator @ mapped + first.bias))


class GIN(Backbone):
    """Graph isomorphism network (Xu, Hu, Leskovec and Jegelka, 2019) with ε = 0."""

    name: ClassVar[str] = "gin"

    @staticmethod
    def operator(graph: GraphLike) -> Operator:
        return sum_operator(graph)

    @staticmethod
    def layer(in_channels: int, out_channels: int, *, heads: int = 1) -> GINLayer:
        return GINLayer(in_channels, out_channels)
