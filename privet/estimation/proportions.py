"""Learning from label proportions: the classes' shares in clusters of the graph as additional supervision (RGNN)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from privet.errors import InvalidData
from privet.estimation.frequencies import estimated_shares
from privet.graph import Operator
from privet.mechanisms import RandomizedResponse

__all__ = ["LabelProportions"]

_NEARLY_ZERO = 1e-12  # the logarithm's gradient at 0 itself is infinite


@dataclass(frozen=True, eq=False)
class LabelProportions:
    """The mean over each cluster's labelled nodes, and the estimated distribution b of their classes.

    Clusters without a labelled node are left out.
    """

    average: Operator
    proportions: Tensor

    @classmethod
    def estimate(
        cls,
        clusters: NDArray[np.int64],
        reported: NDArray[np.int64],
        classes: int,
        response: RandomizedResponse | None = None,
    ) -> LabelProportions:
        """From each node's cluster and its reported class, -1 where there is none; eq. 4 a cluster.

        >>> bags = LabelProportions.estimate(np.array([0, 0, 0, 1]), np.array([0, 1, -1, 1]), classes=2)
        >>> bags.proportions
        tensor([[0.5000, 0.5000],
                [0.0010, 0.9990]])
        """
        if clusters.shape != reported.shape:
            raise InvalidData("clusters", f"one for each of {len(reported)} nodes", f"shape {clusters.shape}")
        labelled = np.flatnonzero(reported >= 0)
        if not len(labelled):
            raise InvalidData("reported labels", "known of at least one node", "none")
        _, bag, sizes = np.unique(clusters[labelled], return_inverse=True, return_counts=True)
        average = sp.csr_array((1.0 / sizes[bag], (bag, labelled)), shape=(len(sizes), len(reported)))
        counts = np.zeros((len(sizes), classes))
        np.add.at(counts, (bag, reported[labelled]), 1.0)
        observed = torch.from_numpy(counts).float()
        return cls(Operator.from_scipy(average), estimated_shares(observed, response))

    def loss(self, probabilities: Tensor) -> Tensor:
        """The mean over clusters of KL(b̂ || b), b̂ the mean of the nodes' predicted ``probabilities``."""
        predicted = self.average @ probabilities
        surprise = predicted.clamp(min=_NEARLY_ZERO).log() - self.proportions.log()
        return (predicted * surprise).sum(1).mean()
