"""The layout of weights in memory: first layers of wide, sparse inputs read them column by column."""

from __future__ import annotations

from torch import nn

__all__ = ["columns_first"]


def columns_first(layer: nn.Linear) -> None:
    """Store a layer's weight so that its transpose, which X is multiplied by, lies in one piece.

    A product of sparse X with Wᵀ takes Wᵀ row by row; otherwise each forward and backward pass copies it into that
    order, and for a bag of words W is as large as anything else in training. Shape and values stay.

    Args:
        layer: The layer.
    """
    layer.weight.data = layer.weight.data.T.contiguous().T
