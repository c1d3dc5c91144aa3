"""Multinomial logistic regression on sparse features and on their means over neighbours.

Both blocks of weights meet the features before the graph, X W0 + A (X W1): nothing is wider than the classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

from privet.graph.csr import spmm, to_torch

__all__ = ["SparseRegression"]

_STEPS, _MORE_STEPS = 30, 12  # of the first model, and of one that begins where another ended


class SparseRegression:
    """A linear model of people's own features and their neighbours' mean.

    Args:
        features: One row of features a person.
        mean: The mean over neighbours, D^-1 A.
        penalty: The factor of half the sum of squared weights, beside the sum of the people's losses.
    """

    def __init__(self, features: sp.csr_array, mean: sp.csr_array, penalty: float) -> None:
        self._features, self._back = to_torch(features), to_torch(sp.csr_array(features.T))
        self._mean, self._mean_back = to_torch(mean), to_torch(sp.csr_array(mean.T))
        self._penalty = penalty

    def log_probabilities(
        self, labels: NDArray[np.integer[Any]], classes: int, seen: Sequence[NDArray[np.int64]]
    ) -> Iterator[NDArray[np.float64]]:
        """Fit one model after another, each from where the last one ended, and yield what each says of everybody.

        Args:
            labels: The class of each person; those of people who are not seen are not read.
            classes: The number of classes.
            seen: The people that each model learns from.
        """
        width = self._features.shape[1]
        point = np.zeros((width + 1) * 2 * classes)
        for steps, people in zip((_STEPS, *([_MORE_STEPS] * len(seen))), seen, strict=False):
            some = torch.from_numpy(people)
            truth = torch.from_numpy(labels[people].astype(np.int64))

            def loss(point: NDArray[np.float64], some: torch.Tensor = some, truth: torch.Tensor = truth) -> Any:
                weights = torch.from_numpy(point).float().view(width + 1, -1)
                rows = self._logits(weights)[some].log_softmax(dim=1)
                value = -rows[torch.arange(len(truth)), truth].double().sum()
                slope = rows.exp()
                slope[torch.arange(len(truth)), truth] -= 1
                spread = torch.zeros(self._features.shape[0], classes).index_copy_(0, some, slope)
                pulled = spmm(self._back, torch.cat([spread, spmm(self._mean_back, spread)], dim=1))
                offsets = torch.cat([slope.sum(dim=0), torch.zeros(classes)])[None]
                gradient = torch.cat([pulled + self._penalty * weights[:-1], offsets]).double().numpy().ravel()
                return float(value) + self._penalty * float(weights[:-1].square().sum()) / 2, gradient

            point = minimize(loss, point, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
            weights = torch.from_numpy(point).float().view(width + 1, -1)
            yield self._logits(weights).double().log_softmax(dim=1).numpy()

    def _logits(self, weights: torch.Tensor) -> torch.Tensor:
        classes = weights.shape[1] // 2
        products = spmm(self._features, weights[:-1])
        own, others = products[:, :classes], products[:, classes:].contiguous()
        return own + spmm(self._mean, others) + weights[-1, :classes]
