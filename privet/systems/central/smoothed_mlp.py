"""Our own system: a private perceptron that never sees an edge, smoothed over edges that nobody asked to protect.

DP-SGD on the training nodes' own features and labels needs neither public degrees nor a bound on them: a node is in
its own example and no other. Predictions are then propagated along the edges among validation and test nodes, which
is post-processing of the model with data that the guarantee does not cover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch import nn

from privet.mechanisms import Bits
from privet.systems.central._training_view import TrainingView
from privet.systems.central.private_mlp import PrivateMLP

__all__ = ["SmoothedMLP", "smoothed"]


@dataclass(frozen=True, kw_only=True)
class SmoothedMLP(PrivateMLP):
    """The private perceptron, its predictions smoothed over the edges among unprotected nodes.

    Args:
        weight: The weight of the neighbours' mean in a step of smoothing, from 0 to 1 (default 0.5).
        hops: The number of such steps (default 4).
    """

    name: ClassVar[str] = "smoothed-mlp"
    baseline: ClassVar[str | None] = "the private MLP, its predictions smoothed over unprotected edges"
    baseline_question: ClassVar[str | None] = "the protected edges"
    baseline_short: ClassVar[str] = "smoothed"
    weight: float = 0.5
    hops: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("weight", 0 <= self.weight <= 1, "from 0 to 1")
        self.require("hops", self.hops >= 0, "an integer of at least 0")

    def infer(self, network: nn.Sequential, view: TrainingView, bits: Bits) -> NDArray[np.float32]:
        """Predict as the perceptron does, and smooth."""
        return smoothed(super().infer(network, view, bits), view.unprotected_graph(), self.weight, self.hops)


def smoothed(
    probabilities: NDArray[np.float32], adjacency: sp.csr_array, weight: float, hops: int
) -> NDArray[np.float32]:
    """Repeat Z <- (1 - w) P + w mean of the neighbours' Z, from Z = P; a node without neighbours keeps its P.

    >>> pair = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> smoothed(np.array([[1.0, 0.0], [0.5, 0.5]], dtype=np.float32), pair, 0.5, 1).tolist()
    [[0.75, 0.25], [0.75, 0.25]]
    """
    degrees = np.diff(adjacency.indptr)
    mean = sp.diags_array(1.0 / np.maximum(degrees, 1), format="csr") @ adjacency.astype(bool).astype(np.float64)
    alone = (degrees == 0)[:, None]
    current = probabilities.astype(np.float64)
    for _ in range(hops):
        current = (1 - weight) * probabilities + weight * np.where(alone, probabilities, mean @ current)
    return np.asarray(current, dtype=np.float32)
