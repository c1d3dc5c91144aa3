"""GraphSAGE: the mean over the neighbours beside the node itself."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from privet.graph import Operator, mean_operator
from privet.graph.operators import GraphLike
from privet.models.backbones._base import Backbone, Features, columns_first
from privet.models.calibrated import Normalisation
from privet.models.edges import WeightedEdges

__all__ = ["SAGE", "SAGELayer"]


class SAGELayer(nn.Module):
    """A X W_lᵀ + X W_rᵀ + b with A the mean over neighbours, from :func:`privet.graph.mean_operator`.

    The first term of a node without neighbours is 0. Parameters have the names and shapes of PyG's SAGEConv, so that a
    ``state_dict`` goes from one to the other.

    Args:
        in_channels: The number of input columns.
        out_channels: The number of output columns.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.lin_l = nn.Linear(in_channels, out_channels)
        self.lin_r = nn.Linear(in_channels, out_channels, bias=False)
        columns_first(self.lin_l)
        columns_first(self.lin_r)

    def forward(self, x: Features, operator: Operator | WeightedEdges) -> Tensor:
        return operator @ (x @ self.lin_l.weight.T) + x @ self.lin_r.weight.T + self.lin_l.bias


class SAGE(Backbone):
    """GraphSAGE (Hamilton, Ying and Leskovec, 2017) with the mean aggregator, without self-loops."""

    name: ClassVar[str] = "sage"
    trained_normalisation: ClassVar[Normalisation | None] = "mean"

    @staticmethod
    def operator(graph: GraphLike) -> Operator:
        return mean_operator(graph, self_loops=False)

    @staticmethod
    def layer(in_channels: int, out_channels: int, *, heads: int = 1) -> SAGELayer:
        return SAGELayer(in_channels, out_channels)
