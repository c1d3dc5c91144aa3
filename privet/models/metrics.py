"""Measures of predictions: accuracy for classes, area under the ROC curve for links."""

from __future__ import annotations

import torch
from torch import Tensor

from privet.errors import InvalidData

__all__ = ["accuracy", "roc_auc"]


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Compute the share of rows whose largest logit is at the label.

    Args:
        logits: One row for each node.
        labels: The classes, at least one.

    >>> accuracy(torch.tensor([[0.0, 1.0], [2.0, 1.0]]), torch.tensor([1, 1]))
    0.5
    """
    if len(labels) == 0 or len(labels) != len(logits):
        raise InvalidData(f"Accuracy needs a label for each row, and at least one: {len(labels)} for {len(logits)}.")
    _check_numbers(logits)
    return int((logits.argmax(1) == labels).sum()) / len(labels)


def roc_auc(positive: Tensor, negative: Tensor) -> float:
    """Compute the share of pairs of a link and a non-link that are ranked correctly, ties counting half.

    Args:
        positive: The scores of links.
        negative: The scores of non-links.

    >>> roc_auc(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 2.0]))
    0.875
    """
    if positive.numel() == 0 or negative.numel() == 0:
        raise InvalidData(f"AUC needs a link and a non-link at least; there are {len(positive)} and {len(negative)}.")
    _check_numbers(positive)
    _check_numbers(negative)
    ordered = negative.sort().values
    below = torch.searchsorted(ordered, positive, right=False).sum()
    not_above = torch.searchsorted(ordered, positive, right=True).sum()
    return int(below + not_above) / (2 * positive.numel() * negative.numel())


def _check_numbers(scores: Tensor) -> None:
    """Refuse NaN: that of a diverged model would be ranked first, and so look perfect."""
    if scores.isnan().any():
        raise InvalidData("scores", "numbers", "NaN")
