"""The base class of a backbone: the graph layer that a network stacks, and what it propagates with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, TypeAlias

from torch import Tensor, nn

from privet.graph import LazyFeatures, Operator
from privet.graph.operators import GraphLike
from privet.models.calibrated import Normalisation
from privet.models.edges import Edges, WeightedEdges

__all__ = ["Backbone", "Features", "Propagation", "columns_first"]

Features: TypeAlias = Tensor | LazyFeatures
Propagation: TypeAlias = Operator | Edges | WeightedEdges


class Backbone(ABC):
    """One kind of graph layer. A network of it is ``GNN(..., backbone=name)``; nobody makes an instance.

    A layer is called as ``layer(x, operator)`` with ``x`` a tensor or :class:`privet.graph.LazyFeatures` of N rows and
    returns a tensor of N rows. Apply the linear map before the propagation, A (X Wᵀ): then only N x out_channels
    numbers are propagated, and lazy features are never written out.

    Attributes:
        name: The name that systems, presets and the command line use; the file's, with hyphens for underscores.
        trained_normalisation: The normalisation of a graph whose edge weights are trained with the network (see
            :meth:`privet.models.CalibratedAdjacency.operator`); None if the layer cannot be used on such a graph.
        has_heads: True if a layer's output may be split among several attention heads.
    """

    name: ClassVar[str]
    trained_normalisation: ClassVar[Normalisation | None] = None
    has_heads: ClassVar[bool] = False

    @staticmethod
    @abstractmethod
    def operator(graph: GraphLike) -> Propagation:
        """Make what the layers propagate with, once for each graph.

        Args:
            graph: A graph or a square sparse adjacency matrix.
        """

    @staticmethod
    @abstractmethod
    def layer(in_channels: int, out_channels: int, *, heads: int = 1) -> nn.Module:
        """Make one layer with fresh weights.

        Args:
            in_channels: The number of input columns.
            out_channels: The number of output columns, of all heads together.
            heads: The number of attention heads, which divides ``out_channels``; 1 unless ``has_heads``.
        """


def columns_first(layer: nn.Linear) -> None:
    """Store a layer's weight so that its transpose, which X is multiplied by, lies in one piece.

    A product of sparse X with Wᵀ takes Wᵀ row by row; otherwise each forward and backward pass copies it into that
    order, and for a bag of words W is as large as anything else in training. Shape and values stay.
    """
    layer.weight.data = layer.weight.data.T.contiguous().T
