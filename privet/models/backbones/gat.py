"""GAT: attention over a node and its neighbours, on CSR edges."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from privet.graph import mean_operator
from privet.graph.operators import GraphLike
from privet.models.backbones._base import Backbone, Features, columns_first
from privet.models.edges import Edges

__all__ = ["GAT", "GATLayer"]


class GATLayer(nn.Module):
    """For each head Σ_j α_ij H_j + b with H = X Wᵀ and α_ij = softmax over j of leaky_relu(a_dst · H_i + a_src · H_j).

    The edges include each node's edge to itself (``Edges`` of a self-looped operator). Parameters have the names and
    shapes of PyG's GATConv, so that a ``state_dict`` goes from one to the other.

    The softmax is never formed. With e_ij the scores, m_i = max_j e_ij and w_ij = exp(e_ij - m_i), the output is
    (Σ_j w_ij H_j) / (Σ_j w_ij): one sparse product of w with the columns [H, 1]. As leaky_relu rises,
    m_i = leaky_relu(a_dst · H_i + max_j a_src · H_j) holds exactly in floating point, so that the largest w_ij of
    a row is 1, nothing overflows and the denominator is at least 1. m_i cancels, so it takes no gradient.
    Memory beyond X and H is a few vectors of E numbers for each head.

    Args:
        in_channels: The number of input columns.
        out_channels: The number of output columns of one head.
        heads: The number of attention heads.
        concat: True if the heads' outputs are put side by side, False if they are averaged.
        negative_slope: The slope of leaky_relu below 0.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
    ) -> None:
        super().__init__()
        self.concat, self.negative_slope = concat, negative_slope
        self.lin = nn.Linear(in_channels, heads * out_channels, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_channels))
        self.bias = nn.Parameter(torch.zeros(heads * out_channels if concat else out_channels))
        for weight in (self.lin.weight, self.att_src, self.att_dst):
            nn.init.xavier_uniform_(weight)
        columns_first(self.lin)

    def forward(self, x: Features, edges: Edges) -> Tensor:
        mapped = x @ self.lin.weight.T
        mapped = mapped.view(mapped.shape[0], *self.att_src.shape[1:])
        source, target = (mapped * self.att_src).sum(-1), (mapped * self.att_dst).sum(-1)
        largest = self._score(target.detach() + edges.max(source))
        per_head = zip(target.unbind(1), source.unbind(1), largest.unbind(1), mapped.unbind(1), strict=True)
        heads = [self._attend(edges, *head) for head in per_head]
        return (torch.cat(heads, dim=1) if self.concat else torch.stack(heads).mean(0)) + self.bias

    def _attend(self, edges: Edges, target: Tensor, source: Tensor, largest: Tensor, mapped: Tensor) -> Tensor:
        scores = self._score(edges.endpoint_sum(target, source))
        weights = (scores - largest.contiguous().index_select(0, edges.rows)).exp()
        summed = edges.weighted_sum(weights, torch.cat([mapped, torch.ones_like(mapped[:, :1])], dim=1))
        return summed[:, :-1] / summed[:, -1:].clamp(min=1)  # the clamp is for nodes without any edge

    def _score(self, sums: Tensor) -> Tensor:
        return leaky_relu(sums, self.negative_slope)


class GAT(Backbone):
    """Graph attention (Veličković et al., 2018), with self-loops; heads are concatenated."""

    name: ClassVar[str] = "gat"
    has_heads: ClassVar[bool] = True

    @staticmethod
    def operator(graph: GraphLike) -> Edges:
        return Edges.from_csr(mean_operator(graph, self_loops=True).matrix)

    @staticmethod
    def layer(in_channels: int, out_channels: int, *, heads: int = 1) -> GATLayer:
        return GATLayer(in_channels, out_channels // heads, heads=heads)
