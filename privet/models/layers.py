"""One graph layer each for GCN, GraphSAGE and GIN, with the linear map before the propagation: A (X Wᵀ).

X is a dense tensor or ``LazyFeatures``; either way only N x out_channels numbers are propagated and the
N x in_channels matrix is never needed. Parameters have the names and shapes of PyG's GCNConv, SAGEConv and
GINConv, so that a ``state_dict`` goes from one to the other. A is an ``Operator``, or ``WeightedEdges`` where the
graph itself is trained.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from privet.graph import LazyFeatures, Operator
from privet.models.edges import WeightedEdges

__all__ = ["Features", "GCNLayer", "GINLayer", "SAGELayer"]

Features = Tensor | LazyFeatures


class GCNLayer(nn.Module):
    """A X Wᵀ + b with A = D^(-1/2) (adjacency + I) D^(-1/2), from ``gcn_operator``."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))
        nn.init.xavier_uniform_(self.lin.weight)

    def forward(self, x: Features, operator: Operator | WeightedEdges) -> Tensor:
        return operator @ (x @ self.lin.weight.T) + self.bias


class SAGELayer(nn.Module):
    """A X W_lᵀ + X W_rᵀ + b with A the mean over neighbours, from ``mean_operator``; no neighbours, no first term.

    Both linear maps share one product with X.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.lin_l = nn.Linear(in_channels, out_channels)
        self.lin_r = nn.Linear(in_channels, out_channels, bias=False)

    def forward(self, x: Features, operator: Operator | WeightedEdges) -> Tensor:
        weights = torch.cat([self.lin_l.weight, self.lin_r.weight])
        neighbours, own = (x @ weights.T).chunk(2, dim=1)
        return operator @ neighbours + own + self.lin_l.bias


class GINLayer(nn.Module):
    """relu((1 + ε) X W_0ᵀ + A X W_0ᵀ + b_0) W_2ᵀ + b_2 with A the adjacency, from ``sum_operator``.

    This is h((1 + ε) X + A X) for the perceptron h of two layers: its first map commutes with the propagation.
    """

    eps: Tensor

    def __init__(self, in_channels: int, out_channels: int, *, eps: float = 0.0, train_eps: bool = False) -> None:
        super().__init__()
        self.nn = nn.Sequential(nn.Linear(in_channels, out_channels), nn.ReLU(), nn.Linear(out_channels, out_channels))
        if train_eps:
            self.eps = nn.Parameter(torch.tensor([eps]))
        else:
            self.register_buffer("eps", torch.tensor([eps]))

    def forward(self, x: Features, operator: Operator | WeightedEdges) -> Tensor:
        first, rest = cast(nn.Linear, self.nn[0]), self.nn[1:]
        mapped = x @ first.weight.T
        return cast(Tensor, rest((1 + self.eps) * mapped + operator @ mapped + first.bias))
