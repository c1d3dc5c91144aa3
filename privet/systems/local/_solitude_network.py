"""The network of Solitude: a GNN on a fixed or a trained graph, and predictions smoothed over it."""

from __future__ import annotations

import scipy.sparse as sp
import torch
from torch import Tensor, nn

from privet.graph import LazyFeatures, Operator, gcn_operator
from privet.models import GNN, CalibratedAdjacency, Propagation, WeightedEdges, backbone_operator

__all__ = ["SolitudeNetwork"]


class SolitudeNetwork(nn.Module):
    """Log-probabilities of a GNN on ``adjacency``, smoothed over l = ``label_hops``: log(S^l softmax(GNN(X))).

    S is D^-1/2 A D^-1/2. With ``trained`` the adjacency's weights are parameters, and eq. 12 is taken as it stands;
    else the rows are made to sum to 1, which changes neither gradients nor predictions.
    """

    def __init__(self, gnn: GNN, adjacency: sp.csr_array, label_hops: int, *, trained: bool = False) -> None:
        super().__init__()
        self.gnn = gnn
        self.label_hops = label_hops
        self.graph = CalibratedAdjacency(adjacency) if trained else None
        self._fixed = backbone_operator(adjacency, gnn.backbone), gcn_operator(adjacency, self_loops=False)

    def forward(self, x: LazyFeatures) -> Tensor:
        layers, smoother = self._operators()
        probabilities: Tensor = self.gnn(x, layers).softmax(1)
        for _ in range(self.label_hops):
            smoothed = smoother @ probabilities
            total = smoothed.sum(1, keepdim=True)
            scale = 1.0 if self.graph is not None else total.clamp_min(1e-12)
            # Who has no neighbours keeps what the network says.
            probabilities = torch.where(total > 0, smoothed / scale, probabilities)
        return probabilities.clamp_min(1e-12).log()

    def _operators(self) -> tuple[Propagation, Operator | WeightedEdges]:
        """For the layers and for the predictions; those of a trained graph follow its weights."""
        if self.graph is None:
            return self._fixed
        layers = self.graph.operator("gcn" if self.gnn.backbone == "gcn" else "mean")
        return layers, self.graph.operator("symmetric")
