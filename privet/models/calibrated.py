"""A graph that is trained with the network: a vector of non-negative weights over given edges.

Solitude (eq. 14) minimises, over the weights W of a network and a calibrated adjacency A of the noisy adjacency A',

    loss(W, A) + fidelity |A - A'|_F^2 + sparsity |A|_1,        A >= 0.

The paper holds A as N x N numbers. Outside the support of A' the two penalties are fidelity a^2 + sparsity a, least at
a = 0 where their slope is ``sparsity``: an entry leaves 0 only if it lowers the training loss faster than that. So the
sum here is the dense one restricted to reported edges, and equal to it wherever no other entry would have moved.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from privet.models.edges import Edges, WeightedEdges

__all__ = ["CalibratedAdjacency", "Normalisation"]

Normalisation: TypeAlias = Literal["gcn", "mean", "symmetric"]


class CalibratedAdjacency(nn.Module):
    """A trained adjacency A over the edges of a noisy one, at first equal to it; ``values`` are its entries by row.

    Args:
        noisy: The noisy adjacency A'.
    """

    noisy: Tensor

    def __init__(self, noisy: sp.csr_array) -> None:
        super().__init__()
        matrix = sp.csr_array(noisy)
        matrix.sort_indices()
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        pairs = torch.from_numpy(np.stack([rows, matrix.indices]).astype(np.int64))
        self.edges = Edges.from_pairs(pairs, matrix.shape[0])
        loops = torch.arange(matrix.shape[0]).expand(2, -1)
        self._looped = Edges.from_pairs(torch.cat([pairs, loops], dim=1), matrix.shape[0])
        self._order = torch.argsort(self._looped.rank.long())
        self.register_buffer("noisy", torch.from_numpy(matrix.data.astype(np.float32)))
        self.values = nn.Parameter(self.noisy.clone())

    def penalty(self, fidelity: float, sparsity: float) -> Tensor:
        """Compute fidelity |A - A'|_F^2 + sparsity |A|_1; A is not negative, so that its norm is its sum.

        Args:
            fidelity: The weight of the distance from A'.
            sparsity: The weight of the entries' sum.
        """
        return fidelity * (self.values - self.noisy).square().sum() + sparsity * self.values.sum()

    def operator(self, normalisation: Normalisation) -> WeightedEdges:
        """Make an operator that is differentiable in the values, D the row sums.

        As in fixed operators a node whose weights are all 0 sends and receives nothing.

        Args:
            normalisation: D^-1/2 (A + I) D^-1/2 (``"gcn"``), D^-1 A (``"mean"``) or D^-1/2 A D^-1/2 (``"symmetric"``).
        """
        edges, values = self.edges, cast(Tensor, self.values)
        if normalisation == "gcn":
            edges, values = self._looped, torch.cat([values, values.new_ones(edges.num_nodes)])[self._order]
        degrees = edges.weighted_sum(values, values.new_ones(edges.num_nodes, 1)).squeeze(1)
        power = 1.0 if normalisation == "mean" else 0.5
        # Powers as exponentials of logarithms: their products over edges are sums, whose gradient needs no scatter.
        scale = torch.where(degrees > 0, -power * torch.where(degrees > 0, degrees, 1.0).log(), -torch.inf)
        other = torch.zeros_like(scale) if normalisation == "mean" else scale
        return WeightedEdges(edges, values * edges.endpoint_sum(scale, other).exp())

    def project(self) -> None:
        """Set negative values to 0, as an optimiser should after its step."""
        with torch.no_grad():
            self.values.clamp_(min=0)
