"""Scores: links by the Hadamard product of two embeddings, their ranking loss, accuracy and the area under the curve.

s(u, v) = w · (z_u ∘ z_v) + b is the weighted inner product (w ∘ z_u) · z_v + b, so a list of P pairs is one sampled
product over CSR, forward and backward: P numbers of memory, where the edge vectors themselves would take P x F.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from privet.errors import InvalidData, InvalidParameter
from privet.models.edges import Edges

__all__ = ["HadamardLinkScorer", "accuracy", "pairwise_loss", "roc_auc"]


class HadamardLinkScorer(nn.Module):
    """The logit w · (z_u ∘ z_v) + b of an edge between u and v; symmetric in u and v.

    The weights w and b start at 1 and 0, where the logit is the plain inner product.

    Args:
        channels: The number of columns of the embeddings.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        if channels < 1:
            raise InvalidParameter("channels", "an integer of at least 1", channels)
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, embeddings: Tensor, pairs: Tensor | Edges) -> Tensor:
        """Compute one logit for each pair, in the order given.

        Args:
            embeddings: N x channels numbers: an encoder's output (``MLP`` or ``GNN`` on lazy features), or fixed.
            pairs: A 2 x P tensor of nodes, or ``Edges``: pairs used in every epoch are best sorted once.
        """
        edges = pairs if isinstance(pairs, Edges) else Edges.from_pairs(pairs, embeddings.shape[0])
        logits = edges.dot(embeddings * self.weight, embeddings) + self.bias
        return logits.index_select(0, edges.rank)


def pairwise_loss(positive: Tensor, negative: Tensor, kind: Literal["logistic", "square"] = "square") -> Tensor:
    """Compute the mean ranking loss over pairs of a link and a non-link, with m = s(link) - s(non-link).

    Both kinds bound the share of wrongly ranked pairs, 1 - AUC, from above (the logistic one up to the factor log 2).

    Args:
        positive: The scores of P links.
        negative: The scores of k P non-links; p, P + p, 2 P + p, ... are compared with link p.
        kind: ``"square"`` for (1 - m)², ``"logistic"`` for log(1 + exp(-m)).
    """
    if positive.numel() == 0 or negative.numel() % positive.numel() or negative.numel() == 0:
        found = f"{negative.numel()} for {positive.numel()} links"
        raise InvalidData("number of non-links", "a multiple of the number of links, both above 0", found)
    margin = positive - negative.view(-1, positive.numel())
    match kind:
        case "square":
            return (1 - margin).square().mean()
        case "logistic":
            return softplus(-margin).mean()
        case _:
            raise InvalidParameter("kind", "logistic or square", kind)


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
        raise InvalidData("Some scores are NaN, not numbers: training diverged. Use a smaller learning rate.")
