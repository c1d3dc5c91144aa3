"""Frequencies in a node's multi-hop neighbourhood, estimated from perturbed reports (RGNN's f_X and f_Y).

A mean over K hops is the observed share of each value around a node. The mechanism's unbiased estimator is affine, so
it may be applied before the mean or after it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from privet.errors import InvalidData
from privet.estimation.labels import propagated_reports
from privet.graph import LazyFeatures, Operator
from privet.mechanisms import AffineFeatures, RandomizedResponse

__all__ = [
    "SMALLEST_SHARE",
    "cross_fitted_shares",
    "estimated_shares",
    "reconstructed_features",
    "reconstructed_labels",
]

SMALLEST_SHARE = 1e-3
"""The smallest estimated share: sampling can leave one below 0, and its logarithm is needed."""


def reconstructed_features(
    estimate: AffineFeatures, categories: Sequence[int], operator: Operator, hops: int
) -> Tensor:
    """Reconstruct each node's features from the estimated shares of their values around it (Algorithm 2, eq. 2).

    A feature of two values becomes one column, the estimated share of its value 1 (which says how sure it is); a
    feature of more values becomes the one-hot code of the most frequent one.

    Args:
        estimate: The unbiased one-hot code of the features side by side.
        categories: Each feature's number of values.
        operator: A mean over neighbours that includes the node.
        hops: The number of propagations.
    """
    counts = np.asarray(categories)
    if estimate.shape[1] != counts.sum():
        expected = f"{counts.sum()} columns wide, one for each value of each feature"
        raise InvalidData("estimate of the features", expected, estimate.shape[1])
    wanted = np.concatenate([[1] if count == 2 else np.arange(count) for count in counts])
    needed = np.where(counts == 2, 1, counts)
    columns = wanted + np.repeat(np.cumsum(counts) - counts, needed)
    selected = AffineFeatures(estimate.symbols[:, columns], estimate.scale[columns], estimate.offset[columns])
    shares = LazyFeatures.from_affine(selected).propagate(operator, hops).dense()
    if needed.max() == 1:
        return shares
    blocks = [shares[:, end - width : end] for width, end in zip(needed, needed.cumsum(), strict=True)]
    return torch.cat([block if block.shape[1] == 1 else _most_frequent(block) for block in blocks], dim=1)


def estimated_shares(observed: Tensor, response: RandomizedResponse | None) -> Tensor:
    """Estimate the distribution of the true classes behind observed weights of the reported ones, row by row (eq. 4).

    π = P⁻¹ λ with λ the observed shares, raised to a small positive number where it is below and scaled to sum to one.
    A row without any weight has the uniform distribution.

    Args:
        observed: The weights of the reported classes.
        response: The mechanism of the reports; None for public labels, P = I.

    >>> response = RandomizedResponse(epsilon=1.0986, classes=2)  # p = 3/4, q = 1/4
    >>> estimated_shares(torch.tensor([[5.0, 3.0], [0.0, 0.0]]), response)
    tensor([[0.7500, 0.2500],
            [0.5000, 0.5000]])
    """
    shares = _shares(observed)
    if response is not None:
        shares = shares @ torch.from_numpy(response.inverse).to(shares.dtype)
    shares = shares.clamp(min=SMALLEST_SHARE)
    return shares / shares.sum(1, keepdim=True)


def reconstructed_labels(propagated: Tensor) -> Tensor:
    """Return the one-hot code of the class with the largest estimated share around a node (Algorithm 3's last lines).

    P⁻¹ λ = (λ - q Σλ) / (p - q) has the order of λ itself, so P is not needed.

    Args:
        propagated: λ, the propagated reports.
    """
    return _most_frequent(propagated)


def cross_fitted_shares(
    reported: Tensor, classes: int, operator: Operator, hops: int, *, folds: int, seed: int | None | None
) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
    """Compute the shares of the reported classes around each node, as inputs of a network fitted to the same reports.

    The shares of all reports come first, to predict with. Were they used to fit as well, the network would find each
    node's own report among its inputs and learn to repeat it. So the reporting nodes are dealt into folds, and each
    fold comes with the shares that all reports but its own give.

    Args:
        reported: Each node's reported class, -1 where there is none.
        classes: The number of classes.
        operator: The operator to propagate with.
        hops: The number of propagations.
        folds: The number of folds.
        seed: The seed by which nodes are dealt into folds.
    """
    nodes = torch.nonzero(reported >= 0)[:, 0]
    generator = torch.Generator()
    _ = generator.seed() if seed is None else generator.manual_seed(seed)
    dealt = nodes[torch.randperm(len(nodes), generator=generator)]

    def shares(visible: Tensor) -> Tensor:
        return _shares(propagated_reports(visible, classes, operator, hops))

    return shares(reported), [(shares(reported.index_fill(0, fold, -1)), fold) for fold in dealt.chunk(folds)]


def _shares(weights: Tensor) -> Tensor:
    """Scale rows to sum to one; a row without weight becomes uniform."""
    total = weights.sum(1, keepdim=True)
    return torch.where(total > 0, weights / total, 1 / weights.shape[1])


def _most_frequent(shares: Tensor) -> Tensor:
    return one_hot(shares.argmax(1), shares.shape[1]).to(shares.dtype)
